"""The commands of a chat: told to users, and completed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from amplihack.app.sessions.chat_commands import ALIASES, COMMANDS, answered, completions
from amplihack.errors import UsageError
from amplihack.sessions.chat_input import SlashCommand, command_of

PAGE = Path(__file__).parents[4] / "docs" / "sessions.md"
NOBODY: Any = None  # a chat that is not asked


def test_every_command_is_in_the_docs_and_can_be_typed() -> None:
    page = PAGE.read_text("utf-8")
    for name, row in COMMANDS.items():
        assert f"`/{name} {row.argument}".rstrip() + "`" in page
        assert command_of(f"/{name}") == SlashCommand(name)
    assert set(ALIASES.values()) <= set(COMMANDS)
    assert not set(ALIASES) & set(COMMANDS)


def test_what_is_no_command_is_told_with_what_was_meant() -> None:
    for typed, fix in (("hlep", "/help"), ("quti", "/quit"), ("xyzzy", "// begins a prompt")):
        with pytest.raises(UsageError) as refused:
            asyncio.run(answered(NOBODY, SlashCommand(typed)))
        assert fix in refused.value.fix


def test_commands_are_completed_and_prompts_are_not() -> None:
    assert "/fork" in completions("/f")
    assert completions("fo") == []
    assert completions("/fork 1") == []
