from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from amplihack.errors import TemplateError
from amplihack.recipes.templates.shell import hazards, render_shell
from amplihack.recipes.values import Value


def tokens() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"fresh{next(numbers)}"


def source(template: str, **scope: Value) -> str:
    return render_shell(template, scope, token=tokens()).source


def run(template: str, folder: Path, **scope: Value) -> str:
    script = render_shell(template, scope, token=tokens())
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **script.variables}
    finished = subprocess.run(
        ["bash", "-c", script.source],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.stderr == ""
    return finished.stdout


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("echo {{x}}", 'echo "$RECIPE_VAR_x"'),
        ("echo {{x}} && ls {{x}}", 'echo "$RECIPE_VAR_x" && ls "$RECIPE_VAR_x"'),
        ("echo {{obj.my-k}}", 'echo "$RECIPE_VAR_obj__my_k"'),
        ("echo {{gone}}", 'echo "$RECIPE_VAR_gone"'),
        ("echo '{{x}}'", "echo ''\"$RECIPE_VAR_x\"''"),
        ('echo "hi {{x}}"', 'echo "hi ${RECIPE_VAR_x}"'),
        ("echo $'a{{x}}b'", "echo $'a'\"$RECIPE_VAR_x\"$'b'"),
        ("cat <<EOF\nUser: {{x}}\nEOF", "cat <<EOF\nUser: $RECIPE_VAR_x\nEOF"),
        ("cat <<-EOF\n\t{{x}}\n\tEOF", "cat <<-EOF\n\t$RECIPE_VAR_x\n\tEOF"),
        ("cat << EOF\n{{x}}abc {{x}}-\nEOF", "cat << EOF\n${RECIPE_VAR_x}abc $RECIPE_VAR_x-\nEOF"),
        ("cat <<'EOF'\n<{{x}}>\nEOF", "cat <<'EOF'\n<v1>\nEOF"),
        ('cat <<"EOF"\n<{{gone}}>\nEOF', 'cat <<"EOF"\n<>\nEOF'),
        ("cat <<EOF > {{x}}\nb\nEOF", 'cat <<EOF > "$RECIPE_VAR_x"\nb\nEOF'),
        ("T=$(cat <<EOF\n{{x}} $HOME\nEOF\n)", "T=$(cat <<EOF\n$RECIPE_VAR_x $HOME\nEOF\n)"),
        ("T=$(cat <<'EOF'\n{{x}}\nEOF\n)", "T=$(cat <<'EOF'\nv1\nEOF\n)"),
        ("cat <<EOF\nEOF\necho {{x}}", 'cat <<EOF\nEOF\necho "$RECIPE_VAR_x"'),
        ("# about {{obj.my-k}}\ntrue", "# about obj.my-k\ntrue"),
        ("echo $(( {{n}} + 1 ))", "echo $(( ${RECIPE_VAR_n} + 1 ))"),
        ("docker ps --format '{{.Names}}' ${{ x }}", "docker ps --format '{{.Names}}' ${{ x }}"),
    ],
)
def test_the_form_of_a_reference_follows_the_quotes_around_it(template: str, expected: str) -> None:
    assert source(template, x="v1", n=3, obj={"my-k": "z"}) == expected


@pytest.mark.parametrize(
    "before",
    [
        'cat <<< "text"',
        "cat <<< word",
        "echo $((1 << 2))",
        "n=2; (( 1 << n ))",
        "# <<X in a comment",
        "echo '<<EOF'",
        'echo "<<EOF"',
        "cat <<A <<B\na\nA\nb\nB",
        "cat <<EOF\n  EOF\nEOF",
        "cat <<\\EOF\na\nEOF",
        "cat <<'E F'\na\nE F",
        "cat <<EOF-1\nEOF\nEOF-1",
        'cat <<"A"B\na\nAB',
        "cat <<-E\n\ta\n\t\tE",
    ],
)
def test_only_real_heredocs_change_the_lines_behind_them(before: str) -> None:
    assert source(before + "\necho {{x}}", x="v") == before + '\necho "$RECIPE_VAR_x"'


def test_rendering_twice_gives_the_same_script() -> None:
    template = "echo {{a}} '{{a.b}}'\ncat <<'E'\n{{a}}\nE\n"
    assert source(template, a={"b": "E"}) == source(template, a={"b": "E"})


def test_variables_hold_every_value_and_missing_ones_empty() -> None:
    script = render_shell("echo {{x}} {{gone.y}} # {{z}}", {"x": [1], "z": 1}, token=tokens())
    assert script.variables == {"RECIPE_VAR_x": "[1]", "RECIPE_VAR_gone__y": ""}
    assert script.missing == (("gone", "y"),)


def test_two_paths_with_one_name_both_arrive(tmp_path: Path) -> None:
    template = "echo {{a-b}} {{a_b}} {{c.d}} {{c__d}} {{a-b}}"
    scope: dict[str, Value] = {"a-b": "1", "a_b": "2", "c": {"d": "3"}, "c__d": "4"}
    output = run(template, tmp_path, **scope)
    assert output == "1 2 3 4 1\n"
    assert source("{{a-b}} {{a_b}}").split()[0] == '"$RECIPE_VAR_a_b"'


