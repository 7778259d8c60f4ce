"""List the contents of a composed bundle: every part, who brought it, and what it costs in every prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from amplihack.bundles.model import Bundle
from amplihack.bundles.prompt import Prompt, PromptPart
from amplihack.bundles.sections.row import Costs, Row, row
from amplihack.bundles.sections.table import SECTIONS
from amplihack.bundles.tokens import estimate_tokens
from amplihack.bundles.uris import parse_uri

INSTRUCTION = "instruction"


@dataclass(frozen=True, slots=True)
class Contents:
    """`total_tokens` is the system prompt, the descriptions of agents, and tools as far as they are known."""

    rows: tuple[Row, ...]
    total_tokens: int


def contents_of(bundle: Bundle, prompt: Prompt, tool_tokens: Callable[[str], int | None]) -> Contents:
    """List everything; `tool_tokens` tells what the module in a directory costs, None where it cannot."""
    declared = {path: name for name, path in bundle.resolved_context.items()}
    costs: dict[str, int] = {}
    mentioned: list[Row] = []
    for part in prompt.parts:
        owner = part.owner or declared.get(part.path, "")
        if owner:
            costs[owner] = costs.get(owner, 0) + estimate_tokens(part.text)
        elif part.name != INSTRUCTION:
            mentioned.append(_mention(part, bundle))
    listed = [_with_tool_cost(each, tool_tokens) for each in rows(bundle, costs)]
    outside = {section.name for section in SECTIONS if section.costs_beside_prompt}
    beside = sum(each.tokens for each in listed if each.section in outside)
    return Contents((*listed, *mentioned), estimate_tokens(prompt.text) + beside)


def rows(bundle: Bundle, costs: Costs) -> tuple[Row, ...]:
    """List the entries of all sections, then the instruction; `costs` are those of context by name."""
    found = [
        each
        for section in SECTIONS
        for each in section.rows(section.name, bundle.section(section.name), costs)
    ]
    leaf = bundle.instruction
    if leaf is not None:
        found.append(row(INSTRUCTION, INSTRUCTION, leaf, "", estimate_tokens(str(leaf.value))))
    return tuple(found)


def _with_tool_cost(each: Row, tool_tokens: Callable[[str], int | None]) -> Row:
    if each.section != "tools" or not each.source or not parse_uri(each.source).is_file:
        return each
    tokens = tool_tokens(parse_uri(each.source).path)
    return replace(each, tokens=tokens) if tokens is not None else each


def _mention(part: PromptPart, bundle: Bundle) -> Row:
    """Show what the instruction mentions, directly or through what it mentions."""
    by = bundle.instruction.origin.bundle if bundle.instruction else ""
    return Row("mentions", mention_of(part), part.path, by, part.path, 1, estimate_tokens(part.text))


def mention_of(part: PromptPart) -> str:
    """Return the words that led to a file; the prompt shows the path that they stand for behind them."""
    return part.name.partition(" → ")[0]
