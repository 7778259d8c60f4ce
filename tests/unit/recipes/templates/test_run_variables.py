"""Variables of a run that a script names itself and hands to a shell: they run, and it is told."""

from __future__ import annotations

import pytest

from amplihack.recipes.templates import check_env
from amplihack.recipes.templates.bash.launchers import LAUNCHERS
from amplihack.recipes.templates.bash.program_tables import CODE_NAMES, MAY_RUN_INPUT, SOURCES
from amplihack.recipes.templates.bash.variable_attributes import PROGRAM_VARIABLES
from amplihack.recipes.templates.program_words import may_run_code
from amplihack.recipes.templates.run_variables import run_variables
from amplihack.recipes.templates.shell import render_shell
from amplihack.recipes.values import Value

SCOPE: dict[str, Value] = {
    "v": "touch x",
    "a": "1",
    "myVar": "touch x",
    "path": "x",
    "data": {"k": "touch x"},
}


def told(script: str) -> tuple[str, ...]:
    return render_shell(script, SCOPE, token=lambda: "t").warnings


@pytest.mark.parametrize(
    "script",
    [
        'eval "$RECIPE_VAR_v"',
        "eval $V",
        'eval "$MYVAR"',
        'eval "$RECIPE_VAR_data__k"',
        'bash -c "$RECIPE_VAR_v"',
        "bash -c 'eval \"$RECIPE_VAR_v\"'",
        'bash -c \'eval "$1"\' _ "$V"',
        'echo "$RECIPE_VAR_v" | bash',
        "printenv RECIPE_VAR_v | sh",
        'trap "$V" EXIT',
        'source <(echo "$V")',
        'source <(cat "$RECIPE_VAR_v_FILE")',
        'bash "$RECIPE_VAR_v_FILE"',
        '. "$RECIPE_VAR_v_FILE"',
        'sh -e "$V_FILE" arg',
        'f=$RECIPE_VAR_v_FILE; bash "$f"',
        'echo "$V" > f; c=$(cat f); eval "$c"',
        'find . -exec sh -c "$V" \\;',
        'x=$V; eval "$x"',
        'n=RECIPE_VAR_v; eval "${!n}"',
        'for n in ${!RECIPE_VAR_@}; do eval "${!n}"; done',
        'ssh host "echo $V"',
        "bash <<EOF\necho $V\nEOF",
        "bash <<'EOF'\neval \"$V\"\nEOF",
        'bash <<< "$V"',
        "cat > x.sh <<EOF\n$V\nEOF\nbash x.sh",
        'PS4="$V"; set -x; echo',
        'export BASH_ENV="$V"; bash x',
        'git rebase -x "$V"',
        'a=(bash -c "$V"); "${a[@]}"',
        'c="bash -c"; $c "$V"',
        "e=eval; $e $V",
        'e""val "$V"',
        '"$SHELL" -c "$V"',
        'tcsh -c "$V"',
        "parallel ::: $V",
        'echo "{{a}}"; eval "$V"',
        'eval "${V:-true}"',
        'echo "$V" > f; cat f | bash',
        'echo "$V" > ./f; bash < f',
        'echo "$V" > f; eval "$(cat f)"',
        'echo "$V" > f; eval "$(< f)"',
        'echo "$V" > f; source <(cat f)',
        'echo "$V" > f; sh -c "$(cat f)"',
        'echo "$V" > >(bash)',
        'f() { bash; }; echo "$V" | f',
        'f() { bash -s; }; f <<< "$V"',
        'exec 4<<< "$V"; bash <&4',
        'exec < <(echo "$V"); sh',
        'coproc bash; echo "$V" >&${COPROC[1]}',
        'echo "$V" | tee >(sh -s) > log',
        'tee >(sudo bash) <<< "$V"',
        'jq -r .cmd "$AMPLIHACK_CONTEXT_FILE" | bash',
        'eval "$(jq -r .cmd "$AMPLIHACK_CONTEXT_FILE")"',
        'while read -r c; do eval "$c"; done < <(jq -r ".c[]" "$AMPLIHACK_CONTEXT_FILE")',
    ],
)
def test_what_a_shell_runs_is_told(script: str) -> None:
    (warning,) = told(script)
    assert "is run as a bash program on line" in warning


@pytest.mark.parametrize("script", ["$V --flag", "sudo $V", "if $V; then true; fi", "x=$($V)"])
def test_what_is_run_as_a_command_is_told(script: str) -> None:
    (warning,) = told(script)
    assert "the value of $V is the command that" in warning


@pytest.mark.parametrize(
    "script",
    [
        'echo "$V" | grep x',
        "bash -c 'echo \"$V\"'",
        'bash -c \'echo "$1"\' _ "$V"',
        'bash run.sh "$V"',
        "bash <<'EOF'\necho \"$V\"\nEOF",
        'eval "x=\\$V"',
        'eval "echo ${V@Q}"',
        'eval "echo ${#V}"',
        'eval "$(declare -p V)"',
        'trap \'rm -f "$f"\' EXIT; echo "$V"',
        '. ./lib.sh; echo "$V"',
        'eval "tool --context $AMPLIHACK_CONTEXT_FILE"',
        'bash run.sh "$AMPLIHACK_CONTEXT_FILE"',
        'eval "$PATH"',
        'eval "$DATA"',
        'eval "$OTHER"',
        'git commit -m "$V"',
        'curl https://x | bash; echo "$V"',
        'bash < install.sh; echo "$V"',
        'bash <<EOF\ntrue\nEOF\necho "$V"',
        'docker run -i "$V" bash',
        'bash install.sh && echo "$V"',
        'bash --version; echo "$V"',
        'echo "$V" > f; cat g | bash',
        'echo "$V" > f; bash < g; cat f | sort',
        'echo "$V" | tee >(sort > f) | cat',
        'echo "$V" > >(bash -c "cat > f")',
        "# eval $V\ntrue",
    ],
)
def test_what_is_only_printed_or_passed_on_is_not_told(script: str) -> None:
    assert told(script) == ()


def test_the_line_is_told() -> None:
    assert told('echo\n\neval "$RECIPE_VAR_v"') == (
        "the value of $RECIPE_VAR_v is run as a bash program on line 3",
    )


def test_programs_in_other_languages_are_found_for_the_check() -> None:
    (found,) = run_variables('python3 -c "$V"', frozenset({"V"}))
    assert (found.name, found.language) == ("V", "python")


@pytest.mark.parametrize("script", ['eval "$CMD"', 'git rebase -x "$CMD"', 'echo "$CMD" | sh'])
def test_any_value_in_env_that_the_script_runs_is_told(script: str) -> None:
    warnings = check_env(script, {"CMD": "{{v}}"}, {"v": "touch x"})
    assert warnings == ("the value of v is run as a bash program, through $CMD",)


def test_no_command_that_takes_code_is_overlooked_by_its_name() -> None:
    names = MAY_RUN_INPUT | CODE_NAMES | LAUNCHERS.keys() | PROGRAM_VARIABLES | set(SOURCES)
    assert [name for name in sorted(names) if not may_run_code(f"cat x; true {name} y")] == []
    assert not may_run_code('echo "$V" | grep x && jq .a file.json')