@pytest.mark.parametrize(
    "value",
    ["EOF", "a\nEOF\ntouch canary", "\nEOF", "EOF\n", "x\n\tEOF\n", "\ttab\n\t\ttabs"],
)
@pytest.mark.parametrize(
    ("template", "before", "after"),
    [
        ("cat <<'EOF'\n{{x}}\nEOF\n", "", "\n"),
        ("cat <<'EOF'\n{{x}}{{nl}}EOFx\nEOF\n", "", "\nEOFx\n"),
        ("cat <<'EOF'\nE{{of}}\n{{x}}\nEOF\n", "EOF\n", "\n"),
        ("cat <<-'EOF'\n\t\t{{x}}\n\tEOF\n", "", "\n"),
        ("cat <<-'EOF'\n\t\ta{{x}}\n\tb\n\tEOF\n", "a", "\nb\n"),
        ("cat <<'A' - <<'EOF'\nA {{x}}\nA\n{{x}}\nEOF\n", "", "\n"),
        ("x=$(cat <<'EOF'\n{{x}}\n.\nEOF\n); echo \"$x\"", "", "\n.\n"),
        ("cat <(cat <<'EOF'\n{{x}}\nEOF\n)", "", "\n"),
        ("f() {\ncat <<'EOF'\n{{x}}\nEOF\n}\nf", "", "\n"),
        ("cat <<''\n{{y}}\n\n", "y", "\n"),
    ],
)
def test_no_value_ends_a_quoted_heredoc(
    template: str, before: str, after: str, value: str, tmp_path: Path
) -> None:
    output = run(template, tmp_path, x=value, nl="\n", of="OF", y="y")
    assert output == before + (value if "{{x}}" in template else "") + after
    assert list(tmp_path.iterdir()) == []


def test_a_harmless_value_keeps_the_authors_delimiter_and_a_hostile_one_gets_a_fresh_one() -> None:
    template = "cat <<'EOF'\n{{x}}\nEOF\n"
    assert source(template, x="an EOF inside a line") == "cat <<'EOF'\nan EOF inside a line\nEOF\n"
    assert source(template, x="a\nEOF") == "cat <<'fresh1'\na\nEOF\nfresh1\n"


def test_in_a_substitution_a_value_with_shell_characters_is_referred_to() -> None:
    template = "x=$(cat <<'EOF'\n$HOME {{x}} `a`\\\nEOF\n)"
    assert source(template, x="it's )") == "x=$(cat <<fresh1\n\\$HOME ${RECIPE_VAR_x} \\`a\\`\\\\\nfresh1\n)"


HARD_CASES = [
    ("printf '%s' '{\"k\": \"{{x}}\"}'", '{"k": "@"}'),
    ("cat <<'PY'\ndata = r'''{{x}}'''\nPY", "data = r'''@'''\n"),
    ("cat <<'PY'\nprint(f\"..{{x}}..\")\nPY", 'print(f"..@..")\n'),
    ("head -c {{n}} <<< {{x}} | wc -c", "3\n"),
    ("printf %s {{x}}-{{x}}-suffix.json", "@-@-suffix.json"),
    ('printf %s "$(printf %s "{{x}}")|"', "@|"),
    ('printf %s "$(printf %s "$(printf %s "{{x}}|")")"', "@|"),
    ("\tcat <<-END\n\t\tvalue: {{x}}.\n\tEND\n", "value: @.\n"),
    (': "${X:=${RECIPE_VAR_a__b:-none}}"; printf %s "$X" {{x}}', "none@"),
    ("printf %s \"${X:-'{{x}}'}\"", "'@'"),
    ("# {{x}}\nprintf %s {{x}}", "@"),
    ("case {{x}} in {{x}}) printf %s same;; *) printf other;; esac", "same"),
    ("[[ {{x}} == {{x}} && {{x}} =~ ^{{x}}$ ]] && printf same", "same"),
    ("v={{x}}; printf %s \"${v#{{x}}}|${v/{{x}}/{{x}}}|${v%'{{x}}'}\"", "|@|"),
    ('a=( 1 {{x}} "{{x}}" ); printf %s "${#a[@]}${a[2]}"', "3@"),
    ('declare -A m=( [{{x}}]=one ); m[{{x}}]+=two; printf %s "${m[{{x}}]}" "${!m[@]}"', "onetwo@"),
    ("printf %s `printf %s \"{{x}}|\" | tr '\\n' '\\n' | base64 -w0` | base64 -d", "@|"),
    ("cat <<EOF\n$(printf %s '{{x}}')|\nEOF\n", "@|\n"),
    ("cat <<< {{x}}", "@\n"),
    ("cat <<< \"{{x}}\" | cat - <(printf %s '{{x}}')", "@\n@"),
    ("printf %s \\{{x}}", "\\@"),
    ('f() { printf %s "$1"; }; f {{x}}', "@"),
    ("for i in {{x}} 'b {{x}}'; do printf '%s|' \"$i\"; done", "@|b @|"),
    ("select_=1; while read -r -d '' l; do printf %s \"$l\"; done < <(printf '%s\\0' 'x{{x}}x')", "x@x"),
]


