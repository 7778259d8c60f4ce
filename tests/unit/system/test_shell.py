from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from amplihack.recipes.ports import ShellRequest
from amplihack.recipes.templates import ShellScript
from amplihack.recipes.tracked_variables import TrackedValues
from amplihack.recipes.values import Value
from amplihack.system.shell import BashShell


def outputs(
    folder: Path, source: str, scopes: list[dict[str, Value]], scratch: Path | None = None
) -> list[str]:
    """Run one script with one shell in each of the scopes, and return what it printed."""
    shell = BashShell(dict(os.environ), scratch or folder)

    async def run() -> list[str]:
        requests = [
            ShellRequest(script=ShellScript(source, {}), scope=scope, working_dir=str(folder))
            for scope in scopes
        ]
        try:
            return [(await shell.run(request, lambda _stream, _lines: None)).stdout for request in requests]
        finally:
            await shell.close()

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


@pytest.mark.parametrize(
    "harm",
    [
        'rm "$f"',
        'rm "$f"; mkdir "$f"',
        'rm "$f"; mkfifo "$f"',
        'chmod 0 "$f"',
        'chmod 644 "$f"',
        'ln "$f" "$kept"',
        'mv "$f" "$kept"; ln -s "$kept" "$f"',
        'printf %9999s x > "$f"',
    ],
)
def test_what_a_step_does_to_its_context_file_is_no_concern_of_the_next(tmp_path: Path, harm: str) -> None:
    scopes: list[dict[str, Value]] = [{"n": "one"}, {"n": "another"}, {}]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    names = 'f=$AMPLIHACK_CONTEXT_FILE; kept="$PWD/kept-$RECIPE_VAR_n"'
    printed = outputs(tmp_path, f'{names}; cat "$f"; stat -c " %a" "$f"; {harm}', scopes, scratch)
    assert printed == ['{"n":"one"} 600\n', '{"n":"another"} 600\n', "{} 600\n"]
    kept = {path.name: path.read_text() for path in tmp_path.glob("kept-*")}
    assert kept in ({}, {"kept-one": '{"n":"one"}', "kept-another": '{"n":"another"}', "kept-": "{}"})


def test_the_steps_of_a_run_write_one_context_file_again(tmp_path: Path) -> None:
    scopes: list[dict[str, Value]] = [{"n": number} for number in range(3)]
    assert len(set(outputs(tmp_path, 'echo "$AMPLIHACK_CONTEXT_FILE"', scopes))) == 1


def test_a_variable_that_changes_between_steps_is_seen_changed(tmp_path: Path) -> None:
    scopes: list[dict[str, Value]] = [{"v": "one"}, {"v": "two"}, {"w": "three"}]
    assert outputs(tmp_path, 'echo "$V-$RECIPE_VAR_v"', scopes) == ["one-one\n", "two-two\n", "-\n"]


def test_a_program_of_the_script_finds_small_variables(tmp_path: Path) -> None:
    assert outputs(tmp_path, "printenv | grep -c ^RECIPE_VAR_n", [{"n1": 1, "n2": "x"}]) == ["2\n"]


def test_what_was_written_during_steps_that_start_no_program_is_there_for_the_next_that_does(
    tmp_path: Path,
) -> None:
    scope = TrackedValues({"a": 1})
    shell = BashShell(dict(os.environ), tmp_path)

    async def run() -> list[str]:
        printed: list[str] = []
        for number, source in enumerate(
            [
                "echo $RECIPE_VAR_a",
                'cat "$AMPLIHACK_CONTEXT_FILE"',
                "echo $N1",
                "echo",
                "env | grep ^RECIPE_VAR_",
            ]
        ):
            request = ShellRequest(script=ShellScript(source, {}), scope=scope, working_dir=str(tmp_path))
            printed.append((await shell.run(request, lambda _stream, _lines: None)).stdout)
            scope[f"n{number}"] = number
        await shell.close()
        return printed

    first, context, mentioned, _, env = asyncio.run(run())
    assert (first, json.loads(context), mentioned) == ("1\n", {"a": 1, "n0": 0}, "1\n")
    assert set(env.split()) == {"RECIPE_VAR_a=1", *(f"RECIPE_VAR_n{each}={each}" for each in range(4))}


@pytest.mark.parametrize("way", ["file", "function"])
def test_programs_that_bash_starts_beside_the_script_find_the_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "file":
        (tmp_path / "rc").write_text('cat "$AMPLIHACK_CONTEXT_FILE"\n')
        monkeypatch.setenv("BASH_ENV", str(tmp_path / "rc"))
    else:
        monkeypatch.setenv("BASH_FUNC_echo%%", '() { cat "$AMPLIHACK_CONTEXT_FILE"; }')
    assert outputs(tmp_path, "echo", [{"a": 1}])[0].strip() == '{"a":1}'
