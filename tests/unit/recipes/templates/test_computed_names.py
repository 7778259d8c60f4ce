"""Integers, namerefs and commands that only the run knows: no value is run there, and other texts go on."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from amplihack.errors import TemplateError
from amplihack.recipes.templates.shell import render_shell, why_stopped

HOSTILE = "a[$(touch canary)]"
TEXT = "a [b] $x `y` <z>"


def run(script: str, value: str, folder: Path) -> subprocess.CompletedProcess[str]:
    source = render_shell(script, {"v": value, "w": HOSTILE}, token=lambda: "t").source
    (folder / "lib.sh").write_text("declare -i n\ndeclare -n r=RANDOM\n")
    return subprocess.run(
        ["bash", "-c", source],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "RECIPE_VAR_v": value, "RECIPE_VAR_w": HOSTILE},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "script",
    [
        'f() { declare -gi "$1"; }; f n; n={{v}}',
        'f() { declare -gi "$1"; }; f n; n=$(printf RECIPE_VAR_%s v); : {{v}}',
        'f() { declare -gi "$1"; }; f n; read n < <(printf RECIPE_VAR_%s v); : {{v}}',
        'f() { declare -gi "$1"; }; f n; m={{v}}; n=m',
        'f() { declare -gi "$1"; printf -v "$1" %s "$2"; }; f n {{v}}',
        'f() { "$@"; }; f declare -gi n; n={{v}}',
        "eval declare -i n; n={{v}}",
        'alias d="declare -i"; shopt -s expand_aliases\nd n; n={{v}}',
        "declare -i x{1..3}; x2={{v}}",
        'f() { declare -gn "$1"; }; f r; r={{v}}; echo $r',
        "source ./lib.sh; n={{v}}",
        "source ./lib.sh; n=$RECIPE_VAR_v",
        ". ./lib.sh; read n <<< {{v}}",
        ". ./lib.sh; r={{v}}",
        'f() { printf -v "$1" %s "$2"; }; f RANDOM {{v}}',
        'declare -i n; f() { printf -v "$1" %s "$2"; }; f n {{v}}',
        'while read -r l; do declare "$l"; done <<< "RANDOM=RECIPE_VAR_w"; : {{v}} {{w}}',
        "read c <<< let; $c x={{v}}",
        'c=$(echo let); m={{v}}; $c "x=$m"',
        "sudo=; $sudo let x={{v}}",
        # under `set -u`, an empty array does not always tell that it is an integer
        'set -u; k=x; declare -ai "$k"; declare -n r=$k; r=(); r={{v}}',
        'set -euo pipefail; f() { declare -gail "$1"; }; f x; x=(); x+=({{v}})',
        # what bash splits by
        'IFS={{v}}; k=z; declare -i "$k"; n={{v}}; z=$n',
        'IFS="`printf %s {{v}}`"; n=$IFS\ng() { declare -gi "$1"; }; g z; z=$n',
        "read -r IFS <<< {{v}}; . ./lib.sh; n=$RECIPE_VAR_v",
        "IFS=i; . ./lib.sh; n={{v}}",
        "IFS='. kindx'; . ./lib.sh; n=$(echo {{v}})",
        'set -u; IFS=$(echo ai.x); f() { declare -gai "$1"; }; f q; q=(); q+=({{v}})',
        "IFS=,; c=$(echo let,y=1); $c x={{v}}",
        "c=$(echo ' let'); $c x={{v}}",
        "sudo=' '; $sudo command let x={{v}}",
        "c=$(echo builtin); $c let x=RECIPE_VAR_w; : {{v}} {{w}}",
        "c=$(echo let); $c x=$RECIPE_VAR_v",
        # a key that ends its own subscript
        "declare -A m; k=$(echo ']+RECIPE_VAR_w+m['{{v}}); (( m[$k] )); : {{w}}",
        # an array that is not associative, in other states of the shell
        "shopt -s nocasematch; f() { k=$(echo {{v}}); m[$k]=1; }; declare -a m; f; declare -A m",
        "set -u; f() { k=$(echo '0&&no,'{{v}}); m[$k]=1; }; f; declare -A m",
        'sudo=; $sudo declare -i x="$(printf %s {{v}})"',
        'cat <<E\n$(\nalias d="declare -i"; shopt -s expand_aliases\nd n; n={{v}}\n)\nE',
        "declare -i n; x=RECIPE_VAR_v; n=$x; : {{v}}",
        "set -- {{v}}; (( ${!#} ))",
        # an alias of an alias
        "shopt -s expand_aliases; alias m=let\nalias n=m\nn x={{v}}",
        "shopt -s expand_aliases; alias m=let n=m\nx={{v}}; n y=x",
        "shopt -s expand_aliases; alias a-b='declare -i' n=a-b\nn x={{v}}",
        "shopt -s expand_aliases; alias s='command ' m=let\ns m x={{v}}",
        "shopt -s expand_aliases; BASH_ALIASES[m]=let; BASH_ALIASES[n]=m\nn x={{v}}",
        "shopt -s expand_aliases; alias f='(('\nf {{v}} ))",
        "shopt -s expand_aliases; alias f='[[ 1 -eq'\nf {{v}} ]]",
        # what a command prints for an integer of another file, or for the target of a nameref
        ". ./lib.sh; n=$(echo {{v}})",
        ". ./lib.sh; n=1`echo +{{v}}`",
        ". ./lib.sh; x={{v}}; n=${x%b}",
        ". ./lib.sh; r=$(echo {{v}})",
        ". ./lib.sh; echo {{v}} > f; read n < f",
        ". ./lib.sh; read n < <(echo {{v}})",
        ". ./lib.sh; echo {{v}} | while read -r n; do :; done",
        ". ./lib.sh; touch {{v}}; for n in *; do :; done",
        "f() { local -n o=$1; o=$(echo {{v}}); }; f RANDOM",
        "f() { local -n o=$1; echo {{v}} > f; read o < f; }; f OPTIND",
        # an array that is empty
        'f() { declare -gai "$1"; }; f n; n=(); n+=({{v}})',
        'set -u; f() { declare -gai "$1"; }; f n; n=(); n[3]={{v}}',
        'set -u; f() { declare -gAi "$1"; }; f n; n=(); n[k]=$(echo {{v}})',
        'f() { declare -gail "$1"; }; f n; n=(1); unset "n[0]"; n[2]={{v}}',
        'f() { local -n o=$1; o=(); o+=({{v}}); }; k=q; declare -ai "${k}x"; f qx',
        ". ./lib.sh; n=(); n+=({{v}})",
    ],
)
# The second names a variable with the first; the third is one that `set -u` knows.
@pytest.mark.parametrize("value", [HOSTILE, "RECIPE_VAR_w", "PATH[$(touch canary)]"])
def test_nothing_runs_a_value(script: str, value: str, tmp_path: Path) -> None:
    try:
        finished = run(script, value, tmp_path)
    except TemplateError:
        return
    assert not (tmp_path / "canary").exists()
    assert why_stopped(finished.stderr)


@pytest.mark.parametrize(
    "script",
    [
        'q=(1 "$RECIPE_VAR_v"); echo "${!q[1]}"',
        'declare -A m=([k]=$RECIPE_VAR_v); k=k; echo "${!m[$k]}"',
        'q=(1 "$RECIPE_VAR_v"); i=(1); echo "${q[i[0]]@P}"',
    ],
)
def test_the_element_of_an_array_is_guarded_where_it_is_a_name_or_a_prompt(
    script: str, tmp_path: Path
) -> None:
    assert why_stopped(run(script, HOSTILE, tmp_path).stderr)
    assert run(script, "HOME", tmp_path).returncode == 0
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("value", ["($(touch canary))", "(a[<(touch canary)])"])
@pytest.mark.parametrize(
    "script",
    [
        'f() { declare -ga "$1"; }; f x; declare x={{v}}',
        'f() { declare -gA "$1"; }; f x; declare -g x={{v}}',
        'k=x; declare -a "$k"; declare x={{v}}',
        'k=x; typeset -a "${k}y"; typeset xy={{v}}',
    ],
)
def test_a_list_is_no_value_for_an_array_whose_name_the_run_makes(
    script: str, value: str, tmp_path: Path
) -> None:
    with pytest.raises(TemplateError):
        run(script, value, tmp_path)
    assert run(script, "plain", tmp_path).returncode == 0


@pytest.mark.parametrize("value", [TEXT, "7"])
@pytest.mark.parametrize(
    "script",
    [
        'f() { declare -gi "$1"=5; }; f n; m={{v}}; l=$(echo "$m"); read -r q < <(echo "$l"); printf %s "$q"',
        'for w in a b; do declare -i "count_$w"=0; done; x={{v}}; printf %s "$x"',
        'while read -r l; do declare -x "$l"; done <<< A=1; x={{v}}; y=$(echo "$x"); printf %s "$y"',
        'source ./lib.sh; x={{v}}; y=$x; z=("$y"); export E="${z[0]}"; printf -v p %s "$E"; printf %s "$p"',
        "set -euo pipefail; . ./lib.sh; for i in {{v}}; do read -r k <<< \"$i\"; printf %s '{{v}}'; done",
        'set -eu; f() { local -n r=$1; r=$2; }; f q {{v}}; printf %s "$q"',
        'set -eu; . ./lib.sh; a=(); a+=({{v}}); x=$(printf %s "${a[0]}"); y=${x%.gz}; printf %s "$y"',
        'set -eu; . ./lib.sh; printf "%s\\n" {{v}} > f; while IFS= read -r x; do printf %s "$x"; done < f',
        '. ./lib.sh; printf "%s\\n" {{v}} | { IFS= read -r; printf %s "$REPLY"; }',
        ". ./lib.sh; x=$(exit 3); [ $? = 3 ] && for f in lib*; do printf %s {{v}}; done",
        'set -eu; f() { local -n o=$1; o=(); o+=("$(printf %s {{v}})"); }; f q; printf %s "${q[0]}"',
        'shopt -s expand_aliases; alias p="printf %s" q=p\nq {{v}}',
        'push() { local -n a=$1; a+=("$2"); }; push q {{v}}; printf %s "${q[0]}"',
        'f() { printf -v "$1" %s "$2"; }; declare -i n; f n 5; f m {{v}}; printf %s "$m"',
        'k=A; export "$k={{v}}"; printf %s "$A"',
        'cmd=(printf %s); cmd+=({{v}}); "${cmd[@]}"',
        "declare -i n=1; k=x; declare -n r=$k; printf %s {{v}}",
        "tool=$(command -v printf); $tool %s {{v}}",
        "tool=$(echo command printf); $tool %s {{v}}",
        "tool=$(echo ' printf'); $tool %s {{v}}",
        # in any state of the shell
        'set -u; IFS=$(echo aix); . ./lib.sh; x={{v}}; printf %s "$x"',
        'set -u; a=(); . ./lib.sh; a+=({{v}}); b=(); b="${a[0]}"; printf %s "$b"',
        'shopt -s nocasematch; f() { k=$(echo {{v}}); m[$k]=1; }; declare -A m; f; printf %s "${!m[@]}"',
        'opts=(%s {{v}}); ${CMD:-printf} "${opts[@]}"',
        "sudo=; $sudo printf %s {{v}}",
        'for c in echo printf; do x=$($c {{v}}); done; printf %s "$x"',
        "cat > f.sh <<'EOF'\nlocal -n r=$1\ndeclare -i x\nEOF\nx={{v}}; printf %s \"$x\"",
        '# declare -i x\nx={{v}}; printf %s "$x"',
    ],
)
def test_other_texts_arrive_as_they_are(script: str, value: str, tmp_path: Path) -> None:
    finished = run(script, value, tmp_path)
    assert (finished.stdout, finished.stderr) == (value, "")


@pytest.mark.parametrize(
    "state",
    [
        "set -e; shopt -s inherit_errexit",
        "set -eEuo pipefail; shopt -s inherit_errexit; trap 'echo failed' ERR",
        "IFS=0123456789",
        "shopt -s localvar_inherit; declare -n t=x; readonly p=1",
        "printf() { echo p; }; read() { echo r; }; exit() { echo e; }; cat() { echo c; }; local() { :; }",
        "shopt -s expand_aliases; alias exit=: cat=:\n",
    ],
)
def test_what_a_command_prints_is_checked_in_any_state_of_the_shell(state: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("4\n", encoding="utf-8")
    script = f'{state}\ndeclare -i n; n=$(<f); x=$(( $(command printf {{{{v}}}}) + n )); echo "$x"'
    assert run(script, "12", tmp_path).stdout == "16\n"
    stopped = run(script, HOSTILE, tmp_path)
    assert "evaluates what a command printed" in why_stopped(stopped.stderr)
    assert not (tmp_path / "canary").exists()


def test_a_name_in_small_and_large_letters_is_guarded_by_its_alias() -> None:
    source = render_shell("(( MYVAR > 3 ))", {"myVar": "1"}, token=lambda: "t").source
    assert "AMPLIHACK_STOP" in source


def test_an_integer_of_another_file_that_is_read_from_afar_is_told_with_another_way(tmp_path: Path) -> None:
    finished = run(". ./lib.sh\necho {{v}} > f\nread -r n < f", "7", tmp_path)
    assert why_stopped(finished.stderr) == (
        "line 3: bash evaluates $n there, and it is not checked before: read another variable, then n=that"
    )


def test_braces_lead_to_no_value_that_the_script_does_not_use(tmp_path: Path) -> None:
    finished = run("declare -i n; for n in RECIPE_VAR_{v,w}; do :; done; : {{v}}", "", tmp_path)
    assert not (tmp_path / "canary").exists()
    assert why_stopped(finished.stderr)