@pytest.mark.parametrize(
    "value", ["plain", 'it\'s $(touch canary) `touch canary` "q" \\ ; * #\nEOF\nEND\nPY\n)x']
)
@pytest.mark.parametrize(("template", "expected"), HARD_CASES)
def test_hard_cases_print_the_value_itself(template: str, expected: str, value: str, tmp_path: Path) -> None:
    assert run(template, tmp_path, x=value, n=3) == expected.replace("@", value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "template",
    [
        "echo $(( {{n}} + 1 ))",
        "(( {{n}} > 2 ))",
        "echo $[ {{n}} ]",
        "let x={{n}}",
        "let 'x={{n}}'",
        "[[ {{n}} -eq 5 ]]",
        "[[ 5 -lt {{n}} ]]",
        '[[ "{{n}}" -ge 1 ]]',
        "a[{{n}}]=1",
        "echo ${a[{{n}}]}",
        "echo ${v:{{n}}:2}",
        'echo "${v: -{{n}}}"',
        "for ((i=0; i<{{n}}; i++)); do :; done",
        "a=([{{n}}]=x)",
        "declare -i k={{n}}",
        "local -i k; k={{n}}",
        "declare -i k='{{n}}'",
        "echo $(( ${v:-{{n}}} ))",
        'echo "$(( a[{{n}}] ))"',
        "cat <<E\n$(({{n}}))\nE",
        "echo `echo $(( {{n}} ))`",
        'echo ${v:"{{n}}"}',
        'echo $(( ${v:-"{{n}}"} ))',
        "declare -A m; m[$(( {{n}} ))]=1",
        "declare -A m; declare m[{{n}}]=1",
        "declare -ai k=({{n}})",
        "declare -i k; k=({{n}})",
        "declare -i k; k[1]={{n}}",
        "declare -i k; k+={{n}}",
        "declare -i k; read k <<< {{n}}",
        "declare -i k; read k <<E\n{{n}}\nE",
        "declare -i k; echo {{n}} | { read k; }",
        "declare -i k; mapfile k <<< {{n}}",
        "declare -i k; for k in {{n}}; do :; done",
        "declare -i k; printf -v k %s {{n}}",
        "declare -i k; : ${k:={{n}}}",
        "declare -i OPTARG; getopts a: o -a {{n}}",
        "k={{n}}; declare -i k",
        "command declare -i k; k={{n}}",
        "time -p declare -i k; k={{n}}",
        "coproc N { declare -i k; k={{n}}; }",
        "RANDOM={{n}}",
        "export OPTIND={{n}}",
        "for SECONDS in {{n}}; do :; done",
        "f() { declare -A m; }; m[{{n}}]=2",
        "if true; then declare -A m; fi; m[{{n}}]=2",
        "true && declare -A m; m[{{n}}]=2",
        "declare -A m | cat; m[{{n}}]=2",
        "(declare -A m); m[{{n}}]=2",
        "x=$(declare -A m); m[{{n}}]=2",
        "declare -A m; unset m; m[{{n}}]=2",
        "declare -a m; declare -A m; m[{{n}}]=2",
        "local -A m; m[{{n}}]=2",
        "declare -A m; f() { local m; m[{{n}}]=1; }",
        "echo $(\\\n( {{n}} ))",
        'echo $(("$(echo \')\' ")")" + {{n}}))',
    ],
)
def test_arithmetic_takes_numbers_and_refuses_what_bash_would_execute(template: str) -> None:
    for number in (7, -7, "", " 12 ", "+3", 1.5, None, "0x1f", "-0XFF"):
        assert source(template, n=number)
    for code in ("a[$(touch canary)]", "1;2", "x", "1 2", "0x", "0x1g", "16#ff", "0x1f[1]", "$((1))", "--1"):
        with pytest.raises(TemplateError, match=r"n is used in arithmetic on line [23] ") as refused:
            source("true\n" + template, n=code)
        assert refused.value.line == 2 + template.count("\n", 0, template.index("{{"))
    assert [hazard.kind for hazard in hazards(template)] == ["arithmetic"]


@pytest.mark.parametrize(
    "template",
    [
        "echo ${{{x}}}",
        "echo ${!{{x}}}",
        "echo ${a{{x}}}",
        "{{x}}=1",
        "a{{x}}=1",
        "export {{x}}=1",
        "export {{x}}",
        "read {{x}}",
        "read -r -p prompt {{x}}",
        "read -a {{x}}",
        "declare {{x}}",
        'declare "{{x}}=1"',
        "printf -v {{x}} a",
        "unset {{x}}",
        "unset -v 'a[{{x}}]'",
        "for {{x}} in a; do :; done",
        "mapfile -t {{x}}",
        "{{x}}() { :; }",
        "function {{x}} { :; }",
        "cat <<{{x}}\na\nEOF",
        "[[ -v {{x}} ]]",
        "[ -v {{x}} ]",
        "test -v '{{x}}'",
        "getopts ab {{x}}",
        "echo `cat <<'E'\n{{x}}\nE\n`",
        "command read {{x}}",
        "wait -p {{x}}",
        "declare -n r={{x}}",
        "local -rn r='{{x}}'",
        "declare -n r; r={{x}}",
        "declare -n r; read r <<< {{x}}",
        "declare -n r=q; for r in {{x}}; do :; done",
        "r={{x}}; declare -n r",
        "read -a{{x}}",
        "read -{{x}} y",
        "printf -v{{x}} a",
        "printf -vx[{{x}}] a",
        "printf -v $(echo {{x}}) a",
        "builtin printf -v {{x}} a",
        "command -p read {{x}}",
        "wait -n -p {{x}}",
        "exec {y[{{x}}]}>f",
        "{ :; } {y[{{x}}]}<f",
        "mapfile -C {{x}} -c 1 y",
        "mapfile -tC{{x}} y",
        'declare "m[{{x}}]=1"',
        "declare -a 'y=({{x}})'",
        "declare -a y=$(echo {{x}})",
        "[ {{y}} {{x}} ]",
        "test -{{y}} {{x}}",
        "echo a >&$(echo {{x}})",
        "echo ${y@{{x}}}",
        "[[ ! ( -v y[{{x}}] ) ]]",
    ],
)
def test_places_where_no_value_is_safe_are_refused_with_line_and_fix(template: str) -> None:
    with pytest.raises(TemplateError, match=r"\{\{x\}\} on line") as refused:
        source("true\n" + template, x="harmless")
    assert refused.value.line >= 2
    assert refused.value.fix
    assert "refused" in [hazard.kind for hazard in hazards(template)] or template.startswith("declare -a ")


