"""Fields of one step that say different things, or leave each other nothing to do."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.recipes.reading import Fields, Report

_POLICIES = ("on_error", "continue_on_error", "fatal")  # the first that is there counts


def tell_disagreements(fields: Fields, owner: str, report: Report) -> None:
    """Report them as warnings: what counts is what always did."""
    for name, what, fix in _error_policies(fields):
        report.add("contradiction", f"{owner}{what}", fields.where(name), fix, "warning")
    idle, whole = fields.number("idle_timeout"), fields.values.get("timeout")
    if idle and isinstance(whole, float) and 0 < whole <= idle:
        what = f"{owner}'idle_timeout' has no effect: `timeout` is not longer"
        fix = "make it shorter than `timeout`, or remove it"
        report.add("no-effect", what, fields.where("idle_timeout"), fix, "warning")


def _error_policies(fields: Fields) -> Iterator[tuple[str, str, str]]:
    """Yield the fields that say otherwise than the first about what a failure does."""
    said = {name: goes_on for name in _POLICIES if (goes_on := _goes_on(fields, name)) is not None}
    if len(set(said.values())) < 2:
        return
    first = "on_error" if "on_error" in said else next(name for name, goes_on in said.items() if goes_on)
    for name in (each for each in said if each != first and said[each] != said[first]):
        yield name, f"'{name}' says otherwise than '{first}', which counts", "keep one of the two"


def _goes_on(fields: Fields, name: str) -> bool | None:
    """Return whether a field lets the run go on after a failure; None if it says nothing."""
    if name == "on_error":
        word = fields.word(name)
        return None if word is None else word != "fail"
    flag = fields.flag(name)
    return flag if flag is None or name != "fatal" else not flag
