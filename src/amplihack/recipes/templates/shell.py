"""Placeholders in a bash script: each becomes a reference to a variable, whatever quotes are around it.

A script without placeholders is not read at all, and the reader of bash, which is slow to import, not loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amplihack.recipes.templates.scripts import APART, Hazard, Kind, ShellScript, is_number
from amplihack.recipes.values import Value

__all__ = ["APART", "Hazard", "Kind", "ShellScript", "hazards", "is_number", "render_shell"]


def render_shell(template: str, scope: Mapping[str, Value], *, token: Callable[[], str]) -> ShellScript:
    """The script to run, with references for values; `token` gives fresh words for delimiters.

    Raises TemplateError where a value cannot stand.
    """
    if "{{" not in template:
        return ShellScript(template, {})
    from amplihack.recipes.templates.rendering import render

    return render(template, scope, token)


def hazards(template: str) -> tuple[Hazard, ...]:
    """What a lint should tell the author, without knowing any value."""
    if "{{" not in template:
        return ()
    from amplihack.recipes.templates.rendering import find_hazards

    return find_hazards(template)
