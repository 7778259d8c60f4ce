"""Scripts that are read at once are read as the whole reader of bash would read them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplihack.errors import TemplateError
from amplihack.recipes.check.plain_scripts import is_plain
from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.templates.bash.command_names import BUILTINS, RESERVED
from amplihack.recipes.templates.bash.places import Place
from amplihack.recipes.templates.bash.plain_script import plain_places
from amplihack.recipes.templates.bash.program_tables import TAKE_DATA, is_no_interpreter
from amplihack.recipes.templates.bash.read import read_fully

# Words that mean something to bash or to the reader, and pieces that words are made of.
PIECES = (
    *("{{v}}", "{{ w.x }}", '{{a["b c"]}}', "{{a['it']}}", "{v}", "${{v}}", "{{v", "}}", "{{#v}}", "{", "}"),
    *(
        "echo",
        "git",
        "./run.sh",
        "bin/deploy-it",
        "a=b",
        "-c",
        "--x=",
        "-v",
        "n",
        "1",
        "*",
        "?",
        "~",
        "[",
        "]",
    ),
    *(
        "bash",
        "python3",
        "/usr/bin/sh",
        "my-bash",
        "su",
        "env",
        "eval",
        "sudo",
        "xargs",
        "ssh",
        "at",
        ".",
        "jq",
    ),
    *(
        "declare",
        "export",
        "read",
        "printf",
        "let",
        "test",
        "set",
        "unset",
        "wait",
        "command",
        "source",
        "sed",
        "make",
        "-x",
        "foreach",
        "rebase",
        "entr",
        "tar",
        "tmux",
    ),
    *("if", "then", "fi", "for", "do", "done", "case", "esac", "in", "time", "!", "function", "coproc", "[["),
    *(" ", " ", "  ", "\t", "\n", "\\\n", "\\", ";", "&&", "||", "|", "&", "(", ")", "<", ">", "<<EOF", ">&"),
    *(
        '"',
        '"',
        "'",
        "'",
        "$",
        "`",
        "#",
        "$(",
        "é",
        "\r",
        "\0",
        '"a b"',
        "'a b'",
        '"{{v}}"',
        "'{{v}}'",
        "=",
        "+=",
    ),
)
SAFE = ('"{{v}}"', "{{v}}", "--x={{w}}", "'a \"b\"'", "x", "su", '"it\'s {{v}}, ok"', "*.txt")


def facts(places: tuple[Place, ...]) -> list[dict[str, Any]]:
    names = [name for name in dir(Place) if not name.startswith("_") and name != "places"]
    return [{**vars(place), **{name: getattr(place, name) for name in names}} for place in places]


def same(script: str) -> bool:
    """Check one script, and tell whether it was plain."""
    placeholders = find_placeholders(script)
    places = plain_places(script, placeholders)
    if places is None:
        return False
    try:
        full = read_fully(script, placeholders)
    except TemplateError as error:
        raise AssertionError(script) from error
    assert facts(places) == facts(full.places), script
    assert full.edits == (), script
    assert is_plain(script), script  # so that the check need not ask bash
    return True


@settings(max_examples=1_000, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_any_pieces_in_a_row_are_judged_as_bash_judges_them(script: str) -> None:
    same(script)


@settings(max_examples=1_000, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(PIECES), st.lists(st.sampled_from((*SAFE, *PIECES)), max_size=3)),
        max_size=3,
    ),
    st.lists(
        st.sampled_from(("\n", ";", " && ", " || ", "\n\n", " ; ", " | ", "|", " |& ")),
        min_size=3,
        max_size=3,
    ),
)
def test_lines_of_commands(lines: list[tuple[str, list[str]]], between: list[str]) -> None:
    commands = [" ".join((name, *words)) for name, words in lines]
    same(
        "".join(f"{command}{after}" for command, after in zip(commands, between, strict=False)).rstrip("|& ")
    )


@pytest.mark.parametrize(
    "script",
    [
        "echo 1 {{v}} {{w}}",
        'git commit -m "{{message}}"\n',
        "echo a | grep {{v}}",
        'ls "{{a}} & b" {{c}} | grep -v "{{d}}|x" | wc -l || echo {{e}} && cat {{f}}|sort; tail {{g}}\n',
        "cd {{dir}} && ./run.sh --name=\"{{a}}, it's {{b}}\" 'as it is'; make -j4\n",
    ],
)
def test_such_scripts_are_plain(script: str) -> None:
    assert same(script)


@pytest.mark.parametrize(
    "script",
    [
        "bash -c {{v}}",
        "test {{v}} -eq 1",
        "{{v}} x",
        "x={{v}}",
        "echo su -c {{v}}",
        "uv run bash -c {{v}}",
        "git rebase -x {{v}}",
        'git -c "alias.x=!{{v}}" x',
        "make A={{v}}",
        "tar -I{{v}} -xf a",
        'echo "$(cat {{v}})"',
        "echo {{v}} | bash",
        "curl {{v}} | grep x | sh -s {{w}}",
        "echo {{v}} | read name",
        "echo {{v}} | xargs rm",
        "echo {{v}} |& grep x",
        "echo {{v}} | { cat; }",
        "echo {{v}} |",
        "if {{v}}; then true; fi",
        "echo '{{v}}'",
        "echo {{v}} > f",
        "echo {a,{{v}}}",
    ],
)
def test_such_scripts_are_not(script: str) -> None:
    assert not same(script)


def test_what_is_told_at_once_is_what_the_tables_say() -> None:
    assert [name for name in sorted(TAKE_DATA) if not is_no_interpreter(name)] == []
    assert not TAKE_DATA & {*BUILTINS, *RESERVED} - {"printf"}
