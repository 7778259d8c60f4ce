"""Decode the bounds of an input, and report those that say nothing, or that no value is within."""

from __future__ import annotations

import re
from typing import Final

from amplihack.recipes.input_bounds import BOUNDS
from amplihack.recipes.inputs import TYPES
from amplihack.recipes.reading import Fields, Report
from amplihack.recipes.values import Value

_PAIRS: Final = (("minimum", "maximum"), ("min_length", "max_length"))


def read_bounds(rule: Fields, kind: str, owner: str, report: Report) -> tuple[str, dict[str, Value]]:
    """Return the type of an input that has bounds, and these bounds."""
    said = [name for name in BOUNDS if name in rule.nodes]
    if not kind and said:
        kind = BOUNDS[said[0]].kinds[0]
    found: dict[str, Value] = {}
    for name in said:
        if kind not in BOUNDS[name].kinds:
            if kind in TYPES:  # another type is told of already, and nothing is checked
                what = f"{owner}'{name}' says nothing of the type '{kind}'"
                fix = f"write `type: {BOUNDS[name].kinds[0]}`, or remove it"
                report.add("wrong-type", what, rule.where(name), fix)
            continue
        if name in rule.values and _is_readable(name, rule, owner, report):  # others are told already
            found[name] = rule.word(name) if name == "pattern" else rule.data(name)
    _tell_impossible(found, rule, owner, report)
    return kind, found


def _is_readable(name: str, rule: Fields, owner: str, report: Report) -> bool:
    """Tell whether a bound can be used; a pattern that is none is reported."""
    if name != "pattern":
        return True
    try:
        re.compile(rule.word(name) or "")
    except re.error as error:
        what = f"{owner}'pattern' should be a regular expression: {error}"
        report.add("wrong-type", what, rule.where(name), "write it in single quotes, such as '^v[0-9]+$'")
        return False
    return True


def _tell_impossible(found: dict[str, Value], rule: Fields, owner: str, report: Report) -> None:
    for least, most in _PAIRS:
        low, high = found.get(least), found.get(most)
        if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
            what = f"{owner}no value is within its bounds: '{least}' is more than '{most}'"
            report.add("contradiction", what, rule.where(least), "correct one of the two")
