"""A composed bundle as a table: every part, who brought it, and what it costs in every prompt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from amplihack.app.bundles.opening import Ready
from amplihack.bundles.assemble import Part
from amplihack.bundles.render import Row, rows
from amplihack.bundles.tokens import estimate_tokens
from amplihack.bundles.tree import Table, to_plain
from amplihack.bundles.uris import parse_uri, shown
from amplihack.system.bundle_docs.tool_schema import estimate_module_tool_tokens

INSTRUCTION = "instruction"


@dataclass(frozen=True, slots=True, repr=False)
class Contents:
    """`total_tokens` is the system prompt, the descriptions of agents, and tools as far as they are known."""

    ready: Ready
    rows: tuple[Row, ...]
    total_tokens: int


def contents_of(ready: Ready) -> Contents:
    """Looks into the source of local tools, without running it."""
    declared = {path: name for name, path in ready.bundle.resolved_context.items()}
    costs: dict[str, int] = {}
    mentioned: list[Row] = []
    for part in ready.prompt.parts:
        owner = part.owner or declared.get(part.path, "")
        if owner:
            costs[owner] = costs.get(owner, 0) + estimate_tokens(part.text)
        elif part.name != INSTRUCTION:
            mentioned.append(_mention(part, ready))
    listed = [_with_tool_cost(row) for row in rows(ready.bundle, costs)]
    table = (*_session(ready), *listed, *mentioned)
    beside = sum(row.tokens for row in table if row.section in ("agents", "tools"))
    return Contents(ready, table, estimate_tokens(ready.prompt.text) + beside)


def _session(ready: Ready) -> Iterator[Row]:
    for role in ("orchestrator", "context"):
        part = ready.bundle.session.get(role)
        if part is not None:
            source = shown(part.text("source")) if isinstance(part, Table) else ""
            name = part.text("module") if isinstance(part, Table) else str(to_plain(part))
            where = part.origin
            yield Row("session", f"{role}: {name}", source, where.bundle, where.file, part.line)


def _with_tool_cost(row: Row) -> Row:
    if row.section != "tools" or not row.source or not parse_uri(row.source).is_file:
        return row
    cost = estimate_module_tool_tokens(Path(parse_uri(row.source).path))
    return replace(row, tokens=cost["total_tokens"]) if cost else row


def _mention(part: Part, ready: Ready) -> Row:
    """What the instruction mentions, directly or through what it mentions."""
    leaf = ready.bundle.instruction
    by = leaf.origin.bundle if leaf else ""
    return Row("mentions", mention_of(part), part.path, by, part.path, 1, estimate_tokens(part.text))


def mention_of(part: Part) -> str:
    """The words that led to a file; the prompt shows the path that they stand for behind them."""
    return part.name.partition(" → ")[0]
