"""Guards stop what a variable could run, and let everything else pass."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from amplihack.recipes.templates.bash.joined_names import runs
from amplihack.recipes.templates.bash.number_guards import Guard, operands
from amplihack.recipes.templates.bash.read import guard_script
from amplihack.recipes.templates.shell import render_shell, why_stopped


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n > 3", ["n"]),
        ("$n + ${m} - $1", ["n", "m", "1"]),
        ("a[b[i]]", ["i", "b", "a"]),
        ("x = y", ["y"]),
        ("x == y", ["x", "y"]),
        ("x += y", ["x", "y"]),
        ("a[i] = y", ["i", "y"]),
        ("${#n} + 0x1f + 16#ff", []),
        ("${!n}", ["!"]),
        ("RANDOM % n", ["n"]),
        ("\0 + \1", []),
    ],
)
def test_the_variables_of_an_expression_come_in_the_order_of_their_evaluation(
    text: str, names: list[str]
) -> None:
    assert [operand.name for operand in operands(text, Guard.NUMBER)] == names


def test_digits_of_another_base_and_texts_that_are_cut_first_may_hold_letters() -> None:
    digits, cut, number = operands("16#$hex + ${size%GB} + $n", Guard.NUMBER)
    assert ["DIGITS" in digits.text, cut.changed, number.changed] == [True, True, False]
    assert "A_NUMBER" in number.text


@pytest.mark.parametrize(
    ("text", "names", "joined"),
    [
        ("${kind}_count > 3", ["${kind}_count"], []),
        ("x$i + y", ["x$i"], []),
        ("a\0[i]", ["a\0[i]"], []),
        ('"${p}"_n', ['"${p}"_n'], []),
        ("x$((i+1)) * 2", ["x$((i+1))"], []),
        ("x${a[i]}", ["x${a[i]}"], []),
        ("$a$b + 1", [], ["$a$b"]),
        ("0x$h + 16#$h + 1$d", [], []),
        ("keyed[${w}_x] + plain[${w}_x]", ["${w}_x"], []),
        ("x$i = 5", [], []),
        ("$n + m", [], []),
    ],
)
def test_what_joins_a_name_is_found(text: str, names: list[str], joined: list[str]) -> None:
    found = list(runs(text, {"keyed"}))
    assert [text[run.start : run.end] for run in found if run.is_name] == names
    assert [text[run.start : run.end] for run in found if run.is_joined] == joined


def _run(script: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", **env},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "script",
    [
        "set -u\n(( x = 5 )); echo $(( ${nope:-2} + x ))",
        "read -ra parts <<< 'name 5 $z'; (( parts[1] > 3 )); echo $?",
        "declare -A count; for w in a b a; do (( count[$w]++ )); done; echo ${count[a]}",
        "init() { declare -gA m; }; init; k='two words'; m[$k]=1; echo \"${!m[@]}\"",
        "h=$(echo beef); echo $(( 16#$h % 10 ))",
        "size=15M; size=$(echo $size); (( ${size%M} > 10 )) && echo big",
        "n=$(echo ' 4 '); for (( i = 0; i < n; i++ )); do printf $i; done",
        "n=$(sleep 0 & wait; echo 3); echo $(( $(sleep 0 & wait; echo 4) + n ))",
        "echo 9 > f; echo $(( $(<f) + 1 )) $(( $(< f ) + 2 ))",
        "x='cost $5'; if [ \"$x\" ]; then echo yes; fi",
        'fmt=\'[info] %s\\n\'; fmt=$(echo "$fmt"); printf "$fmt" done',
        "i=1; i=$(echo $i); a=(x y z); unset 'a[i]'; [[ -v a[$i] ]] || echo gone ${a[-1]}",
        "kind=a; a_n=4; (( ${kind}_n > 3 )); echo $?; (( ${kind}_n++ )); echo $a_n",
        "x1=4; i=1; i=$(echo $i); [[ x$i -eq 4 ]] && echo $(( x${i} + x$(( 0 + 1 )) ))",
        "set -u; n=12y; n=$(echo $n); for i in 1 2; do echo $(( ${n%y} + ${n:0:1} + ${n/y/0} )); done",
        "set -u; export n=7y; bash -uc 'echo $(( ${n%y} + 1 ))'; eval \"echo \\$(( \\${n%y} ))\"",
        "declare -A k; w=a,; w=$(echo $w); (( k[${w%,}]++ )); echo ${!k[@]}; a=1 b=2; echo $(( $a$b ))",
        "set -- 3a 4 5; echo $(( ${1%a} + ${2} + ${@: -1:1}0 )) 2>/dev/null || echo bad",
        "n=abc; echo $(( ${#n} + 1 )); s=hello; i=1; i=$(echo $i); echo ${s:$i:2} ${s:${i%x}}",
        "[[ 'found 12 of $20' =~ ([0-9]+)\\ of ]]; (( BASH_REMATCH[1] == 12 )) && echo twelve",
    ],
)
def test_scripts_that_are_right_print_what_they_print_without_guards(script: str, tmp_path: Path) -> None:
    plain, guarded = _run(script, tmp_path), _run(guard_script(script), tmp_path)
    assert (guarded.stdout, guarded.returncode) == (plain.stdout, plain.returncode)
    assert plain.stdout


def test_a_script_without_placeholders_runs_no_value_of_its_environment(tmp_path: Path) -> None:
    hostile = "a[$(touch canary)]"
    for script, env in [
        ("(( RECIPE_VAR_n > 3 ))", ()),
        ("x=$N; echo $((x))", ()),
        ("m=$(printenv Q); [[ $m -gt 3 ]]", ("Q",)),
    ]:
        source = render_shell(script, {"n": hostile}, token=lambda: "t", env=env).source
        finished = _run(source, tmp_path, RECIPE_VAR_n=hostile, N=hostile, Q=hostile)
        assert "is not a number" in why_stopped(finished.stderr), script
    assert list(tmp_path.iterdir()) == []


def test_a_script_that_knows_nothing_of_the_run_is_left_alone() -> None:
    for script in ("(( i > 3 ))", "echo $RECIPE_VAR_x", "[[ $HOME -gt 3 ]]"):
        assert render_shell(script, {"x": "v"}, token=lambda: "t").source == script


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            "bash: line 4: AMPLIHACK_STOP: n is not a number",
            "line 4: bash evaluates $n there, and it is not a number",
        ),
        (
            "bash: Zeile 4: AMPLIHACK_STOP: 1 is not digits",
            "line 4: bash evaluates $1 there, and it is not digits",
        ),
        ("bash: line 4: n: unbound variable", ""),
    ],
)
def test_a_script_that_was_stopped_is_told_from_one_that_failed(said: str, why: str) -> None:
    assert why_stopped(f"before\n{said}\n{said}\n") == why


@pytest.mark.parametrize(
    "script",
    [
        "(( n > 3 )) || true\ntouch after",
        "if [[ $n -gt 3 ]]; then :; fi\ntouch after",
        "f() { x[n]=1; }; f\ntouch after",
        "(( n )) 2>/dev/null\ntouch after",
        "for (( i = 0; i < n; i++ )); do :; done\ntouch after",
    ],
)
def test_a_script_ends_where_it_would_calculate_with_a_word(script: str, tmp_path: Path) -> None:
    finished = _run(guard_script(f"n=$(printenv N)\n{script}"), tmp_path, N="many")
    assert finished.returncode == 127
    assert list(tmp_path.iterdir()) == []
