"""Compose a discovered graph from the leaves up; tell what went wrong on the way, with include chains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from amplihack.bundles.compose import compose_includes, unmatched_removals
from amplihack.bundles.errors import (
    BundleDependencyError,
    BundleError,
    BundleLoadError,
    Subject,
    caused_by,
    error_from,
)
from amplihack.bundles.include_graph import FailedInclude, IncludeGraph, Node
from amplihack.bundles.model import Bundle
from amplihack.bundles.reach import is_within
from amplihack.bundles.roster import AGENT_CODES
from amplihack.bundles.uris import shown
from amplihack.errors import Problem, Severity
from amplihack.records import Record, field, replace

INCLUDE_FAILED = "include-failed"
_SKIPPED, _CIRCULAR = "include-skipped", "circular-include"


class Circle(Record):
    """An include that was left out because it leads back: the chain in load order, ending where it began."""

    chain: tuple[str, ...]

    @property
    def what(self) -> str:
        return f"Circular Include Skipped: {' -> '.join(self.chain)}"


class Order(Record):
    """How to compose a graph: each bundle after all it includes, and once, however often it is included."""

    bundles: tuple[str, ...]
    includes: Mapping[str, tuple[str, ...]]
    circles: tuple[Circle, ...] = ()


class SkippedInclude(Record):
    """An include that is missing from the result: the names on the way to it, and the reason."""

    source: str
    chain: tuple[str, ...]
    reason: str
    error: BundleError | None = field(default=None, compare=False)
    address: str = field(default="", repr=False, compare=False)  # canonical; may hold a password


# No `repr`: `asyncio.run` asks for that of every result, and printing a thousand bundles takes longer than
# loading them.
class Composition(Record, repr=False):
    """A composed bundle, the graph that it came from, and everything that is not as it should be."""

    bundle: Bundle
    root: Node
    nodes: Mapping[str, Node]
    order: Order
    problems: tuple[Problem, ...] = ()
    skipped: tuple[SkippedInclude, ...] = ()
    included: Mapping[str, Bundle] = field(default_factory=dict)  # by node, each with what it includes

    @property
    def failures(self) -> tuple[BundleError, ...]:
        """Return why includes are missing from the result."""
        return tuple(each.error for each in self.skipped if each.error is not None)


def compose_graph(graph: IncludeGraph, root: Node, *, severe: bool) -> Composition:
    """Compose the root on top of all that it reaches; includes that failed are errors if `severe`."""
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
        SkippedInclude(
            shown(failure.directive.include.source), chain, failure.error.what, failure.error, failure.address
        )
        for failure, chain in zip(failures, chains, strict=True)
    )
    return Composition(
        composed[root.key], root, nodes, order, tuple(dict.fromkeys(problems)), skipped, composed
    )


def _compose(nodes: Mapping[str, Node], order: Order) -> dict[str, Bundle]:
    composed: dict[str, Bundle] = {}
    includers: dict[str, list[str]] = {}
    for key in order.bundles:
        whole = compose_includes(nodes[key].own, [composed[each] for each in order.includes[key]])
        source = nodes[key].source
        if source is not None:  # what it includes, it may name
            roots = list(whole.source_base_paths.values())
            if any(whole.reach.source_of(each) is None for each in roots):
                above = tuple(_roots_above(key, nodes, includers or _includers(order, includers)))
                roots = [each for each in roots if not any(is_within(root, each) for root in above)]
            whole = replace(whole, reach=whole.reach.widened(source, roots))
        composed[key] = whole
    return composed


def _includers(order: Order, found: dict[str, list[str]]) -> dict[str, list[str]]:
    """Fill in, for each bundle, those that include it."""
    for key, included in order.includes.items():
        for each in included:
            found.setdefault(each, []).append(key)
    return found


def _roots_above(
    key: str, nodes: Mapping[str, Node], includers: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Yield the directories of the user's own bundles that include a bundle, however far above.

    A downloaded bundle does not get to read them by including a part of them in turn.
    """
    waiting, seen = [key], {key}
    while waiting:
        above = [each for each in includers.get(waiting.pop(), ()) if each not in seen]
        waiting += above
        seen.update(above)
        for each in above:
            if nodes[each].source is None:
                yield from nodes[each].own.source_base_paths.values()