@pytest.mark.parametrize(
    "template",
    [
        "read -rp {{x}} name",
        "read -d {{x}} name",
        "export A={{x}}",
        'export "A={{x}}"',
        "declare -r a={{x}}",
        "env {{x}}=1 true",
        "docker run -e {{x}}=1 i",
        "printf -- {{x}}",
        "getopts {{x}} name",
        "test {{x}} -eq 1",
        "mapfile -t -d {{x}} a",
        "local a={{x}} b='{{x}}'",
        'readonly A="{{x}}"',
        "printf '%d' {{x}}",
        "exit {{x}}",
        "declare x=(); f() { local -A m; m[{{x}}]=1; }",
        "f() { local -A m=([{{x}}]=1); echo ${m[{{x}}]}; }",
        "declare -A m; { m[{{x}}]=1; (echo ${m[{{x}}]}); }",
        "declare -A m; echo $(( ${y%{{x}}} + 1 ))",
        "[[ ${y#{{x}}} -gt 3 ]]",
        "declare -i n; read -r n < <(wc -l < {{x}}); echo {{x}}",
        "f() { local -n out=$1; out={{x}}; }",
        "[[ $y == -v && {{x}} == a ]]",
        "wait {{x}}",
        'export "$k=1" B={{x}}',
        "declare -a y=a{{x}}",
        "export -n A",
    ],
)
def test_ordinary_arguments_of_the_same_commands_are_fine(template: str) -> None:
    assert source(template, x="$(touch canary)")


@pytest.mark.parametrize(
    ("template", "construct", "line"),
    [
        ("echo {{x}}\necho 'abc\nd", "the single quote", 2),
        ('echo {{x}} "abc', "the double quote", 1),
        ("\n\necho $(ls {{x}}", "the $(", 3),
        ("echo {{x}} ${v:-a", "the ${", 1),
        ("echo {{x}} $((1 + 2)", "the $(", 1),
        ("true\necho `ls {{x}}", "the backtick", 2),
        ("echo $'{{x}}", "the $' quote", 1),
        ("[[ {{x}} == a", "the [[", 1),
        ("true\ncat <<EOF\n{{x}}\n  EOF\n", "the heredoc EOF", 2),
        ("a=( {{x}}", "the array", 1),
        ("echo `echo \n'{{x}}`", "the single quote", 2),
        ("cat <(ls {{x}}", "the <(", 1),
    ],
)
def test_quoting_that_never_closes_is_named_with_its_line(template: str, construct: str, line: int) -> None:
    with pytest.raises(TemplateError) as refused:
        source(template, x="v")
    assert refused.value.what.startswith(f"{construct} opened on line {line} never closes")
    assert refused.value.line == line
    assert [(hazard.kind, hazard.line) for hazard in hazards(template)] == [("unclosed", line)]


@pytest.mark.parametrize("template", ["echo 'abc", "cat <<EOF", "$((", "`", "{{}} ${{ | }} '", "\0", ""])
def test_a_script_without_placeholders_passes_through_unchanged(template: str) -> None:
    assert source(template, x="v") == template
    assert hazards(template) == ()


@pytest.mark.parametrize(
    ("template", "bad"),
    [
        ("echo ${{ x }}", True),
        ('echo "${{x}}"', True),
        ("cat <<E\n${{x}}\nE", True),
        ("echo '${{x}}'", False),
        ("cat <<'E'\n${{x}}\nE", False),
        ("# ${{x}}", False),
        (r'echo "\${{x}}"', False),
    ],
)
def test_a_placeholder_after_a_dollar_sign_stays_and_is_told(template: str, bad: bool) -> None:
    script = render_shell(template, {"x": "v"}, token=lambda: "t")
    assert script.source == template
    assert [warning.partition(":")[0] for warning in script.warnings] == [
        "${{x}} stays as it is, although there is a variable x"
    ]
    (hazard,) = hazards(template)
    assert (hazard.kind, bool(hazard.detail)) == ("literal", bad)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{x}} --flag", [("command", 1)]),
        ("a=1 {{x}}/bin/run", [("command", 1)]),
        ("if true; then\n{{x}}\nfi", [("command", 2)]),
        ("true | {{x}}", [("command", 1)]),
        ("x=$({{x}} 2>&1)", [("command", 1)]),
        ("! {{x}} && time {{x}}", [("command", 1), ("command", 1)]),
        ("echo {{x}}", []),
        ('"{{x}}" --flag', []),
        ("./{{x}}", []),
        ("cat <<E\n{{x}}\nE", []),
    ],
)
def test_a_bare_placeholder_as_command_is_pointed_out(template: str, expected: list[tuple[str, int]]) -> None:
    assert [(hazard.kind, hazard.line) for hazard in hazards(template)] == expected


