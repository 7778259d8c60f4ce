from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

from amplihack.recipes.ports import ShellRequest
from amplihack.recipes.templates import ShellScript
from amplihack.recipes.values import Value
from amplihack.system.shell import BashShell


def outputs(folder: Path, source: str, scopes: list[dict[str, Value]]) -> list[str]:
    """Run one script with one shell in each of the scopes, and return what it printed."""
    shell = BashShell(dict(os.environ), folder)

    async def run() -> list[str]:
        requests = [
            ShellRequest(script=ShellScript(source, {}), scope=scope, working_dir=str(folder))
            for scope in scopes
        ]
        return [(await shell.run(request, lambda _stream, _lines: None)).stdout for request in requests]

    return asyncio.run(run())


def test_every_step_finds_exactly_its_own_variables_in_the_context_file(tmp_path: Path) -> None:
    same: Value = ["kept"]
    scopes: list[dict[str, Value]] = [
        {"b": 1, "a": same},
        {"c": 1, "a": same},  # beside it, with other names
        {"c": True, "a": same},
        {"c": True},
        {},
        {"b": None, "a": "new", "é": "\N{SNOWMAN}"},
    ]
    printed = outputs(tmp_path, 'cat "$AMPLIHACK_CONTEXT_FILE"', scopes)
    assert [json.loads(text) for text in printed] == scopes
    assert printed[0] == '{"a":["kept"],"b":1}'
    assert printed[2] == '{"a":["kept"],"c":true}'
    assert list(tmp_path.iterdir()) == []


def test_a_variable_that_changes_between_steps_is_seen_changed(tmp_path: Path) -> None:
    scopes: list[dict[str, Value]] = [{"v": "one"}, {"v": "two"}, {"w": "three"}]
    assert outputs(tmp_path, 'echo "$V-$RECIPE_VAR_v"', scopes) == ["one-one\n", "two-two\n", "-\n"]


def test_a_program_of_the_script_finds_small_variables(tmp_path: Path) -> None:
    assert outputs(tmp_path, "printenv | grep -c ^RECIPE_VAR_n", [{"n1": 1, "n2": "x"}]) == ["2\n"]
