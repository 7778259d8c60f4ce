"""Report steps that say nothing to do: what they lack, and what was probably written in its place."""

from __future__ import annotations

from typing import Final

from amplihack.documents import Mapping
from amplihack.documents.scalars import is_null
from amplihack.documents.suggest import closest
from amplihack.errors import Problem
from amplihack.patterns import pattern
from amplihack.recipes.fields import STEP, FieldTable, Kind
from amplihack.recipes.joined_lines import tell_joined
from amplihack.recipes.model import Text
from amplihack.recipes.reading import Fields, Report

_ONLY_COMMENTS: Final = pattern(r"\A(?:\s*(?:#[^\n]*)?(?:\n|\Z))*\Z")


def tell_missing(fields: Fields, kind: Kind, needed: str, owner: str, report: Report) -> None:
    """Report it if a step lacks the field that its kind needs, or has a script that does nothing."""
    written = fields.text(needed) if kind != "bash" else None
    blank = written is not None and not written.text.strip()
    if kind == "bash" and (script := fields.text(needed)) and not _ONLY_COMMENTS.sub("", script.text):
        _tell_idle(script, owner, report)
    if (needed in fields.nodes and not blank) or (kind == "agent" and _is_described(fields)):
        return
    what = f"{owner}{kind} step is missing a '{needed}' field"
    if needed in fields.node.entries:
        report.forget("unused-anchor", fields.node.where_key(needed).line)  # the fix speaks of it
    problem = Problem(what, fields.node.where, _fix(fields, kind, needed), code=f"no-{needed}")
    tell_missing_field(problem, needed, fields.node, STEP, report)


def _tell_idle(script: Text, owner: str, report: Report) -> None:
    """Report a script that holds nothing that bash would run, or that YAML has made a comment of."""
    if script.node and script.node.style != "literal" and tell_joined(script.node, owner, report):
        return
    holds = "holds comments alone" if script.text.strip() else "is empty"
    what, fix = f"{owner}'command' {holds}, so the step does nothing", "write a script, or remove it"
    report.add("no-effect", what, script.where, fix, "warning")


def tell_missing_field(
    problem: Problem, needed: str, node: Mapping, table: FieldTable, report: Report
) -> None:
    """Report a field that is missing, once: at the word that was written for it, if there is one."""
    unknown = [key for key in node.entries if key not in table.known]
    if misspelt := closest(needed, unknown):
        fix = f"write `{needed}:` for `{misspelt}:`"
        report.instead_of_unknown(problem.code, problem.what, node.where_key(misspelt), fix)
    elif not _named_in_a_fix(needed, unknown, table):
        report.problems.append(problem)


def tell_missing_part(needed: str, what: str, fields: Fields, table: FieldTable, report: Report) -> None:
    """Report that a recipe or a stage lacks its `name` or its `steps`."""
    fix = "add `steps:` with one step" if needed == "steps" else f"add `{needed}: what-it-does`"
    problem = Problem(what, fields.where(needed), fix, code=f"no-{needed}")
    tell_missing_field(problem, needed, fields.node, table, report)


def _fix(fields: Fields, kind: Kind, needed: str) -> str:
    node = fields.node
    if needed in node.entries:
        return f"write it behind `{needed}:`{_why_empty(node, needed)}"
    if name := _id_as_key(node):
        return f"write `- id: {name}` for `- {name}:`, and its fields below `id`"
    other, meant = ("prompt", "agent") if kind == "bash" else ("command", "bash")
    if "type" in fields and kind != "recipe" and other in node.entries:
        return f"write `{needed}:` for `{other}:`, or `type: {meant}`"
    return (
        f"add `{needed}:`" if "type" in fields or kind != "bash" else "add `command:`, `prompt:` or `recipe:`"
    )


def _why_empty(node: Mapping, key: str) -> str:
    """Return why a field that somebody filled may be empty."""
    where = node.where_key(key)
    written = where.text[where.column - 1 + len(key) :].lstrip(" :")
    if written.startswith("#"):
        return ", in quotes: what begins with # is a comment"
    if written.startswith("&"):
        return ", in quotes: what begins with & is an anchor"
    word = written.split("#")[0].strip()
    return f", in quotes: {word} alone says that there is nothing" if word and is_null(word) else ""


def _id_as_key(node: Mapping) -> str:
    """Return the only key of a step, where the id stands for the word `id`."""
    if len(node.entries) != 1:
        return ""
    ((name, fields),) = node.entries.items()
    return name if isinstance(fields, Mapping) and name not in STEP.known else ""


def _is_described(fields: Fields) -> bool:
    """Tell whether a step without a prompt has words to make one of, or would have if they were readable."""
    from amplihack.recipes.decode_agents import described  # deferred: many recipes ask no agent

    unreadable = {"task", "skill"} & (fields.nodes.keys() - fields.values.keys())
    return bool(unreadable or described(fields))


def _named_in_a_fix(needed: str, unknown: list[str], table: FieldTable) -> bool:
    """Tell whether a word of another tool stands where the field is missing: what is told of it names it."""
    from amplihack.recipes.foreign_words import instead_of  # deferred: most steps lack nothing

    found = (instead_of(key, table.name, frozenset(table.known)) for key in unknown)
    return any(f"`{needed}:`" in fix for fix in found if fix)