@pytest.mark.parametrize(
    ("template", "language"),
    [
        ("eval {{x}}", "bash"),
        ("eval \"echo '{{x}}'\"", "bash"),
        ("trap 'rm {{x}}' EXIT", "bash"),
        ("bash -c 'echo {{x}}'", "bash"),
        ("sudo sh -ec {{x}}", "bash"),
        ("timeout 5 python3 -c \"print('{{x}}')\"", "python"),
        ('"${AMPLIFIER_PYTHON:-python3}" -c "{{x}}"', "python"),
        ("node -e '{{x}}'", "node"),
        ("perl -ne 'print {{x}}'", "perl"),
        ("ruby -e '{{x}}'", "ruby"),
        ("awk -F, '{print \"{{x}}\"}' file", "awk"),
        ("jq -r --arg a b '.{{x}}'", "jq"),
        ("sed -i 's/a/{{x}}/' file", "sed"),
        ("sed -n -e 's/a/{{x}}/p' file", "sed"),
        ("python3 - <<'PY'\nprint('{{x}}')\nPY", "python"),
        ("python3 <<PY\nprint('{{x}}')\nPY", "python"),
        ("bash -s <<'E'\n{{x}}\nE", "bash"),
        ("/usr/bin/env node <<'E'\n{{x}}\nE", "node"),
        ("find . -exec sh -c 'echo {{x}}' \\;", "bash"),
        ("xargs -I{} bash -c {{x}}", "bash"),
        ("su -c {{x}} me", "bash"),
        ("su - me -lc {{x}}", "bash"),
        ("flock file -c {{x}}", "bash"),
        ("env -S{{x}}", "bash"),
        ("ssh -p 22 host cd {{x}}", "bash"),
        ("docker exec box sh -c {{x}}", "bash"),
        ("echo {{x}} | bash", "bash"),
        ("{ echo a; echo {{x}}; } | tee log | sudo sh", "bash"),
        ("cat <<E | bash -s\n{{x}}\nE", "bash"),
        ("echo {{x}} |\n  sh", "bash"),
        ("echo {{x}} | python3 -", "python"),
        ("bash <<< {{x}}", "bash"),
        ("bash <(echo {{x}})", "bash"),
        ("source <(echo {{x}})", "bash"),
        (". /dev/stdin <<< {{x}}", "bash"),
        ("source /dev/stdin <<E\n{{x}}\nE", "bash"),
        ('eval "$(echo {{x}})"', "bash"),
        ("source {{x}}", "bash"),
        ("echo {{x}} | xargs -I% sh -c 'echo %'", "bash"),
        ("echo {{x}} | at now", "bash"),
        ("echo {{x}} | ssh host", "bash"),
        ("command eval {{x}}", "bash"),
        ("compgen -W {{x}}", "bash"),
        ("BASH_ENV={{x}} run", "bash"),
        ("export PS4={{x}}", "bash"),
        ("env PS4={{x}} bash -x script", "bash"),
        ("timeout 5 ssh host {{x}}", "bash"),
        ("sshpass -p a ssh host {{x}}", "bash"),
        ("echo {{x}} | timeout 5 ssh host", "bash"),
        ("ssh -o ProxyCommand={{x}} host", "bash"),
        ("sudo watch {{x}}", "bash"),
        ("ls | entr -s {{x}}", "bash"),
        ("entr sh -c {{x}}", "bash"),
        ("hyperfine {{x}}", "bash"),
        ("git rebase --exec {{x}} main", "bash"),
        ("git rebase -x {{x}} main", "bash"),
        ("git submodule foreach {{x}}", "bash"),
        ('git -c alias.go="!{{x}}" go', "bash"),
        ("git -c core.sshCommand={{x}} fetch", "bash"),
        ("git bisect run sh -c {{x}}", "bash"),
        ("git clone --upload-pack={{x}} url", "bash"),
        ("make VERSION={{x}} all", "bash"),
        ("tar cf a.tar --checkpoint-action=exec={{x}} b", "bash"),
        ('rsync -ae "ssh {{x}}" a b', "bash"),
        ("tmux send-keys {{x}} Enter", "bash"),
        ("vagrant ssh -c {{x}}", "bash"),
        ("adb shell {{x}}", "bash"),
        ("busybox sh -c {{x}}", "bash"),
        ("docker-compose exec web bash -lc {{x}}", "bash"),
        ("uv run bash -c {{x}}", "bash"),
        ("uv run python -c {{x}}", "python"),
        ("aws-vault exec me -- sh -c {{x}}", "bash"),
        ('"$SHELL" -c {{x}}', "bash"),
        ("${SHELL} -c {{x}}", "bash"),
        ("$PYTHON -c {{x}}", "python"),
        ("$AMPLIFIER_PYTHON -c {{x}}", "python"),
        ("fish -c {{x}}", "bash"),
        ("pwsh -Command {{x}}", "bash"),
        ("nodejs -e {{x}}", "node"),
        ("deno eval {{x}}", "node"),
        ("node --eval={{x}}", "node"),
        ("php -r {{x}}", "php"),
        ("lua -e {{x}}", "lua"),
        ("Rscript -e {{x}}", "R"),
        ("sed -e{{x}} f", "sed"),
        ("sed --expression={{x}} f", "sed"),
        ("perl -ne{{x}} f", "perl"),
        ("echo {{x}} | sudo crontab -", "bash"),
        ("GIT_SSH_COMMAND={{x}} git fetch", "bash"),
        ('EDITOR="{{x}}" git commit', "bash"),
    ],
)
def test_values_that_become_source_code_are_pointed_out(template: str, language: str) -> None:
    assert [(hazard.kind, hazard.detail) for hazard in hazards(template)] == [("source", language)]


