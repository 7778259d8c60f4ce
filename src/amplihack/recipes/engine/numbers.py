"""Render numbers of a recipe that may be templates."""

from __future__ import annotations

from amplihack.documents.durations import EXPECTED, seconds_in
from amplihack.recipes.engine.frame import Frame
from amplihack.recipes.engine.job import StepFailure
from amplihack.recipes.model import Number
from amplihack.recipes.templates import render_text
from amplihack.recipes.values import COUNT, whole_number


def count_of(number: Number, frame: Frame, field: str, *, least: int = 0) -> int:
    """Return the whole number, rendered if it is a template. Raises StepFailure if the result is none.

    A template is held to what the field may say itself.
    """
    if not isinstance(number, str):
        return int(number)
    text = render_text(number, frame.view()).text.strip()
    value = whole_number(text, least=least)
    if value is None:
        raise _wrong(field, f"a whole number, {COUNT.format(least=least)}", number, text)
    return value


def seconds_of(duration: Number, frame: Frame, field: str) -> float:
    """Return the seconds, rendered if they are a template. Raises StepFailure if the result says no time."""
    if not isinstance(duration, str):
        return float(duration)
    text = render_text(duration, frame.view()).text
    seconds = seconds_in(text)
    if seconds is None:
        raise _wrong(field, EXPECTED, duration, text.strip())
    return seconds


def _wrong(field: str, expected: str, template: str, text: str) -> StepFailure:
    what = f"'{field}' should be {expected}, but {template} renders to '{text}'"
    return StepFailure(what, fix="correct the value that the placeholder stands for")
