from __future__ import annotations

import pytest

from amplihack.recipes.templates.no_programs import changes_bash, starts_no_program


@pytest.mark.parametrize(
    "script",
    [
        "echo",
        'echo 1 "$RECIPE_VAR_a" ${B} x=y',
        "echo a; echo b",
        "\necho a\n\n  echo 'b $(ls)'\n",
        "true && false || :",
        'echo "a \\$(ls) \\`"',
        'echo "$X" >&2',
        "echo a > f.txt 2>&1",
        "printf '%s\\n' $X",
        'printf "%s\\n" "$X" >>log',
        "printf hello",
        "pwd -P; exit 3",
    ],
)
def test_a_script_of_what_bash_does_itself_starts_no_program(script: str) -> None:
    assert starts_no_program(script)


@pytest.mark.parametrize(
    "script",
    [
        "",
        "ls",
        "./echo a",
        "echoo a",
        "true/ls",
        "echo $(ls)",
        'echo "$(ls)"',
        'echo "\\\\$(ls)"',
        "echo `ls`",
        'echo "${X:-$(ls)}"',
        "echo ${!X}",
        "echo $((1))",
        "echo <(ls)",
        "echo >(ls)",
        "echo a | cat",
        "echo a &",
        "echo a; ls",
        "echo a\nls",
        "echo a && ls",
        "echo a >&ls",
        "A=b echo a",
        "test -v X",
        "echo 'a",
        # each of them calculates with `a[$(ls)]`
        "printf -v 'a[$(ls)]' x",
        "printf '-v' 'a[$(ls)]' x",
        "printf \"$X\" 'a[$(ls)]' x",
        "printf ''-v 'a[$(ls)]' x",
        "printf >f -v 'a[$(ls)]' x",
        "printf 2>f -v 'a[$(ls)]' x",
        "printf * 'a[$(ls)]' x",
        "printf '%(%H)T' 0",  # asks for TZ
    ],
)
def test_in_doubt_a_script_starts_programs(script: str) -> None:
    assert not starts_no_program(script)


def test_some_variables_let_bash_run_more_than_the_script() -> None:
    assert changes_bash(["PATH", "BASH_ENV"])
    assert changes_bash(["BASH_FUNC_echo%%"])
    assert changes_bash(["SHELLOPTS"])
    assert not changes_bash(["PATH", "HOME", "BASH"])