@pytest.mark.parametrize(
    "template",
    [
        "jq --arg v {{x}} '.a = $v'",
        "awk -v v={{x}} '{print v}'",
        "python3 script.py {{x}}",
        "bash script.sh {{x}}",
        "python3 script.py <<'E'\n{{x}}\nE",
        "sed 's/a/b/' {{x}}",
        "echo bash -c {{x}}",
        "jq . <<'E'\n{{x}}\nE",
        "python3 -c 'import sys' {{x}}",
        "echo {{x}} | grep bash",
        "echo {{x}} | bash script.sh",
        "ssh {{x}} uptime",
        "find {{x}} -name sh",
        "docker run {{x}}",
        "source lib.sh {{x}}",
        'source "{{x}}/lib.sh"',
        "echo {{x}} | xargs rm",
        "echo {{x}} | ssh host cat",
        "echo {{x}}; echo ls | bash",
        "git commit -m {{x}}",
        "git clean -x {{x}}",
        "git log --author={{x}}",
        "git -c user.name={{x}} commit",
        "make -C {{x}} all",
        "./run.sh --name={{x}}",
        "apt-get install python3 -y {{x}}",
        "npx playwright test -c {{x}}",
        "npm run build -- -c {{x}}",
        "tar czf {{x}} dir",
        "rsync -a --exclude={{x}} a b",
        "uv run python tool.py -c {{x}}",
        "deno run tool.ts {{x}}",
        "timeout 5 ssh {{x}} uptime",
        "grep sh -e {{x}}",
        "tmux kill-session -t {{x}}",
    ],
)
def test_data_for_the_same_programs_is_not_source_code(template: str) -> None:
    assert hazards(template) == ()


def test_a_run_warns_of_values_that_bash_runs_as_a_program() -> None:
    script = render_shell("true\neval {{x}}; python3 -c {{x}}; eval {{x}}", {"x": "v"}, token=tokens())
    assert script.warnings == ("the value of x is run as a bash program on line 2",)


def test_a_dollar_before_a_placeholder_keeps_it_and_is_told_where_the_variable_exists() -> None:
    script = render_shell('echo "\\${{price}} \\${{ secrets.KEY }}"', {"price": 5}, token=tokens())
    assert script.source == 'echo "\\${{price}} \\${{ secrets.KEY }}"'
    assert [warning.partition(",")[0] for warning in script.warnings] == ["${{price}} stays as it is"]


@pytest.mark.parametrize(
    ("template", "value", "expected"),
    [
        ("echo a >&{{x}}", "out", 'echo a >"$RECIPE_VAR_x" 2>&1'),
        ("echo a 1>&{{x}} b", "out", 'echo a >"$RECIPE_VAR_x" 2>&1 b'),
        ('echo a >& "$d/{{x}}"', "1", 'echo a > "$d/${RECIPE_VAR_x}" 2>&1'),
        ("echo a >&{{x}}", "2", 'echo a >&"$RECIPE_VAR_x"'),
        ("echo a 2>&{{x}}", "out", 'echo a 2>&"$RECIPE_VAR_x"'),
        ("printf {{x}} a", "-v", 'printf -- "$RECIPE_VAR_x" a'),
        ("printf '{{x}}'", "-v", "printf -- ''\"$RECIPE_VAR_x\"''"),
        ("printf -- {{x}} a", "-v", 'printf -- "$RECIPE_VAR_x" a'),
        ("printf a{{x}} b", "-v", 'printf a"$RECIPE_VAR_x" b'),
        ("wait {{x}}", "1", 'wait -- "$RECIPE_VAR_x"'),
        ('echo $"a {{x}}"', "1", 'echo "a ${RECIPE_VAR_x}"'),
    ],
)
def test_places_that_bash_would_read_twice_are_written_so_that_it_reads_them_once(
    template: str, value: str, expected: str
) -> None:
    assert source(template, x=value) == expected


@pytest.mark.parametrize(
    "template",
    [
        "declare -a a={{x}}",
        "declare -A a={{x}}",
        "local a=(); local a={{x}}",
        'mapfile a < f; declare "a={{x}}"',
        "readonly -a a='{{x}}'",
        "declare a[1]={{x}}",
        "source lib.sh; declare a={{x}}",
        "declare DIRSTACK={{x}}",
    ],
)
def test_a_list_in_parentheses_is_refused_where_a_declaration_would_evaluate_it(template: str) -> None:
    assert source(template, x="(a) b")
    with pytest.raises(TemplateError, match=r"\{\{x\}\} on line 1: a value in parentheses"):
        source(template, x="($(touch canary))")


