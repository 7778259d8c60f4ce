"""Report fields of one step that say different things, or leave each other nothing to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from amplihack.recipes.reading import Fields, Report

_POLICIES = ("on_error", "continue_on_error", "fatal")  # the first that is there counts
_NAMING = ("output", "collect", "output_exit_code", "output_stderr")
_KEEP_ONE = "keep one of the two"
Disagreement: TypeAlias = tuple[str, str, str]  # the field, what is wrong, how to fix it


def tell_disagreements(fields: Fields, owner: str, report: Report) -> None:
    """Report them as warnings: what counts is what always did."""
    for find in (_error_policies, _json_or_text, _again_or_never, _names):
        for name, what, fix in find(fields):
            report.add("contradiction", f"{owner}{what}", fields.where(name), fix, "warning")
    idle, whole = fields.number("idle_timeout"), fields.values.get("timeout")
    if idle and isinstance(whole, float) and 0 < whole <= idle:
        what = f"{owner}'idle_timeout' has no effect: `timeout` is not longer"
        fix = "make it shorter than `timeout`, or remove it"
        report.add("no-effect", what, fields.where("idle_timeout"), fix, "warning")


def _error_policies(fields: Fields) -> Iterator[Disagreement]:
    """Yield the fields that say otherwise than the first about what a failure does."""
    said = {name: goes_on for name in _POLICIES if (goes_on := _goes_on(fields, name)) is not None}
    if len(set(said.values())) < 2:
        return
    first = "on_error" if "on_error" in said else next(name for name, goes_on in said.items() if goes_on)
    for name in (each for each in said if each != first and said[each] != said[first]):
        yield name, f"'{name}' says otherwise than '{first}', which counts", _KEEP_ONE


def _goes_on(fields: Fields, name: str) -> bool | None:
    """Return whether a field lets the run go on after a failure; None if it says nothing."""
    if name == "on_error":
        word = fields.word(name)
        return None if word is None else word != "fail"
    flag = fields.flag(name)
    return flag if flag is None or name != "fatal" else not flag


def _json_or_text(fields: Fields) -> Iterator[Disagreement]:
    """Yield what keeps a result as text beside what looks for JSON in it, or the other way round."""
    wanted = fields.values.get("parse_json") not in (None, False)
    required = fields.flag("parse_json_required")
    asking = {
        "parse_json": wanted,
        "parse_json_required": required,
        "json_schema": "json_schema" in fields,
    }
    if fields.word("output_type") == "text" and any(asking.values()):
        by = next(name for name, asks in asking.items() if asks)
        yield "output_type", f"'output_type: text' stands beside '{by}', which counts", _KEEP_ONE
    if fields.flag("parse_json") is False and required:
        what = "'parse_json: false' stands beside 'parse_json_required: true', which counts"
        yield "parse_json", what, _KEEP_ONE


def _again_or_never(fields: Fields) -> Iterator[Disagreement]:
    """Yield what does a step again, where doing it twice does harm."""
    if fields.flag("recheck") and fields.flag("idempotent") is False:
        what = "'recheck: true' runs the step again, and 'idempotent: false' says that this does harm"
        yield "recheck", what, _KEEP_ONE
    if "retry" in fields.nodes and fields.flag("idempotent") is False:
        what = "'retry' does the step again after a failure, and 'idempotent: false' says that this does harm"
        yield "retry", what, f"{_KEEP_ONE}: `idempotent` only keeps a resumed run from repeating it unasked"


def _names(fields: Fields) -> Iterator[Disagreement]:
    """Yield the fields that give the name of another one to something else, of which one is then lost."""
    first: dict[str, str] = {}
    for field in _NAMING:
        name = fields.word(field)
        if name and first.setdefault(name, field) != field:
            what = f"'{first[name]}' and '{field}' are both called {name}, so that one of them is lost"
            yield field, what, "give each a name of its own"
