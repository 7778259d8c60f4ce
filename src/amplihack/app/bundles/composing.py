"""A discovered graph composed from the leaves up, and what went wrong on the way, with its include chain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from amplihack.app.bundles.discovery import Graph
from amplihack.app.bundles.model import Failure, Loaded, Node, Skipped
from amplihack.bundles.compose import compose_includes, unmatched_removals
from amplihack.bundles.errors import BundleDependencyError, Subject
from amplihack.bundles.graph import Circle, Order, compose_order, include_chain
from amplihack.bundles.model import Bundle
from amplihack.bundles.uris import shown
from amplihack.errors import Problem, Severity

FAILED, SKIPPED = "include-failed", "include-skipped"


def compose_graph(graph: Graph, root: Node, *, severe: bool) -> Loaded:
    """The root on top of all that it reaches. Includes that failed are left out: errors if `severe`."""
    edges = graph.edges()
    order = compose_order(root.key, edges)
    nodes = {key: graph.nodes[key] for key in order.bundles}
    composed = _compose(nodes, order)
    failures = tuple(graph.failures(reversed(order.bundles)))
    chains = [_chain(graph, root, failure, edges) for failure in failures]
    problems = [
        *(problem for failure, chain in zip(failures, chains, strict=True)
          for problem in _told(failure, chain, "error" if severe else "warning")),
        *(problem for node in reversed(nodes.values()) for problem in node.problems),
        *(problem for key in reversed(nodes) for problem in graph.clashes.get(key, ())),
        *(_circle(circle, graph) for circle in order.circles),
        *unmatched_removals(composed[root.key]),
    ]  # fmt: skip
    skipped = tuple(
        Skipped(shown(failure.directive.include.source), chain, failure.error.what, failure.error)
        for failure, chain in zip(failures, chains, strict=True)
    )
    return Loaded(composed[root.key], root, nodes, order, tuple(dict.fromkeys(problems)), skipped, composed)


def _compose(nodes: Mapping[str, Node], order: Order) -> dict[str, Bundle]:
    composed: dict[str, Bundle] = {}
    for key in order.bundles:
        composed[key] = compose_includes(nodes[key].own, [composed[each] for each in order.includes[key]])
    return composed


def _chain(graph: Graph, root: Node, failure: Failure, edges: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The names of the bundles on the way to an include, outermost first."""
    return tuple(graph.nodes[key].label for key in include_chain(root.key, failure.directive.node, edges))


def _told(failure: Failure, chain: tuple[str, ...], severity: Severity) -> Iterator[Problem]:
    """The failure at the include that asks for it, then whatever else is wrong with the file it leads to."""
    include, error = failure.directive.include, failure.error
    way = " -> ".join((*chain, shown(include.source)))
    first, *others = error.problems
    word, code = ("", FAILED) if severity == "error" else ("include skipped: ", SKIPPED)
    place = f" at {first.where}" if first.where and first.where != include.where else ""
    yield Problem(f"{word}{first.what}{place} (included by {way})", include.where, first.fix, severity, code)
    for other in others:
        yield replace(other, severity=severity) if other.severity == "error" else other


def refusal(loaded: Loaded) -> BundleDependencyError:
    """The end of a strict load: every include that failed, each with its chain."""
    found = tuple(each for each in loaded.problems if each.severity == "error")
    first = loaded.skipped[0]
    return BundleDependencyError(
        f"an include failed (strict mode): {'; '.join(each.what for each in found)}",
        where=found[0].where,
        fix=found[0].fix,
        found=found,
        subject=Subject(uri=first.source, chain=(*first.chain, first.source)),
    )


def _circle(circle: Circle, graph: Graph) -> Problem:
    """Told at the include that closes it."""
    named = Circle(tuple(graph.nodes[key].label for key in circle.chain))
    where = graph.place(circle.chain[-2], circle.chain[-1])
    return Problem(named.what, where, "remove one of the includes", "warning", "circular-include")


def nodes_of(loads: Iterable[Loaded]) -> dict[str, Node]:
    """The nodes of several compositions, each once."""
    return {key: node for loaded in loads for key, node in loaded.nodes.items()}