def test_what_a_command_prints_into_arithmetic_is_taken_only_if_it_is_a_number(tmp_path: Path) -> None:
    for template, result in [
        ("echo $(( $(echo {{x}}) + 1 ))", "8\n"),
        ("echo $(( `echo {{x}} # seven\n` + 1 ))", "8\n"),
        ('echo "$(( $(cat <<E\n{{x}}\nE\n) + 1 ))"', "8\n"),
        ("[[ $(echo {{x}}) -gt 3 ]] && echo more", "more\n"),
        ("declare -i n; n=$(echo {{x}}; exit 3); echo $? $n", "3 7\n"),
        ("a=(1 2 3); echo ${a[$(echo {{y}})]}", "2\n"),
        ('declare -A m=([q]=1); echo ${m[$(echo "{{k}}")]}', "1\n"),
    ]:
        assert run(template, tmp_path, x=7, y=1, k="q") == result
    script = render_shell("echo $(( $(echo {{x}}) + 1 ))", {"x": "a[$(touch canary)]"}, token=tokens())
    finished = subprocess.run(
        ["bash", "-c", script.source],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], **script.variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 1
    assert "line 1: AMPLIHACK_STOP: what a command printed is not a number" in finished.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("cat <<EO\\\nF\n{{x}}\nEOF\n", "@\n"),
        ("cat <\\\n<EOF\n{{x}}\nEOF\n", "@\n"),
        ("cat <<\\\n-EOF\n\t{{x}}\n\tEOF\n", "@\n"),
        ("cat <<OUT\n$(cat <<'EOF'\n{{x}}\n.\nEOF\n)\nOUT\n", "@\n.\n"),
        ("cat <<-OUT\n\t$(cat <<'EOF'\n{{x}}\n.\nEOF\n)\n\tOUT\n", "@\n.\n"),
        ('echo "`echo $"{{y}}"`"', "y\n"),
        ("[[ a =~ (;|&|a) ]] && printf %s {{x}}", "@"),
        ("printf {{x}}", "@"),
    ],
)
def test_heredocs_and_words_that_are_hard_to_see_carry_the_value(
    template: str, expected: str, tmp_path: Path
) -> None:
    for value in ("v", "$(touch canary)", "OUT\ntouch canary\n\tOUT", "\ttab\n\t\ttabs", "-v"):
        assert run(template, tmp_path, x=value, y="y") == expected.replace("@", value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("template", ["x\\\n={{x}}", "cat <<$(a b)\n{{x}}\n$(a b)"])
def test_what_cannot_be_read_for_certain_is_refused_with_its_line(template: str) -> None:
    with pytest.raises(TemplateError, match="on line 2: its placeholders cannot be placed") as refused:
        source("true\n" + template, x="v")
    assert refused.value.line == 2


EVALUATED_LATER = [
    "n={{x}}; (( n > 3 ))",
    'n="{{x}}"\nif [[ $n -gt 3 ]]; then :; fi',
    "local n={{x}}; echo $(( n + 1 ))",
    "n={{x}}; k=$n; a[k]=1",
    "n={{x}}; declare -i k; k=$n",
    "for n in {{x}}; do let k=n; done",
    "read n <<< {{x}}; echo ${v:n}",
    "while read -r n; do (( n )); done <<E\n{{x}}\nE",
    "f() { (( $1 > 2 )); }; f {{x}}",
    'n={{x}}; f() { (( $1 > 2 )); }; f "$n"',
    "n={{x}}; declare -i m=n",
    "n={{x}}; declare -i m; m=n+1",
    "n={{x}}; k=$n; declare -A m; declare m[$k]=1",
    'n={{x}}; read -r m <<< "$n"; (( m ))',
    "n={{x}}; while read -r m; do (( m )); done <<E\n$n\nE",
    "n={{x}}; mapfile -t m <<< $n; (( m ))",
    "f() { local n=$2; [[ $n -eq 1 ]]; }; f a {{x}}",
    "set -- {{x}}; (( $1 ))",
    "f() { for n; do (( n )); done; }; f {{x}}",
    "f() { while getopts a: o; do (( OPTARG )); done; }; f -a {{x}}",
    "n={{x}}; echo ${!n}",
    'n={{x}}; echo "${n@P}"',
    'n={{x}}; printf -v "$n" a',
    "n={{x}}; [[ -v $n ]]",
    "n={{x}}; echo a >&$n",
    "n={{x}}; declare -a y=$n",
]


@pytest.mark.parametrize("template", EVALUATED_LATER)
def test_a_value_that_reaches_an_evaluation_through_a_variable_must_not_expand(template: str) -> None:
    for harmless in ("7", "", "auto", "two words", "[1]"):
        assert source(template, x=harmless)
    for code in (
        "a[$(touch canary)]",
        "`touch canary`",
        "(<(touch canary))",
        "RECIPE_VAR_y",
        "other",
        "OTHER",
    ):
        with pytest.raises(
            TemplateError, match=r"\{\{x\}\} on line \d: the value goes to a variable"
        ) as refused:
            source(template, x=code, other="a[$(touch canary)]")
        assert refused.value.fix


@pytest.mark.parametrize(
    "template",
    [
        "n={{x}}; echo $n; [ $n -gt 3 ]; k=5; (( k > 3 ))",
        "n={{x}}; (( ${#n} > 3 )); echo $(( $(wc -c <<< $n) + 1 ))",
        "pattern={{x}}; count=$(grep -c $pattern f); (( count > 0 ))",
        "declare -A m; m[k]={{x}}; echo ${m[$k]} ${!m[@]}",
        "f() { echo $1; }; f {{x}}; (( 1 ))",
        'n={{x}}; read -r m <<< "$n"; (( k ))',
        "n={{x}}; declare -i m=k",
        "n={{x}}; read -r m <<< $k; (( m ))",
        "f() { for i in 1 2; do (( i )); done; }; f {{x}}",
        "items=({{x}}); for (( i = 0; i < ${#items[@]}; i++ )); do echo ${items[i]}; done",
    ],
)
def test_a_variable_that_is_not_evaluated_takes_any_value(template: str) -> None:
    assert source(template, x="$(touch canary)")


def test_what_a_command_prints_into_a_variable_is_checked_where_that_is_evaluated(tmp_path: Path) -> None:
    template = "n=$(printf '%s\\n\\n' {{x}}); (( n > 3 )); printf %s \"$n\""
    for number in ("7", " -3 ", "2 * (1 + 1)"):
        assert run(template, tmp_path, x=number) == number
    for text in ("a[$(touch canary)]", "auto"):
        script = render_shell(template, {"x": text}, token=tokens())
        environment = {"PATH": os.environ["PATH"], **script.variables}
        finished = subprocess.run(
            ["bash", "-c", script.source], cwd=tmp_path, env=environment, capture_output=True, check=False
        )
        assert (finished.returncode, finished.stdout) == (127, b"")
        assert b"line 1: AMPLIHACK_STOP: n is not a number" in finished.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "template",
    [
        "c={{x}}; PS4=$c; set -x",
        "c={{x}}; BASH_ENV=$c bash -c true",
        'c={{x}}; bash <<< "$c"',
        'c={{x}}; echo "$c" | bash',
        'c={{x}}; printf %s "$c" | sudo sh',
        'c={{x}}; source <(echo "$c")',
        "echo {{x}} > go.sh; bash go.sh",
        "echo {{x}} >> ./go.sh\nchmod +x go.sh\n./go.sh",
        "cat > go.sh <<EOF\n{{x}}\nEOF\nbash -e go.sh",
        "cat > go.sh <<'EOF'\n{{x}}\nEOF\n. ./go.sh",
        'c={{x}}; echo "$c" > go.sh; source go.sh',
        "enable -f {{x}} name",
        "hash -p {{x}} name",
        "powershell -Command {{x}}",
        "socat EXEC:{{x}} -",
    ],
)
def test_a_value_that_a_shell_gets_by_another_way_is_pointed_out(template: str) -> None:
    assert [hazard.kind for hazard in hazards(template)] == ["source"]


