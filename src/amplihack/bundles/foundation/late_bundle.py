"""Compose bundles when somebody looks: a program that composes a hundred one by one reads only the last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from amplihack.bundles.compose import (
    Instructions,
    Overlay,
    compose_in_steps,
    composed_instruction,
    composed_namespaces,
)
from amplihack.bundles.foundation.origin_claims import ComposedClaims, Layer, compose_claims, core_of
from amplihack.bundles.merge import merge_tables
from amplihack.bundles.model import (
    DEFAULT_VERSION,
    NO_ENTRIES,
    Bundle,
    Include,
    context_paths,
    context_references,
)
from amplihack.bundles.provenance import Claim, origins
from amplihack.bundles.reach import Reach, joined
from amplihack.bundles.sections.table import BY_NAME, PLANS
from amplihack.bundles.tree import Table

_MOST_KEPT = 32  # compositions that one of them keeps because nobody has asked yet who brought what

Claims: TypeAlias = Mapping[str, Sequence[Claim]]


class LateBundle:
    """A composition of bundles that never change, each with its claims.

    An operand whose claims are None is told by its own lines. All that is asked of a late bundle is the same
    as if it had been composed at once; a field of plain data is made without composing the rest.
    """

    __slots__ = ("_claims", "_core", "_depth", "_instruction", "_operands", "_row")

    def __init__(self, operands: Sequence[Operand], instruction: Instructions) -> None:
        self._operands, self._instruction = operands, instruction
        self._core: Bundle | None = None
        self._claims: ComposedClaims | None = None
        self._row: list[Bundle] | None = None
        self._depth = 0
        is_first = True
        for whole, claims in operands:
            for late in (whole, claims):
                if type(late) is LateBundle:
                    is_kept = not is_first or whole is not late or late._core is not None
                    self._depth = max(self._depth, late._depth + is_kept)
            is_first = False
        if self._depth > _MOST_KEPT:
            self.settle()

    def __getstate__(self) -> object:
        """Let copies be made of the result, not of everything on the way to it."""
        self.settle()
        return object.__getstate__(self)

    def settle(self) -> None:
        """Work everything out, and keep nothing else."""
        self.core()
        self.claims()

    def core(self) -> Bundle:
        """Return the composed bundle."""
        if self._core is None:
            self._core = compose_in_steps(*self._steps())
            self._forget()
        return self._core

    def claims(self) -> ComposedClaims:
        """Return which bundle brought each item in."""
        if self._claims is not None:
            return self._claims
        waiting = [self]
        while isinstance(below := waiting[-1]._operands[0][1], LateBundle) and below._claims is None:
            waiting.append(below)
        found = waiting.pop()._composed_claims(None)
        while waiting:  # not stored on the way: each has the claims of all before it
            found = waiting.pop()._composed_claims(found)
        self._claims = found
        self._forget()
        return found

    def plain(self, name: str) -> Any:
        """Return new plain data for a section."""
        section = BY_NAME[name]
        tables = [each.sections[name] for each in self._bundles() if name in each.sections]
        return section.plain_of(tables) if tables else section.plain(NO_ENTRIES)

    def section(self, name: str) -> Table:
        """Return a section."""
        tables = [each.sections[name] for each in self._bundles() if name in each.sections]
        return BY_NAME[name].merge(tables) if tables else NO_ENTRIES

    def plain_sections(self) -> dict[str, Any]:
        """Return new plain data for each section of a mount plan that there is."""
        sections = [each.sections for each in self._bundles()]
        there = set[str]().union(*sections)
        return {
            name: BY_NAME[name].plain_of([each[name] for each in sections if name in each])
            for name in PLANS
            if name in there
        }

    @property
    def name(self) -> str:
        return self._last("name")

    @property
    def extra(self) -> Table:
        tables = [each.extra for each in self._bundles() if each.extra]
        return merge_tables(tables) if tables else NO_ENTRIES

    @property
    def includes(self) -> tuple[Include, ...]:
        return self._bundles()[0].includes

    @property
    def resolved_context(self) -> dict[str, str]:
        return context_paths(self.section("context"))

    @property
    def pending_context(self) -> dict[str, str]:
        return context_references(self.section("context"))

    @property
    def source_base_paths(self) -> Mapping[str, str]:
        if self._core is not None:
            return self._core.source_base_paths
        return composed_namespaces(*self._steps())

    @property
    def shown_version(self) -> str:
        return self._last("version") or DEFAULT_VERSION

    @property
    def description(self) -> str:
        return self._last("description")

    @property
    def base_path(self) -> str | None:
        return self._last("base_path") or None

    @property
    def namespace_root(self) -> str | None:
        return self._bundles()[0].namespace_root

    @property
    def system_instruction(self) -> str | None:
        leaf = self._core.instruction if self._core is not None else composed_instruction(*self._steps())
        return str(leaf.value) if leaf is not None else None

    @property
    def reach(self) -> Reach:
        return joined(each.reach for each in self._bundles())

    def _last(self, field: str) -> str:
        found: Iterator[str] = (getattr(each, field) for each in reversed(self._bundles()))
        return next((text for text in found if text), "")

    def _bundles(self) -> list[Bundle]:
        """Return the bundles to compose, in a row."""
        if self._row is None:
            row: list[Bundle] = []
            late: Bundle | LateBundle = self
            while type(late) is LateBundle and late._core is None:
                for whole, _ in late._operands[:0:-1]:
                    row.append(whole if type(whole) is Bundle else core_of(whole))
                late = late._operands[0][0]
            row.append(core_of(late))
            row.reverse()
            self._row = row
        return self._row

    def _steps(self) -> tuple[Bundle, list[Overlay]]:
        """Return what it begins with, and what is composed on it, however many late bundles that is."""
        steps: list[Overlay] = []
        late: Bundle | LateBundle = self
        while isinstance(late, LateBundle) and late._core is None:
            steps.append(Overlay([core_of(whole) for whole, _ in late._operands[1:]], late._instruction))
            late = late._operands[0][0]
        steps.reverse()
        return core_of(late), steps

    def _composed_claims(self, first: Claims | None) -> ComposedClaims:
        """Return its claims, where `first` are those of the first operand if they are known."""
        layers = [Layer(whole, _claims_of(whole, claims)) for whole, claims in self._operands[1:]]
        whole, claims = self._operands[0]
        known = first if first is not None else _claims_of(whole, claims)
        return compose_claims([Layer(whole, known), *layers], self)

    def _forget(self) -> None:
        """Let go of what is no longer needed."""
        self._row = None if self._core is not None else self._row
        if self._core is not None and self._claims is not None:
            self._operands, self._depth = (), 0
            if self._claims.whole is self:
                self._claims.whole = self._core  # rather than a circle


Operand: TypeAlias = tuple[Bundle | LateBundle, Claims | LateBundle | None]


def _claims_of(whole: Bundle | LateBundle, claims: Claims | LateBundle | None) -> Claims:
    if claims is None:
        return origins(core_of(whole))
    return claims.claims() if isinstance(claims, LateBundle) else claims
