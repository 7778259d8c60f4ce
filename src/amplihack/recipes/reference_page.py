"""Write the field tables as a page of documentation."""

from __future__ import annotations

from amplihack.recipes.fields import TABLES, Field, FieldTable, Shape

_WORDS: dict[Shape, str] = {
    "text": "text",
    "template": "template",
    "condition": "condition",
    "flag": "true or false",
    "count": "whole number",
    "number": "number",
    "bound": "number",
    "duration": "duration",
    "seconds": "duration or template",
    "milliseconds": "milliseconds or duration",
    "attempts": "whole number or template",
    "words": "list of texts",
    "map": "map",
    "texts": "map of texts",
    "json": "true, false, `first` or `last`",
    "items": "list or template",
    "width": "true, false, number or template",
    "any": "anything",
}

_HEAD = """\
# Recipe reference

Every field of a recipe file. This page is made from the same tables that `amplihack recipe validate` and
`amplihack recipe schema` use (`make docs` writes it).

A *template* is text in which `{{name}}`, `{{name.key}}` and `{{name[0]}}` stand for values, and `{{ '{{' }}`
for two braces. A *condition* is a boolean expression such as `status == 'ok' and len(items) > 0`. A
*duration* is a number of seconds, or a text of the units `ms`, `s`, `m`, `h`, `d` and `w`: `90`, `1.5`,
`500ms`, `5m`, `1h30m`, `2d`. Fields whose name begins with `x-` are yours.
"""


def reference_page() -> str:
    """Return the page as Markdown."""
    return "\n".join([_HEAD, *(_section(table) for table in TABLES.values())])


def _section(table: FieldTable) -> str:
    rows = [_row(each) for each in table.fields]
    head = "| field | holds | default | meaning |\n| --- | --- | --- | --- |"
    return f"## {table.name}\n\n{table.doc}\n\n{head}\n" + "\n".join(rows) + "\n"


def _row(each: Field) -> str:
    name = f"`{each.name}`" + "".join(f", `{alias}`" for alias in each.aliases)
    notes = "; ".join(_notes(each))
    default = "required" if each.required else each.default
    return f"| {name} | {_holds(each)} | {default} | {each.doc}{f' *({notes})*' if notes else ''} |"


def _holds(each: Field) -> str:
    if each.shape == "choice":
        return ", ".join(f"`{choice}`" for choice in each.choices)
    if each.shape in ("table", "tables"):
        link = f"[{each.table}](#{each.table})"
        return link if each.shape == "table" else f"list of {link}"
    return _WORDS[each.shape]


def _notes(each: Field) -> list[str]:
    kinds = [" and ".join(each.kinds) + (" step" if len(each.kinds) == 1 else " steps")] if each.kinds else []
    return [*kinds, *(["for readers only"] if each.prose else [])]