@pytest.mark.parametrize(
    "template",
    [
        "echo {{x}} > data.txt; bash go.sh",
        "echo {{x}} > go.sh.log; ./go.sh",
        "cat go.sh | bash; echo {{x}} | tee log",
        "c={{x}}; bash go.sh <<< 1; echo $c",
        "sqlite3 {{x}} 'select 1'",
    ],
)
def test_a_value_beside_a_script_is_not_a_program(template: str) -> None:
    assert [hazard for hazard in hazards(template) if hazard.kind == "source"] == []


def test_a_variable_with_a_value_that_is_run_as_a_program_is_pointed_out() -> None:
    assert [hazard.kind for hazard in hazards('c="ls {{x}}"; eval "$c"')] == ["source"]
    assert [hazard.kind for hazard in hazards('c={{x}}; d=$c; bash -c "$d"')] == ["source"]
    assert [hazard.kind for hazard in hazards("c={{x}}; echo $c; eval $d")] == []


@pytest.mark.parametrize(
    "word", ["{{x}}", "$'{{x}}'", '$"{{x}}"', "''{{x}}", "${nope:-{{x}}}", '"$nope"{{x}}', "`echo {{x}}`"]
)
@pytest.mark.parametrize("command", ["printf @ a", "printf -v y @ a", "command printf @ a", "wait @ 1"])
def test_a_value_never_becomes_an_option_that_takes_a_name(command: str, word: str, tmp_path: Path) -> None:
    for value in ("-va[$(touch canary)]", "-pa[$(touch canary)]"):
        script = render_shell(command.replace("@", word), {"x": value}, token=tokens())
        environment = {"PATH": os.environ["PATH"], **script.variables}
        subprocess.run(
            ["bash", "-c", script.source], cwd=tmp_path, env=environment, capture_output=True, check=False
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sign", ["\0", "\1"])
@pytest.mark.parametrize(
    "template", ["@ {{v}}", "$(@x) {{v}}", "declare @={{v}}", "let @{{v}}", "(( @ + {{v}} ))"]
)
def test_a_script_may_hold_the_signs_that_stand_for_values_while_it_is_read(template: str, sign: str) -> None:
    source = render_shell(template.replace("@", sign), {"v": "1"}, token=lambda: "t").source
    assert source.count(sign) == 1
