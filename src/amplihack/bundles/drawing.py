"""Draw who includes whom, and what each bundle costs, in three notations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from amplihack.bundles.model import Bundle, Lineage
from amplihack.bundles.sections.row import Row
from amplihack.bundles.tokens import color_tier
from amplihack.bundles.uris import shown
from amplihack.records import Record

_WIDTH, _HEIGHT, _GAP, _STEP = 190, 44, 70, 64


class Box(Record):
    """One bundle in the picture."""

    key: str
    name: str
    version: str
    file: str
    tokens: int = 0
    level: int = 0


class Drawing(Record):
    boxes: tuple[Box, ...]
    edges: tuple[tuple[str, str], ...]


def drawing_of(bundle: Bundle, tokens: Mapping[str, int] | None = None) -> Drawing:
    """Draw who includes whom, each bundle once; `tokens` by bundle name are what each one contributes."""
    costs = tokens or {}
    boxes: dict[tuple[str, str], Box] = {}
    edges: dict[tuple[str, str], None] = {}
    level: list[tuple[Lineage, str]] = [(bundle.lineage, "")]
    depth = 0
    while level:
        below: list[tuple[Lineage, str]] = []
        for each, above in level:
            key = (each.bundle, each.file)
            is_new = key not in boxes
            if is_new:
                name = each.bundle or shown(each.file) or "bundle"
                boxes[key] = Box(f"b{len(boxes)}", name, each.version, each.file, costs.get(name, 0), depth)
                below.extend((part, boxes[key].key) for part in each.parts)
            if above:
                edges[(above, boxes[key].key)] = None
        level, depth = below, depth + 1
    return Drawing(tuple(boxes.values()), tuple(edges))


def _label(box: Box) -> str:
    version = f" {box.version}" if box.version else ""
    return f"{box.name}{version}" + (f" · {box.tokens} tokens" if box.tokens else "")


def dot(drawing: Drawing) -> str:
    """Draw in Graphviz' language."""
    lines = ["digraph bundles {", "  rankdir=LR;", "  node [shape=box, style=filled];"]
    for box in drawing.boxes:
        color = color_tier(box.tokens, "all_context")
        lines.append(f'  {box.key} [label={dot_text(_label(box))}, fillcolor="{color}"];')
    lines += [f"  {above} -> {below};" for above, below in drawing.edges]
    return "\n".join((*lines, "}")) + "\n"


def dot_text(text: str) -> str:
    """Return a text with the quotes and escapes of Graphviz' language."""
    safe = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{safe}"'


def mermaid(drawing: Drawing) -> str:
    """Draw in Mermaid's language."""
    lines = ["graph LR"]
    for box in drawing.boxes:
        safe = (
            _label(box).replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;").replace("\n", " ")
        )
        lines.append(f'  {box.key}["{safe}"]')
    lines += [f"  {above} --> {below}" for above, below in drawing.edges]
    return "\n".join(lines) + "\n"


def svg(drawing: Drawing) -> str:
    """Draw a picture: one column for each level of includes."""
    places = _places(drawing.boxes)
    width = max((x for x, _ in places.values()), default=0) + _WIDTH + 20
    height = max((y for _, y in places.values()), default=0) + _HEIGHT + 20
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">']
    for above, below in drawing.edges:
        (x1, y1), (x2, y2) = places[above], places[below]
        start, end = (x1 + _WIDTH, y1 + _HEIGHT // 2), (x2, y2 + _HEIGHT // 2)
        lines.append(f'<path d="M{start[0]},{start[1]} L{end[0]},{end[1]}" stroke="#666" fill="none"/>')
    lines.extend(_svg_box(box, *places[box.key]) for box in drawing.boxes)
    return "\n".join((*lines, "</svg>")) + "\n"


def _places(boxes: Iterable[Box]) -> dict[str, tuple[int, int]]:
    rows: dict[int, int] = {}
    places: dict[str, tuple[int, int]] = {}
    for box in boxes:
        row = rows.get(box.level, 0)
        rows[box.level] = row + 1
        places[box.key] = (10 + box.level * (_WIDTH + _GAP), 10 + row * _STEP)
    return places


def _svg_box(box: Box, x: int, y: int) -> str:
    color = color_tier(box.tokens, "all_context")
    second = f"{box.tokens} tokens" if box.tokens else box.version
    return (
        f"<g><title>{escape(box.file)}</title>"
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="{color}" stroke="#666"/>'
        f'<text x="{x + 10}" y="{y + 18}">{escape(_fitted(box.name))}</text>'
        f'<text x="{x + 10}" y="{y + 35}" fill="#666">{escape(_fitted(second))}</text></g>'
    )


def _fitted(text: str, width: int = 26) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def tokens_by_bundle(table: Iterable[Row]) -> dict[str, int]:
    """Return what each bundle adds to every prompt."""
    found: dict[str, int] = {}
    for row in table:
        found[row.bundle] = found.get(row.bundle, 0) + row.tokens
    return found
