"""Guards stop what a variable could run, and let everything else pass."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from amplihack.recipes.templates.bash.number_guards import Guard, operands
from amplihack.recipes.templates.bash.read import guard_script
from amplihack.recipes.templates.shell import render_shell, stopped_lines


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
    guards = [operand.text for operand in operands("16#$hex + ${size%GB} + $n", Guard.NUMBER)]
    assert ["DIGITS" in guards[0], "A_NAME" in guards[1], "A_NUMBER" in guards[2]] == [True, True, True]


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
        assert list(stopped_lines(finished.stderr)), script
    assert list(tmp_path.iterdir()) == []


def test_a_script_that_knows_nothing_of_the_run_is_left_alone() -> None:
    for script in ("(( i > 3 ))", "echo $RECIPE_VAR_x", "[[ $HOME -gt 3 ]]"):
        assert render_shell(script, {"x": "v"}, token=lambda: "t").source == script


def test_a_stopped_line_is_told_once_with_a_way_to_write_it() -> None:
    said = "bash: line 4: AMPLIHACK_NOT_A_NUMBER: 2#0a: value too great\n"
    (warning,) = stopped_lines(said * 2)
    assert warning.startswith(
        "line 4 of the script did not run: bash evaluates a variable that is not a number"
    )
    assert "${n//[!0-9]/}" in warning
