"""What is typed in a chat: which inputs need another line, which are commands, and what prompts say."""

from __future__ import annotations

import pytest

from amplihack.sessions.chat_input import SlashCommand, as_prompt, command_of, goes_on


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("hello", False),
        ("", False),
        ("one \\", True),
        ("C:\\\\", False),  # two backslashes are one, and no end of line
        ("one \\\ntwo", False),
        ("one \\\ntwo \\", True),
        ('"""', True),
        ('"""one\ntwo', True),
        ('"""one\ntwo\\', True),
        ('"""one\ntwo"""', False),
        ('say """', False),
    ],
)
def test_an_input_goes_on_after_a_backslash_and_inside_quotes(text: str, more: bool) -> None:
    assert goes_on(text) is more


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("  hello  ", "hello"),
        ("one \\\ntwo", "one \ntwo"),
        ("a pasted\ntext", "a pasted\ntext"),
        ('"""\none\n  two\n"""', "one\n  two"),
        ('"""one"""', "one"),
        ("//etc is a directory", "/etc is a directory"),
    ],
)
def test_a_prompt_is_what_was_meant(text: str, prompt: str) -> None:
    assert as_prompt(text) == prompt


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/help", SlashCommand("help")),
        (" /MODEL  a/b ", SlashCommand("model", "a/b")),
        ("/?", SlashCommand("?")),
        ("/etc/hosts is what?", None),
        ("//help", None),
        ("/ help", None),
        ("help", None),
        ("/help\nme", SlashCommand("help", "me")),
    ],
)
def test_commands_begin_with_a_slash(text: str, command: SlashCommand | None) -> None:
    assert command_of(text) == command
