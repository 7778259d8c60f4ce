"""Render placeholders in plain text: prompts, directories, values passed to a sub-recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from amplihack.errors import TemplateError
from amplihack.recipes.placeholders import (
    Placeholder,
    find_literal,
    find_placeholders,
    holds_only_placeholders,
    show,
)
from amplihack.recipes.templates.scripts import APART
from amplihack.recipes.values import DEEPEST_MADE, MISSING, KeyPath, Value, is_too_deep, lookup, to_text
from amplihack.records import Record

LONGEST = 64 * 1024 * 1024  # characters of a text


class Rendered(Record):
    """The rendered text, and the paths without a value (each once, in order)."""

    text: str
    missing: tuple[KeyPath, ...] = ()


def render_text(template: str, scope: Mapping[str, Value]) -> Rendered:
    """Render a text in one pass: a value that looks like a placeholder is not rendered again.

    Raises TemplateError for a text that is too long.
    """
    pieces: list[str] = []
    missing: dict[KeyPath, None] = {}
    position = 0
    for found in find_placeholders(template):
        value = found.value(scope)
        if value is MISSING:
            missing[found.path] = None
        pieces += (template[position : found.start], to_text(value))
        position = found.end
    pieces.append(template[position:])
    if sum(map(len, pieces)) > LONGEST:
        raise TemplateError(
            f"the text would have more than {LONGEST:,} characters",
            fix="pass the path of a file instead of what is in it",
        )
    return Rendered("".join(pieces), tuple(missing))


def literal_warnings(template: str, scope: Mapping[str, Value]) -> tuple[str, ...]:
    """Return a warning for each `${{name}}` and `{{name | filter}}`, which stay as they are.

    Only those that name a variable which there is: others may be meant for another tool.
    """
    if holds_only_placeholders(template):
        return ()
    from amplihack.recipes.foreign_braces import unsupported  # deferred: most texts have none of it

    others = (found.explained() for found in unsupported(template) if found.is_ours(scope))
    return (*_dollar_warnings(template, scope), *dict.fromkeys(f"{what}; {fix}" for what, fix in others))


def _dollar_warnings(template: str, scope: Mapping[str, Value]) -> tuple[str, ...]:
    told = {
        show(found.path): literal_fix(template, found)
        for found in find_literal(template)
        if lookup(scope, found.path) is not MISSING
    }
    return tuple(
        f"${{{{{name}}}}} stays as it is, although there is a variable {name}: {fix}"
        for name, fix in told.items()
    )


def literal_fix(template: str, found: Placeholder) -> str:
    """Return what to write instead of `${{name}}`. After a backslash, its author means the dollar sign."""
    escaped = template[max(0, found.start - 1) : found.start] == "\\"
    return APART if escaped else f"write {{{{{show(found.path)}}}}}, without the dollar sign"


def render_value(value: Value, scope: Mapping[str, Value]) -> tuple[Value, tuple[KeyPath, ...]]:
    """Render every string in a value. A string that is exactly a placeholder becomes the value itself.

    Raises TemplateError for a value that is nested too deep.
    """
    missing: dict[KeyPath, None] = {}
    rendered = _render(value, scope, missing)
    if _holds_lists(value) and is_too_deep(rendered):
        what = f"the value would be nested more than {DEEPEST_MADE} levels deep"
        raise TemplateError(what, fix="do not put a value into a list or map again and again")
    return rendered, tuple(missing)


def _holds_lists(value: Value) -> bool:
    """Tell whether a template can make what it holds deeper: a map of plain texts cannot."""
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return any(isinstance(item, Mapping | list) for item in items)


def _render(value: Value, scope: Mapping[str, Value], missing: dict[KeyPath, None]) -> Value:
    if isinstance(value, str):
        return _render_string(value, scope, missing)
    if isinstance(value, Mapping):
        return {key: _render(item, scope, missing) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_render(item, scope, missing) for item in value]
    return value


def _render_string(text: str, scope: Mapping[str, Value], missing: dict[KeyPath, None]) -> Value:
    found = find_placeholders(text)
    if len(found) == 1 and (found[0].start, found[0].end) == (0, len(text)):
        value = found[0].value(scope)
        if value is not MISSING:
            return cast("Value", value)
    rendered = render_text(text, scope)
    missing.update(dict.fromkeys(rendered.missing))
    return rendered.text
