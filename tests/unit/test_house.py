"""Rules of the house that no tool knows: one public name has one meaning, one open set has one table."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from amplihack.app import run_listeners
from amplihack.bundles import schemes
from amplihack.bundles.sections.table import SECTIONS
from amplihack.cli import commands
from amplihack.recipes import fields
from amplihack.recipes.conditions import functions
from amplihack.system.agent_tools import table

SOURCE = Path(__file__).parents[2] / "src"

# Names that programs written for `amplifier_foundation` import from it, while ours is the truth behind them.
_OF_THE_FACADE = {"Bundle", "ContextFile", "MentionResult", "Origin"}


def public_classes() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(SOURCE)))
    return found


def test_no_two_public_classes_share_a_name() -> None:
    doubled = {name: places for name, places in public_classes().items() if len(places) > 1}
    assert {name: places for name, places in doubled.items() if name not in _OF_THE_FACADE} == {}


def test_the_exceptions_are_still_needed() -> None:
    places = public_classes()
    assert {name for name in _OF_THE_FACADE if len(places[name]) == 2} == _OF_THE_FACADE


# the open sets of CONTRIBUTING.md --------------------------------------------------------------------------

CONTRIBUTING = SOURCE.parent / "CONTRIBUTING.md"
PACKAGE = SOURCE / "amplihack"


def guide() -> dict[str, list[str]]:
    """Return the files that each row of "To add something" names."""
    rows = re.findall(r"^\| (an? [^|]+) \| ([^|]+) \|", CONTRIBUTING.read_text("utf-8"), re.MULTILINE)
    return {what: re.findall(r"`([\w/]+(?:\.py|/))`", touch) for what, touch in rows}


OPEN_SETS: dict[str, tuple[str, Callable[[], Iterable[str]]]] = {
    "a function of conditions": ("recipes/conditions/functions.py", lambda: functions.FUNCTIONS),
    "an agent tool": ("system/agent_tools/table.py", lambda: table.AGENTS),
    "a listener": ("app/run_listeners.py", lambda: run_listeners.LISTENERS),
    "a scheme of sources": ("bundles/schemes.py", lambda: schemes.SCHEMES),
    "a section of bundles": ("bundles/sections/table.py", lambda: [each.name for each in SECTIONS]),
    "a command": ("cli/commands.py", lambda: commands.COMMANDS),
    "a field of recipes": ("recipes/fields.py", lambda: [each.name for each in fields.STEP.fields]),
}


def test_the_guide_names_files_that_are_there() -> None:
    found = guide()
    assert found.keys() >= {"a finding of the check", *OPEN_SETS}
    for what, paths in found.items():
        assert paths, what
        assert [path for path in paths if not (PACKAGE / path).exists()] == []


def test_the_walks_and_the_map_name_files_that_are_there() -> None:
    text = CONTRIBUTING.read_text("utf-8")
    walks = re.findall(
        r"`((?:cli|app|recipes|bundles|system)/[\w/]+)`", text.split("Three walks")[1].split("## To")[0]
    )
    assert len(walks) >= 20
    assert [walk for walk in walks if not (PACKAGE / f"{walk}.py").is_file()] == []
    rooms = re.findall(r"`([\w/]+(?:\.py|/))`", text.split("| room |")[1].split("Three walks")[0])
    assert [room for room in rooms if not (PACKAGE / room).exists() and not (SOURCE / room).exists()] == []


@pytest.mark.parametrize("what", OPEN_SETS)
def test_an_open_set_is_one_table_and_the_guide_names_it(what: str) -> None:
    home, names = OPEN_SETS[what]
    assert home in guide()[what]
    known = set(names())
    assert len(known) > 3
    # What only the facade uses may list the names that the old API has: they will never be more.
    others = [
        path
        for path in sorted(PACKAGE.rglob("*.py"))
        if path != PACKAGE / home and "foundation" not in path.parts
    ]
    assert [str(path.relative_to(SOURCE)) for path in others if lists_most_of(path, known)] == []


def lists_most_of(path: Path, names: set[str]) -> bool:
    """Tell whether a file writes down more than half of the names in one list, set, tuple, map or pattern."""
    return any(len(texts & names) > len(names) / 2 for texts in written_together(path))


@cache
def written_together(path: Path) -> list[set[str]]:
    """Return the texts of each list, set, tuple, map and `match` of a file that holds some."""
    found = [set(_texts(node)) for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    return [texts for texts in found if len(texts) > 1]


def _texts(node: ast.AST) -> Iterator[str]:
    parts: Iterable[ast.AST | None] = ()
    match node:
        case ast.List(elts=elements) | ast.Set(elts=elements) | ast.Tuple(elts=elements):
            parts = elements
        case ast.Dict(keys=keys):
            parts = keys
        case ast.Match(cases=cases):
            parts = [each for case in cases for each in ast.walk(case.pattern)]
    yield from (
        part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )


def test_a_second_table_would_be_seen(tmp_path: Path) -> None:
    second = tmp_path / "second.py"
    second.write_text("INSTALL = {'claude': 1, 'copilot': 2, 'codex': 3}\n", "utf-8")
    assert lists_most_of(second, {"claude", "copilot", "codex", "command"})


# the design pages ------------------------------------------------------------------------------------------

DESIGN = sorted((SOURCE.parent / "docs" / "design").glob("*.md"))


@cache
def python_files() -> str:
    """Return the paths of all files, each behind a slash and before a newline."""
    folders = (SOURCE, SOURCE.parent / "tests", SOURCE.parent / "benchmarks")
    files = (path.relative_to(SOURCE.parent) for folder in folders for path in folder.rglob("*.py"))
    return "".join(f"/{path.as_posix()}\n" for path in files)


@pytest.mark.parametrize("page", DESIGN, ids=lambda page: page.stem)
def test_a_design_page_names_files_that_are_there(page: Path) -> None:
    named = re.findall(r"`([\w/]+\.py)`", page.read_text("utf-8"))
    assert [each for each in named if f"/{each}\n" not in python_files()] == []


def test_the_design_pages_name_files_at_all() -> None:
    assert sum(page.read_text("utf-8").count(".py`") for page in DESIGN) > 20
