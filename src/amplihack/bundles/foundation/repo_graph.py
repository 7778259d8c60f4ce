"""Draw a repository of bundles: what is in it, who uses what, and what each part costs."""

from __future__ import annotations

import hashlib
from typing import Literal, TypeAlias

from amplihack.bundles.drawing import dot_text
from amplihack.bundles.tokens import color_tier
from amplihack.records import Record

Kind: TypeAlias = Literal[
    "root", "behaviors", "standalones", "agents", "modules", "providers", "experiments", "context", "external"
]
Relation: TypeAlias = Literal["composes", "owns", "uses", "extends", "forks"]
CLUSTERS: tuple[Kind, ...] = (
    "behaviors", "standalones", "agents", "modules", "providers", "experiments", "context",
)  # fmt: skip
_CATEGORIES: dict[Kind, str] = {
    "agents": "agent_description",
    "modules": "tool_schema",
    "context": "context_file",
}
_SHAPES: dict[Kind, str] = {"agents": "ellipse", "modules": "component", "context": "note"}
_DISCLAIMER = "Token counts are estimates (characters / 4); what is external is not counted."


class RepoPart(Record):
    """A part of the repository, or an external bundle. `tokens` is what it adds to a prompt."""

    key: str  # a path from the root of the repository, or an address
    label: str
    kind: Kind
    tokens: int = 0


class Edge(Record, order=True):
    source: str
    target: str
    relation: Relation


class RepoGraph(Record):
    name: str
    parts: tuple[RepoPart, ...]
    edges: tuple[Edge, ...]


def dot(graph: RepoGraph) -> str:
    """Draw in the Graphviz language. The same repository always gives the same text.

    `source_hash` is the sha256 of everything else, so that an outdated picture can be recognised.
    """
    head, *body = [*_head(graph), *_parts(graph), *_edges(graph), *_legend(), "}"]
    text = "\n".join((head, *body)) + "\n"
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return "\n".join((head, f'  source_hash="{mark}";', *body)) + "\n"


def _head(graph: RepoGraph) -> list[str]:
    return [
        f"digraph {dot_text(graph.name)} {{",
        "  rankdir=LR;",
        f"  label={dot_text(_DISCLAIMER)};",
        "  node [shape=box, style=filled, fillcolor=white];",
    ]


def _parts(graph: RepoGraph) -> list[str]:
    lines = [_node(part, "  ") for part in graph.parts if part.kind in ("root", "external")]
    for kind in CLUSTERS:
        inside = [_node(part, "    ") for part in graph.parts if part.kind == kind]
        if inside:
            lines += [f"  subgraph cluster_{kind} {{", f"    label={dot_text(kind)};", *inside, "  }"]
    return lines


def _node(part: RepoPart, indent: str) -> str:
    cost = f"\n~{part.tokens} tokens" if part.tokens else ""
    color = color_tier(part.tokens, _CATEGORIES.get(part.kind, "bundle_body"))
    marks = [f"label={dot_text(part.label + cost)}", f'fillcolor="{color}"']
    if part.kind in _SHAPES:
        marks.append(f"shape={_SHAPES[part.kind]}")
    if part.kind == "external":
        marks = [marks[0], 'style="dashed"', f"color={'red' if _is_costly(part) else 'gray'}"]
    return f"{indent}{dot_text(part.key)} [{', '.join(marks)}];"


def _is_costly(part: RepoPart) -> bool:
    """Tell whether a bundle adds to a prompt. Only a choice of provider adds nothing."""
    return "providers/" not in part.key


def _edges(graph: RepoGraph) -> list[str]:
    external = {part.key: part for part in graph.parts if part.kind == "external"}
    lines: list[str] = []
    for edge in graph.edges:
        marks = f"label={dot_text(edge.relation)}"
        if edge.target in external:
            marks += ", style=dashed" + (", color=red" if _is_costly(external[edge.target]) else "")
        lines.append(f"  {dot_text(edge.source)} -> {dot_text(edge.target)} [{marks}];")
    return lines


def _legend() -> list[str]:
    tiers = (("light", 0), ("noticeable", 500), ("heavy", 1_000), ("too heavy", 2_000))
    lines = ["  subgraph cluster_legend {", '    label="legend";']
    for name, tokens in tiers:
        color = color_tier(tokens + 1, "bundle_body")
        lines.append(f'    {dot_text(f"legend {name}")} [label={dot_text(name)}, fillcolor="{color}"];')
    return [*lines, '    "legend external" [label="external", style="dashed", color=red];', "  }"]
