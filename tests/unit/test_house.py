"""Rules of the house that no tool knows: one public name has one meaning."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

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
