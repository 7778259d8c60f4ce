"""Replace the placeholders of a bash script by references to variables, whatever quotes are around them.

A script without placeholders is not read at all. Then the reader of bash, which is slow to import, is not
loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amplihack.recipes.templates.scripts import APART, Hazard, Kind, ShellScript, is_number
from amplihack.recipes.values import Value, to_text

__all__ = ["APART", "Hazard", "Kind", "ShellScript", "check_env", "hazards", "is_number", "render_shell"]


def render_shell(template: str, scope: Mapping[str, Value], *, token: Callable[[], str]) -> ShellScript:
    """Return the script to run, with references for values. `token` makes fresh words for delimiters.

    Raises TemplateError for a value in a place where it cannot be safe.
    """
    if "{{" not in template:
        return ShellScript(template, {})
    from amplihack.recipes.templates.rendering import render

    return render(template, scope, token)


def check_env(script: str, env: Mapping[str, Value], scope: Mapping[str, Value]) -> tuple[str, ...]:
    """Return warnings about values in `env` that the script runs on purpose.

    Raises TemplateError for values that bash would run although nobody meant it.
    """
    if not any("{{" in to_text(value) for value in env.values()):
        return ()
    from amplihack.recipes.templates.env_values import check_env as check

    return check(script, env, scope)


def hazards(template: str) -> tuple[Hazard, ...]:
    """Return what the check should tell the author, without knowing any value."""
    if "{{" not in template:
        return ()
    from amplihack.recipes.templates.rendering import find_hazards

    return find_hazards(template)
