"""Values that take a way around: a shell runs them on purpose and it is told, or does not run them at all."""

from __future__ import annotations

import os
import subprocess
from itertools import count
from pathlib import Path

import pytest

from amplihack.errors import TemplateError
from amplihack.recipes.templates.shell import hazards, render_shell, why_stopped


def rendered(template: str, value: str) -> tuple[str, tuple[str, ...]]:
    numbers = count()
    script = render_shell(
        template, {"v": value, "w": "a[$(touch canary)]"}, token=lambda: f"t{next(numbers)}"
    )
    return script.source, script.warnings


def run(source: str, value: str, folder: Path) -> str:
    environment = {
        "PATH": os.environ["PATH"],
        "RECIPE_VAR_v": value,
        "RECIPE_VAR_w": "a[$(touch canary)]",
    }
    finished = subprocess.run(
        ["bash", "-c", source],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return finished.stdout


@pytest.mark.parametrize(
    "template",
    [
        'x="$(echo {{v}})"; eval "$x"',
        'x={{v}}; y=$(echo "$x"); eval "$y"',
        'x={{v}}; y=`printf %s "$x"`; bash -c "$y"',
        'f() { echo {{v}}; }; eval "$(f)"',
        'bash <<< "$(printf %s {{v}})"',
        'x={{v}}; bash <(echo "$x")',
        "x={{v}}; bash <<EOF\n$x\nEOF\n",
        "x={{v}}; bash <<EOF\necho \\$(( $x ))\nEOF\n",
        'x={{v}}; bash -c "echo \\$(( $x ))"',
        "bash -c 'eval \"$1\"' name {{v}}",
        'read x <<< {{v}}; eval "$x"',
        'while read -r x; do bash -c "$x"; done <<< {{v}}',
        "read PS4 <<< {{v}}; set -x; :",
        "declare -n p=PS4; p={{v}}; set -x; :",
        'p=PS4; unset PS4; : "${!p:=$(printf %s {{v}})}"; set -x; :',
        'x=PS4; printf -v "$x" %s {{v}}; set -x; :',
        'x=PS4; printf -v "$x" %s "$(echo {{v}})"; set -x; :',
        "x=PS4; read -d '' \"$x\" <<< {{v}}; set -x; :",
        'x=PS4; declare "$x={{v}}"; set -x; :',
        'x=PS4; export "$x=$(echo {{v}})"; set -x; :',
        "x=PS4; mapfile -d '' \"$x\" <<< {{v}}; set -x; :",
        "for x in A PS4; do printf -v $x %s {{v}}; done; set -x; :",
        "f() { local -n r=$1; r={{v}}; }; f PS4; set -x; :",
        "x=BASH_ENV; printf -v $x %s {{v}}; export BASH_ENV; bash -c :",
        'x={{v}}; cat > s.sh <<< "$x"; bash s.sh',
        "x={{v}}; cat <<EOF > s.sh\n$x\nEOF\nbash s.sh",
        "echo {{v}} | tee s.sh; bash s.sh",
        'x={{v}}; echo "$x" | cat > s.sh; bash s.sh',
        "mapfile -c 1 -C eval lines <<< {{v}}",
        'x={{v}}; mapfile -c 1 -C eval lines <<< "$x"',
        "cat > r.sh <<'EOF'\neval \"$1\"\nEOF\nbash r.sh {{v}}",
        "cat > r.sh <<'EOF'\neval \"$n\"\nEOF\nexport n={{v}}; ./r.sh",
        "history -s {{v}}",
        'run() { "$@"; }; run eval {{v}}',
        # through a file
        'echo {{v}} > f; c=$(cat f); eval "$c"',
        'x={{v}}; echo "$x" > ./f; c=$(<f); bash -c "$c"',
        'cat > f <<EOF\n{{v}}\nEOF\nc=$(head -1 f); eval "$c"',
        'echo {{v}} > f; while read -r l; do eval "$l"; done < f',
        'echo {{v}} > f; while read -r l; do eval "$l"; done < <(tail f)',
        'echo {{v}} > f; cat f | while read -r l; do eval "$l"; done',
        'echo {{v}} > f; mapfile -t a < f; for l in "${a[@]}"; do eval "$l"; done',
        "echo @ > s.sh; sed -i 's/@/{{v}}/' s.sh; bash s.sh",
        "echo {{v}} | dd of=s.sh; bash s.sh",
        "echo {{v}} | sponge s.sh; bash s.sh",
        "echo {{v}} > f; cp f s.sh; bash s.sh",
        'x={{v}}; echo "$x" > f; install -m 755 f s.sh; ./s.sh',
        "echo {{v}} > f; cat f > s.sh; bash s.sh",
        "{ echo {{v}}; } > s.sh; bash s.sh",
        'x={{v}}; for i in 1; do echo "$x"; done > s.sh; bash s.sh',
        "{ echo {{v}}; } | tee s.sh; bash s.sh",
        # options of a shell in every order, and from variables
        "bash -ce {{v}}",
        "bash -c -e {{v}}",
        "bash -c -- {{v}}",
        "bash -co pipefail {{v}}",
        "sudo sh -cx {{v}}",
        "f=-c; bash $f {{v}}",
        'f="-e -c"; bash $f {{v}}',
        'f=(-e -c); bash "${f[@]}" {{v}}',
        # arguments of code that comes by the input
        "bash -s {{v}} <<< 'eval \"$1\"'",
        "bash -s -- {{v}} <<'EOF'\neval \"$1\"\nEOF\n",
        "echo 'eval \"$1\"' | bash -s {{v}}",
        "source /dev/stdin {{v}} <<< 'eval \"$1\"'",
        # what is unpacked
        "git clone {{v}} x; x/install.sh",
        "git clone --depth 1 -b main {{v}} x && cd x && ./install.sh",
        'git clone {{v}} "$d"; "$d/install.sh"',
        "git clone {{v}} && cd y && ./install.sh",
        "tar xf {{v}}; ./configure",
        "tar -xzf {{v}} -C x; bash x/setup",
        'curl -sL "https://x/{{v}}.tgz" | tar xz -C x; ./x/install.sh',
        "unzip -q {{v}} -d x; bash x/install.sh",
        # what a shell does by itself
        "echo {{v}} > e; BASH_ENV=e bash -c :",
        "echo {{v}} > e; export BASH_ENV=$PWD/e; bash -c :",
        "echo {{v}} > e; ENV=./e sh -i",
        'env "BASH_FUNC_f%%=() { {{v}}; }" bash -c f',
        'command_not_found_handle() { eval "$*"; }; nosuch {{v}}',
        # assignments behind the command
        "set -k; bash -c : BASH_ENV={{v}}",
        "set -o keyword; git log GIT_PAGER={{v}}",
        "set -ek\nx={{v}}; git log PAGER=$x",
        # the history
        "echo {{v}} > f; set -o history; history -r f; fc -s",
        "HISTFILE=f; echo {{v}} > f; set -o history; fc -e -",
        # shells by other names
        "/bin/ba*h -c {{v}}",
        "/usr/bin/[bd]ash -ec {{v}}",
        "/proc/self/exe -c {{v}}",
        "/proc/$$/exe -c {{v}}",
        "$0 -c {{v}}",
        '"${0}" -c {{v}}',
        '"$BASH_ARGV0" -c {{v}}',
        # variables that programs run
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0={{v}} git log",
        "export GIT_CONFIG_VALUE_0={{v}}; git log",
        "env GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0={{v}} git x",
        "GIT_CONFIG_PARAMETERS={{v}} git log",
        "BROWSER={{v}} xdg-open x",
        "CC={{v}} ./configure",
        "TAR_OPTIONS={{v}} tar cf x y",
        "FCEDIT={{v}}; fc -l",
        # quoted for a shell, in vain
        'x={{v}}; eval "echo \\"${x@Q}\\""',
        "x={{v}}; eval \"echo '${x@Q}'\"",
        'x={{v}}; bash <<EOF\necho "${x@Q}"\nEOF\n',
        'x={{v}}; eval "${x@Q}"',
        'x={{v}}; eval "(( n = ${x@Q} ))"',
        'x={{v}}; bash -c "bash -c ${x@Q}"',
        'eval "$(printf %q {{v}})"',
        'eval "echo \\"$(printf %q {{v}})\\""',
        'ssh host "sudo $(printf %q {{v}})"',
        'bash -c "eval $(printf %q {{v}})"',
        "printf 'eval %q\\n' {{v}} > e.sh; . ./e.sh",
        "printf '%q\\n' {{v}} > e.sh; . ./e.sh",
        "printf 'X=%q Y=%s\\n' 1 {{v}} > e.sh; . ./e.sh",
        "set -o history -H\ncat <<'EOF'\n{{v}}\nEOF\n!!",
        # fetched under a name that is known
        "curl -fsSLO https://x/{{v}}/install.sh; bash install.sh",
        'f() { eval "$1"; }; eval "f $(printf %q {{v}})"',
        'bash -c "x=$(printf %q {{v}}); (( x ))"',
        "printf 'x=%q\\n(( x ))\\n' {{v}} > s.sh; . ./s.sh",
        # cmake
        "cmake -DCMAKE_C_COMPILER_LAUNCHER={{v}} ..",
        "cmake -D CMAKE_MAKE_PROGRAM:FILEPATH={{v}} ..",
    ],
)
def test_a_value_that_a_shell_runs_in_the_end_is_told(template: str) -> None:
    _, warnings = rendered(template, "echo $HOME")
    assert any("the value of v is run as a bash program" in warning for warning in warnings)


@pytest.mark.parametrize(
    "template",
    [
        'n=FOO; FOO={{v}}; eval "echo ${!n}"',
        'n=FOO; FOO={{v}}; bash -c "echo ${!n}"',
        'n=FOO; FOO={{v}}; m=${!n}; bash -c "$m"',
        'n=FOO; FOO={{v}}; echo "${!n}" | bash',
        'for n in FOO BAR; do FOO={{v}}; eval "echo ${!n}"; done',
        'f() { eval "echo ${!1}"; }; FOO={{v}}; f FOO',
        'f() { local m=${!1}; eval "$m"; }; x={{v}}; f x',
    ],
)
def test_a_value_that_is_run_by_the_name_of_its_variable_is_told(template: str) -> None:
    _, warnings = rendered(template, "hi; date")
    assert any("the value of v is run as a bash program" in warning for warning in warnings)


@pytest.mark.parametrize(
    "template",
    [
        "x={{v}} bash -c 'echo \"$x\"'",
        "export x={{v}}; bash -c 'echo \"$x\"'",
        "bash -c 'echo \"$1\"' name {{v}}",
        "x={{v}}; eval 'echo \"$x\"'",
        'x={{v}}; eval "echo \\"\\$x\\""',
        "x={{v}}; trap 'echo \"$x\"' EXIT",
        "export x={{v}}; bash <<'EOF'\necho \"$x\"\nEOF\n",
        'export x={{v}}; bash <<EOF\necho "\\$x"\nEOF\n',
        'x={{v}}; f() { echo "$2"; }; mapfile -t -c 1 -C f lines <<< "$x"',
        'printf "%s\\n" {{v}} > f; c=$(cat f); eval :; echo "$c"',
        'eval "x=$(printf %q {{v}})"; echo "$x"',
        'bash -c "echo $(printf %q {{v}})"',
        "printf 'X=%q\\n' {{v}} > e.sh; . ./e.sh; echo \"$X\"",
        'x={{v}}; eval "${x@A}"; echo "$x"',
        "x={{v}}; bash <<EOF\necho ${x@Q}\nEOF\n",
        'STAGING={{v}}; name=STAGING; echo "${!name}"',
        "printf '%s\\n' {{v}} > f; c=$(cat g 2>&1); eval \": '$c'\"; cat f",
        "printf '%s\\n' {{v}} > f; cp f g; echo cat f > s.sh; bash s.sh",
    ],
)
def test_a_variable_that_code_of_the_script_only_prints_is_not_told(template: str, tmp_path: Path) -> None:
    value = "$(touch canary) it's"
    source, warnings = rendered(template, value)
    assert warnings == ()
    assert run(source, value, tmp_path) == f"{value}\n"
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize(
    "value", ["$(touch canary)", "a[$(touch canary)]", "($(touch canary))", "y=($(touch canary))"]
)
@pytest.mark.parametrize(
    "template",
    [
        'x={{v}}; echo 1 >&"$(echo $x)"',
        'f() { echo 1 >& "$(echo $1)"; }; f {{v}}',
        'x={{v}}; mapfile -c 1 -C "$x" lines <<< 1',
        'x={{v}}; mapfile -c 1 -C"$x" lines <<< 1',
        'x={{v}}; mapfile -c 1 -C "$(echo $x)" lines <<< 1',
        'f() { mapfile -c 1 -C "$1" lines <<< 1; }; f {{v}}',
        "x={{v}}; mapfile -c 1 -C '(( x ));:' lines <<< 1",
        "x={{v}}; declare -n r; r=$x; echo $r",
        "f() { local -n r; r=$1; echo $r; }; f {{v}}",
        'x={{v}}; declare -n r; read r <<< "$x"; echo $r',
        'x={{v}}; declare -n r; printf -v r %s "$x"; echo $r',
        'x={{v}}; declare -n r; for r in "$x"; do echo $r; done',
        "set -- {{v}}; declare -n r; for r; do echo $r; done",
        "x={{v}}; declare -n r; : ${r:=$x}; echo $r",
        'x={{v}}; o=i; declare -$o y="$x"',
        'f() { declare -a "$1=($2)"; }; f y "$(printf %s {{v}})"',
        'y=(); f() { declare -g "$1=$2"; }; f y {{v}}',
        'y=(); f() { declare -g "$1=$2"; }; f y "$(printf %s {{v}})"',
        'y=(); x="$(echo {{v}})"; export "$x"',
        'x="$(echo {{v}})"; declare -a "$x"',
        "x={{v}}; declare -A y; unset y; y[$x]=1",
        "x={{v}}; declare -A y; f() { local y; y[$x]=1; }; f",
        "x={{v}}; declare -A y; f() { unset y; }; f; y[$x]=1",
        "x={{v}}; declare() { :; }; declare -A y; y[$x]=1",
        "declare() { :; }; declare -A y; y[{{v}}]=1",
        "f() { x={{v}}; readonly y; declare -A y 2>/dev/null; y[$x]=1; }; f",
        "f() { declare -A y 2>/dev/null; y[{{v}}]=1; }; readonly y; f",
        "shopt -s expand_aliases; alias declare=:\ndeclare -A y; y[{{v}}]=1",
        "enable -n declare\ndeclare -A y; y[{{v}}]=1",
        "f() { declare -A y; }; z={{w}}; x=$(echo z); y[$x]=1; : {{v}}",
        "f() { declare -A y; }; z={{w}}; x=$(echo z); (( y[$x]++ )); : {{v}}",
        "f() { declare -A y; }; x=$(echo {{v}}); (( y[x]++ ))",
        "f() { declare -A y; }; x=$(echo {{v}}); y[x]=1",
        'export x={{v}}; y=1; bash -c "(( x )); echo $y"',
        'x=$(echo {{v}}); y=1; eval "(( x )); echo $y"',
        "export x={{v}}; y=`bash -c 'echo $(( x ))'`",
        "export x={{v}}; bash <<EOF\necho \\$(( x ))\nEOF\n",
        "x={{v}}; PS4='$(( x ))'; set -x; :",
        "bash -c '(( $1 > 1 ))' name {{v}}",
        # what makes an array, in which a declaration evaluates a text in parentheses
        "coproc x { :; }; declare x={{v}}",
        "coproc { :; }; declare COPROC={{v}}",
        "[[ a =~ a ]]; declare BASH_REMATCH={{v}}",
        "mapfile < /dev/null; declare MAPFILE={{v}}",
        "printf -v 'x[0]' 1; declare x={{v}}",
        "read 'x[0]' <<< 1; declare x={{v}}",
        ": ${x[0]:=1}; declare x={{v}}",
        "exec {x[0]}> /dev/null; declare x={{v}}",
        "sleep 0 & wait -n -p x[0]; declare x={{v}}",
        "f() { local -n r=$1; r=(1 2); }; f x; declare x={{v}}",
        'f() { mapfile -t "$1" < /dev/null; }; f x; declare x={{v}}',
        'f() { read -ra "$1" <<< 1; }; f x; declare x={{v}}',
        'f() { printf -v "$1[0]" 1; }; f x; declare x={{v}}',
        "declare -n r=x; x=(); declare r={{v}}",
        # commands of bash by another name
        "c=let; $c x={{v}}",
        "x={{v}}; c='let y=x'; $c",
        'c=(let x={{v}}); "${c[@]}"',
        'c=(test -v); "${c[@]}" {{v}}',
        'f() { "$@"; }; f test -v {{v}}',
        'f() { shift; "$@"; }; f name unset {{v}}',
        'f() { local c=$1; shift; "$c" "$@"; }; f let {{v}}',
        "shopt -s expand_aliases; alias l=let\nl {{v}}",
        'f() { test "$@"; }; f -v {{v}}',
        'o=-v; [ "$o" {{v}} ]',
        'a=(-v {{v}}); [ "${a[@]}" ]',
        "time -p -- test -v {{v}}",
        'l"e"t {{v}}',
        # texts that nobody has written: names of files, what was there before, what another name leads to
        "mkdir -p ./{{v}} && for n in a*; do (( n )); done",
        "mkdir -p ./{{v}} && n=(a*) && (( n ))",
        'x=n; read "$x" <<< {{v}}; declare -i n; n+=1',
        'x=n; : "${!x:={{v}}}"; (( n++ ))',
        'declare -i n; x=n; : "${!x:=$(printf %s {{v}})}"',
        'read n < <(echo {{v}}); printf -v"x[$n]" 1',
        'read n < <(echo {{v}}); read -ra"$n" <<< 1',
        # scripts in files, into which no guard is put
        "cat > r.sh <<'EOF'\n(( $1 ))\nEOF\nbash r.sh {{v}}",
        "cat > r.sh <<'EOF'\n(( n ))\nEOF\nexport n={{v}}; sh r.sh; bash r.sh",
        "cat > r.sh <<EOF\n(( \\$1 ))\nEOF\nchmod +x r.sh; ./r.sh {{v}}",
        "tee r.sh <<'EOF'\n(( $1 ))\nEOF\nbash r.sh \"$(echo {{v}})\"",
        "echo '(( n ))' > r.sh; n={{v}}; . ./r.sh",
        "echo 'declare -i n' > r.sh; . ./r.sh; n={{v}}",
        # code that is not read
        'x=n; eval "$x=\\$RECIPE_VAR_v"; q[n]=1; : {{v}}',
        "z={{w}}; eval :; n=$(echo z); q[$n]=1; : {{v}}",
        'z={{w}}; eval "$y"; n=$(echo z); (( q[$n]++ )); : {{v}}',
        'z={{w}}; n=$(echo z); y=1; eval "(( n + $y ))"; : {{v}}',
        'z={{w}}; read n < <(echo z); y=1; eval "(( n + $y ))"; : {{v}}',
        "z={{w}}; read n < <(echo z); PS4='$(( n ))'; set -x; : {{v}}",
        "z={{w}}; if :; then declare -A y; fi; n=$(echo z); unset y; (( y[$n]++ )); : {{v}}",
        # code of the script in a variable
        'x={{v}}; c="(( x ))"; eval "$c"',
        "x={{v}}; c='let y=x'; eval $c",
        "export x={{v}}; c='(( x ))'; bash -c \"$c\"",
        "x=$(echo {{v}}); c='(( x ))'; eval \"$c\"",
        "export x=$(echo {{v}}); c='(( x ))'; bash -c \"$c\"",
        "x={{v}}; read c <<< '(( x ))'; eval \"$c\"",
        'x={{v}}; l=(\'(( x ))\'); for c in "${l[@]}"; do eval "$c"; done',
        "x={{v}}; f() { eval \"$1\"; }; f '(( x ))'",
        'x={{v}}; f() { eval "$@"; }; f let y=x',
        'x={{v}}; f() { "$@"; }; f let y=x',
        'x={{v}}; n=x; eval "y=${!n}"',
        "x={{v}}; n=c; c='(( x ))'; eval \"${!n}\"",
        "x={{v}}; declare -n r=c; c='(( x ))'; eval \"$r\"",
        # quoted for a shell, and calculated with there
        'x={{v}}; declare -i n; eval "n=${x@Q}"',
        'x=$(echo {{v}}); declare -i n; eval "n=${x@Q}"',
        'declare -i n; eval "n=$(printf %q {{v}})"',
        "printf 'X=%q\\n' {{v}} > e.sh; . ./e.sh; echo $((X))",
        "n=x; i={{v}}; x=1; n='x[i]'; echo \"${!n}\"",
        'x={{v}}; n=x; echo "${!n@P}" $(( ${!n} ))',
        # assignments behind the command
        "set -k; : RANDOM={{v}}",
        "set -k; declare -i x; f() { :; }; f x={{v}}",
        "set -o keyword; f() { echo $((y)); }; f y={{v}}",
        "set -k; f() { echo $((y)); }; x={{v}}; f y=$x",
        "set -k; bash -c 'echo $((y))' y={{v}}",
    ],
)
def test_no_value_is_run_on_these_ways(template: str, value: str, tmp_path: Path) -> None:
    try:
        source, _ = rendered(template, value)
    except TemplateError:
        return
    run(source, value, tmp_path)
    assert not (tmp_path / "canary").exists(), source


@pytest.mark.parametrize(
    "template",
    [
        "git clone {{v}} x && cd x && make",
        "git clone {{v}} x; ./report.sh x",
        "git clone {{v}}; bash scripts/report.sh",
        "git clone -b {{v}} https://x/y x; x/install.sh",
        "git clone https://x/y {{v}}; ./build.sh",
        "tar xf {{v}} -C data; ./process.sh data",
        "tar czf {{v}} src; ./upload.sh",
        "curl -H {{v}} https://x | tar xz; ./configure",
        "pip install {{v}}; ./run.sh",
        "npm install {{v}}; npm test",
        "echo {{v}} > e; BASH_ENV=other bash -c :",
        "f=-x; bash $f build.sh {{v}}",
        "bash -c 'echo \"$1\"' -e {{v}}",
        "[ -c {{v}} ]",
        "./tool -c {{v}}",
        "bin/tool* -v {{v}}",
        "set -e; ./report PAGER={{v}}",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0={{v}} git log",
        "env GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0={{v}} git commit -m x",
        "NODE_OPTIONS=--max-old-space-size={{v}} npm test",
        "fc -l; echo {{v}}",
        'curl -fsSLO -H "Authorization: {{v}}" https://x/install.sh; bash install.sh',
        "wget -q --header {{v}} https://x/install.sh -O i.sh; bash i.sh",
        "cmake -DVERSION={{v}} -DCMAKE_BUILD_TYPE={{v}} ..",
        "x={{v}}; c='make test'; eval \"$c\"; n=$((1 + 1))",
        'x={{v}}; eval "arr[0]=${x@Q}"',
        "n=$(wc -l < f); c='echo $((n - 1))'; eval \"$c\"; echo {{v}}",
    ],
)
def test_a_value_that_only_stands_near_code_is_not_told(template: str) -> None:
    assert rendered(template, "echo $HOME")[1] == ()


@pytest.mark.parametrize(
    ("template", "printed"),
    [
        ("f() { m[$1]=2; }; declare -A m; f 'a key'; echo \"${m[a key]}\" {{v}}", "2 $x\n"),
        ('f() { m[$k]=2; }; declare -A m; k=$(echo a-b); f; echo "${!m[@]}" {{v}}', "a-b $x\n"),
        ('f() { (( m[$k]++ )); }; declare -A m; k=$(echo k); f; f; echo "${m[k]}" {{v}}', "2 $x\n"),
        ("declare -A m; f() { local m; m[i]=5; echo ${m[1]}; }; i=$(echo 1); f; : {{v}}", "5\n"),
        ('unset m; declare -A m; k=$(echo k.1); m[$k]=1; echo "${!m[@]}" {{v}}', "k.1 $x\n"),
        ('declare -A m; readonly m; echo "${m[{{v}}]-none}"', "none\n"),
        ('readonly -A m=([{{v}}]=1); echo "${!m[@]}"', "$x\n"),
        ("y=(); export a=$(echo '$5 (a)'); echo \"$a\" {{v}}", "$5 (a) $x\n"),
        ('y=(); k=a; x=$(echo "\\$5 <b>"); export "$k=$x"; echo "$a" {{v}}', "$5 <b> $x\n"),
        ('x={{v}}; log=out; echo "$x" >& "$log"; cat out', "$x\n"),
        ('f() { echo "$2"; }; c=f; mapfile -t -c 1 -C "$c" l <<< {{v}}', "$x\n"),
        ('. ./lib; f() { local m="now: $1"; echo "$m"; }; f "(<a> {{v}})"', "now: (<a> $x)\n"),
        (". ./lib; f() { local m=({{v}}) n='({{v}})'; echo \"$m $n\"; }; f", "$x ($x)\n"),
        (
            'retry() { local n=$1; shift; while (( n-- )); do "$@" && return; done; }; retry 2 echo {{v}}',
            "$x\n",
        ),
        (
            'declare -A n; for w in {{v}} "<b>" {{v}}; do n[$w]=$(( ${n[$w]:-0} + 1 )); done; echo "${n[@]}"',
            "2 1\n",
        ),
        ('if :; then declare -A n; fi; k=$(echo "<b>"); n[$k]=1; echo "${n[$k]}" {{v}}', "1 $x\n"),
        ("echo 'echo \"$1\"' > r.sh; bash r.sh {{v}}; cat r.sh", '$x\necho "$1"\n'),
        ('run() { "$@"; }; run printf "%s\\n" {{v}}', "$x\n"),
        ('retry() { shift; "$@"; }; retry 3 echo test -v {{v}}', "test -v $x\n"),
        ('f() { local a="({{v}})"; echo "$a"; }; b=(1); f', "($x)\n"),
        ("PS4='+ ${n:-0} '; n=5; set -x; echo {{v}}", "$x\n"),
        ("touch 12 7; for n in *; do (( n > 9 )) && echo $n {{v}}; done", "12 $x\n"),
        ('eval "$y"; a=(p q); for i in "${!a[@]}"; do echo "${a[$i]}" {{v}}; done', "p $x\nq $x\n"),
        ('eval "$y"; declare -A m=([k.1]=p); k=$(echo k.1); echo "${m[$k]}" {{v}}', "p $x\n"),
        ('eval "declare -A m$y"; k=$(echo k.1); m[$k]=p; echo "${!m[@]}" {{v}}', "k.1 $x\n"),
        ('n=4; y=2; eval "m=\\$(( n + $y ))"; echo $m {{v}}', "6 $x\n"),
        ("x=$((echo $(echo {{v}} # isn't ) it\n)); echo y); echo $x", "$x y\n"),
        ('x=$((echo "$(echo {{v}} # )\n)"); echo y); echo $x', "$x y\n"),
        ("x=$(( $(echo 6 # ))(\n) + 1 )); echo $x {{v}}", "7 $x\n"),
    ],
)
def test_what_is_harmless_goes_on(template: str, printed: str, tmp_path: Path) -> None:
    (tmp_path / "lib").write_text("other=(1)\n", encoding="utf-8")
    source, _ = rendered(template, "$x")
    assert run(source, "$x", tmp_path) == printed


_IN_ENVIRONMENT = [
    "x=([$RECIPE_VAR_v]=1)",
    "echo x >&a$RECIPE_VAR_v",
    'echo "${@:$RECIPE_VAR_v}"',
    "for RANDOM in $RECIPE_VAR_v; do :; done",
    "x[$(echo $RECIPE_VAR_v)]=1",
    "declare -i x; x=$(echo $RECIPE_VAR_v)",
    "declare -i x; echo $RECIPE_VAR_v | read x",
    'declare -a x="$RECIPE_VAR_v"',
    'declare -a x="$(echo $RECIPE_VAR_v)"',
    'declare -a "x=($RECIPE_VAR_v)"',
    'x=(); export x="$RECIPE_VAR_v"',
    'mapfile -c 1 -C "$RECIPE_VAR_v" lines <<< 1',
    'unset "$RECIPE_VAR_v"',
    "set -- $RECIPE_VAR_v; declare -n r; for r; do echo $r; done",
    'export x="$RECIPE_VAR_v"; y=1; bash -c "(( x )); echo $y"',
    'y=1; eval "(( RECIPE_VAR_v )); echo $y"',
    "PS4='$(( RECIPE_VAR_v ))'; set -x; :",
]


@pytest.mark.parametrize("value", ["$(touch canary)", "a[$(touch canary)]", "($(touch canary))"])
@pytest.mark.parametrize("script", _IN_ENVIRONMENT)
def test_a_script_runs_no_value_of_its_environment(script: str, value: str, tmp_path: Path) -> None:
    try:
        source, _ = rendered(script, value)
    except TemplateError as error:
        assert error.line == 1
        return
    run(source, value, tmp_path)
    assert not (tmp_path / "canary").exists(), source


@pytest.mark.parametrize(
    "guarded",
    [
        "f() { declare -A y; }; z={{w}}; x=$(echo z); (y[$x]=1); :",
        'x=(); z={{w}}; (declare x="$(echo "($z)")"); :',
    ],
)
def test_what_a_guard_stops_in_a_subshell_is_told_with_its_line(guarded: str, tmp_path: Path) -> None:
    source, _ = rendered(f"true\n{guarded}", "")
    finished = subprocess.run(
        ["bash", "-c", source],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "RECIPE_VAR_w": "a[$(touch canary)]"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert why_stopped(finished.stderr).startswith("line 2: bash evaluates")


@pytest.mark.parametrize("command", ["cat", "read a"])
def test_ten_thousand_heredocs_on_one_line_are_read(command: str) -> None:
    operators, bodies = " <<E" * 10_000, "x\nE\n" * 10_000
    source, _ = rendered(f"{command}{operators}; echo {{{{v}}}}\n{bodies}", "1")
    assert source.endswith(f'echo "$RECIPE_VAR_v"\n{bodies}')


@pytest.mark.parametrize(
    "template", ["$(echo {{v}})", "f() { $1; }; f {{v}}", 'f() { $1; }; f "$(echo {{v}})"']
)
def test_a_value_that_the_script_runs_as_a_command_is_told(template: str) -> None:
    _, warnings = rendered(template, "echo hello")
    assert warnings == ("the value of v is the command that the script runs on line 1",)


@pytest.mark.parametrize(
    ("template", "language"),
    [
        ("python manage.py shell <<< {{v}}", "python"),
        ("echo {{v}} | python3 ./manage.py shell", "python"),
        ("./manage.py shell_plus <<EOF\nprint({{v}})\nEOF\n", "python"),
        ("echo {{v}} | flask shell", "python"),
        ("bin/rails console -e test <<< {{v}}", "ruby"),
        ("echo {{v}} | php artisan tinker", "php"),
        ("R --no-save <<EOF\nprint({{v}})\nEOF\n", "R"),
        ("bq query --use_legacy_sql=false <<< {{v}}", "SQL"),
        ("PERL5OPT={{v}} perl x.pl", "perl"),
        ("RUBYOPT={{v}} ruby x.rb", "ruby"),
        ("PYTHONSTARTUP={{v}} python3 -i", "python"),
        ("NODE_OPTIONS={{v}} node x.js", "node"),
        ('export NODE_OPTIONS="--trace-warnings {{v}}"; npm test', "node"),
        ("docker run -e NODE_OPTIONS={{v}} image", "node"),
        ("LD_PRELOAD={{v}} ls", "native"),
        ("env LD_PRELOAD={{v}} ls", "native"),
    ],
)
def test_the_language_of_what_a_program_reads_or_loads_is_known(template: str, language: str) -> None:
    assert [hazard.detail for hazard in hazards(template) if hazard.kind == "source"] == [language]


@pytest.mark.parametrize(
    "template",
    [
        "python manage.py migrate <<< {{v}}",
        "rails db:migrate <<< {{v}}",
        "NODE_OPTIONS=--max-old-space-size={{v}} node x.js",
        'NODE_OPTIONS="--trace-warnings --max-old-space-size={{v}}" node x.js',
        "LD_PRELOAD=/usr/lib/{{v}}/libjemalloc.so ./server",
        "JAVA_TOOL_OPTIONS=-Xmx{{v}} ./gradlew test",
    ],
)
def test_what_is_only_data_there_is_no_code(template: str) -> None:
    assert hazards(template) == ()


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("curl -O {{v}}; bash x.sh", "https://h/x.sh"),
        ("curl -fsSLO {{v}}; sh ./x.sh", "https://h/a/x.sh?raw=1"),
        ("wget -q {{v}} && chmod +x x.sh && ./x.sh", "https://h/x.sh"),
        ("curl -O https://h/{{v}}; bash x.sh", "a/x.sh"),
        ("curl --remote-name https://h/{{v}}.sh; bash x.sh", "x"),
    ],
)
def test_a_value_that_names_the_file_which_is_fetched_and_run_is_told(template: str, value: str) -> None:
    assert rendered(template, value)[1] == (
        "the value of v decides what x.sh is, fetched on line 1 and then run",
    )
    assert rendered(template, "https://h/data.csv")[1] == ()
    assert [hazard.kind for hazard in hazards(template)] == ["fetched"]


@pytest.mark.parametrize(
    "template",
    [
        "curl -O {{v}}; cat x.json",
        "wget {{v}}; make",
        "wget {{v}}; python3 train.py",
        "curl -O {{v}}; bash scripts/x.sh",
        "wget -O data {{v}}; bash x.sh",
    ],
)
def test_what_is_fetched_beside_a_script_is_not_told(template: str) -> None:
    assert rendered(template, "https://h/x.sh")[1] == ()
    assert hazards(template) == ()
