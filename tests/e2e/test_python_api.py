"""A program uses recipes from Python: every name is there, typed, documented, and its examples run."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.pages import blocks
from tests.support.workspace import Workspace

import amplihack

NAMES: list[str] = vars(amplihack)["__all__"]
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
EXAMPLES = [block.text for block in blocks(PAGE, "python")]


@pytest.mark.parametrize("name", NAMES)
def test_every_exported_name_exists(name: str) -> None:
    assert getattr(amplihack, name) is not None


def test_names_are_exported_once_and_dir_shows_them() -> None:
    assert len(NAMES) == len(set(NAMES))
    assert dir(amplihack) == sorted(NAMES)


def test_a_name_that_is_not_exported_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'amplihack' has no attribute 'nothing'"):
        amplihack.nothing  # type: ignore[attr-defined]  # noqa: B018 - it is not there: that is the test


def test_the_types_name_the_same_things_from_the_same_places() -> None:
    tree = ast.parse((ROOT / "src" / "amplihack" / "__init__.pyi").read_text(encoding="utf-8"))
    stated = {
        alias.asname: f"{node.module}.{alias.name}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes: dict[str, str] = {"__version__": "amplihack.version", **vars(amplihack)["_HOME_OF"]}
    assert stated == {name: f"{module}.{name}" for name, module in homes.items()}


@pytest.mark.parametrize("name", NAMES)
def test_every_exported_name_is_explained_on_the_page(name: str) -> None:
    assert f"`{name}" in PAGE


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("Recipe", "Stage", "Step")])
def test_every_exported_name_that_one_calls_is_in_an_example(name: str) -> None:
    assert any(re.search(rf"\b{name}\b", example) for example in EXAMPLES)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_every_example_on_the_page_runs(workspace: Workspace, number: int) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", EXAMPLES[number]],
        cwd=workspace.path,
        env=workspace.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