def _chain(
    graph: IncludeGraph, root: Node, failure: FailedInclude, edges: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """Return the names of the bundles on the way to an include, outermost first."""
    return tuple(graph.nodes[key].label for key in include_chain(root.key, failure.directive.node, edges))


def _told(failure: FailedInclude, chain: tuple[str, ...], severity: Severity) -> Iterator[Problem]:
    """Tell a failure at its include, then whatever else is wrong with the file that it leads to."""
    include, error = failure.directive.include, failure.error
    way = " -> ".join((*chain, shown(include.source)))
    first, *others = sorted(error.problems, key=lambda each: each.severity != "error")
    word, code = ("", INCLUDE_FAILED) if severity == "error" else ("include skipped: ", _SKIPPED)
    place = f" at {first.where}" if first.where and first.where != include.where else ""
    yield Problem(f"{word}{first.what}{place} (included by {way})", include.where, first.fix, severity, code)
    for other in others:
        yield replace(other, severity=severity) if other.severity == "error" else other


def refuse_skipped(composition: Composition) -> None:
    """Raise BundleDependencyError if an include failed, telling every one with its chain."""
    if not composition.skipped:
        return
    found = tuple(each for each in composition.problems if each.severity == "error")
    first = composition.skipped[0]
    failed = BundleDependencyError(
        f"an include failed (strict mode): {'; '.join(each.what for each in found)}",
        where=found[0].where,
        fix=found[0].fix,
        found=found,
        subject=Subject(uri=first.source, chain=(*first.chain, first.source)),
    )
    raise caused_by(failed, composition.failures)


def refuse_circles(composition: Composition) -> None:
    """Raise BundleDependencyError if an include leads back."""
    circles = tuple(each for each in composition.problems if each.code == _CIRCULAR)
    if circles:
        raise BundleDependencyError(f"strict mode: {circles[0].what}", found=circles)


def refuse_agents(composition: Composition, problems: Iterable[Problem]) -> None:
    """Raise BundleLoadError if an agent would be less than what was asked for."""
    wrong = tuple(replace(each, severity="error") for each in problems if each.code in AGENT_CODES)
    if wrong:
        raise error_from(BundleLoadError, wrong, Subject(uri=shown(composition.root.uri)))


def _circle(circle: Circle, graph: IncludeGraph) -> Problem:
    """Tell a circle at the include that closes it."""
    named = Circle(tuple(graph.nodes[key].label for key in circle.chain))
    where = graph.place(circle.chain[-2], circle.chain[-1])
    return Problem(named.what, where, "remove one of the includes", "warning", _CIRCULAR)


def compose_order(root: str, includes: Mapping[str, Sequence[str]]) -> Order:
    """Order everything that `root` reaches.

    Circles are cut where they close, so nothing ever waits for itself. Includes are followed as declared, so
    the same graph is always cut at the same place.
    """
    done: dict[str, tuple[str, ...]] = {}
    kept: dict[str, list[str]] = {root: []}
    circles: list[Circle] = []
    stack = [(root, iter(includes.get(root, ())))]
    while stack:
        current, remaining = stack[-1]
        target = next(remaining, None)
        if target is None:
            done[current] = tuple(kept[current])
            stack.pop()
        elif target in done:
            kept[current].append(target)
        elif target in kept:
            path = [name for name, _ in stack]
            circles.append(Circle((*path[path.index(target) :], target)))
        else:
            kept[current].append(target)
            kept[target] = []
            stack.append((target, iter(includes.get(target, ()))))
    return Order(tuple(done), done, tuple(circles))


def include_chain(root: str, target: str, includes: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the shortest way from the root to a bundle, both included; empty when there is none."""
    before: dict[str, str] = {root: ""}
    level = [root]
    while level and target not in before:
        below: list[str] = []
        for current in level:
            for each in includes.get(current, ()):
                if each not in before:
                    before[each] = current
                    below.append(each)
        level = below
    chain: list[str] = []
    while target:
        chain.append(target)
        target = before.get(target, "")
    return tuple(reversed(chain)) if chain and chain[-1] == root else ()
