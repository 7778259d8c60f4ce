"""Render numbers of a recipe that may be templates."""

from __future__ import annotations

from amplihack.recipes.engine.frame import Frame
from amplihack.recipes.engine.job import StepFailure
from amplihack.recipes.model import Number
from amplihack.recipes.templates import render_text


def number_of(number: Number, frame: Frame, field: str) -> float:
    """Return the number, rendered if it is a template. Raises StepFailure if the result is no number."""
    if not isinstance(number, str):
        return float(number)
    text = render_text(number, frame.view()).text.strip()
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise StepFailure(f"'{field}' should be a number, 0 or more, but {number} renders to '{text}'")
    return value
