"""Track which bundle brought each item in, when a program composes bundles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from amplihack.bundles.model import Bundle
from amplihack.bundles.provenance import Claim, items_of
from amplihack.bundles.sections.context import named_context
from amplihack.records import Record, field


class Composed(Protocol):
    """A composition that may not have been made yet."""

    @property
    def name(self) -> str: ...

    def core(self) -> Bundle: ...


class Layer(Record):
    """A bundle to compose, with what is already known about the origin of its items."""

    bundle: Bundle | Composed
    claims: Mapping[str, Sequence[Claim]] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Tell whether the claims tell of all items, since the bundle is what they were made for."""
        made_for = self.claims.whole if isinstance(self.claims, ComposedClaims) else None
        if made_for is None or made_for is self.bundle:
            return made_for is not None
        before, now = core_of(made_for), core_of(self.bundle)
        return (
            before.instruction is now.instruction
            and before.sections.keys() == now.sections.keys()
            and all(before.sections[name] is table for name, table in now.sections.items())
        )

    def items(self) -> list[str]:
        """Return its items, with context under the names that a composition gives it."""
        core = core_of(self.bundle)
        if "context" in core.sections:
            core = core.with_sections({"context": named_context(core.context)})
        return [key for key, _ in items_of(core)]


def core_of(bundle: Bundle | Composed) -> Bundle:
    """Return a bundle, composed now if it was not."""
    return bundle if isinstance(bundle, Bundle) else bundle.core()


class ComposedClaims(dict[str, Sequence[Claim]]):
    """The claims of a composition. `whole` is that composition if they tell of all its items."""

    __slots__ = ("whole",)

    def __init__(self, claims: Mapping[str, Sequence[Claim]], whole: Bundle | Composed | None) -> None:
        super().__init__(claims)
        self.whole = whole


def compose_claims(layers: Sequence[Layer], whole: Bundle | Composed) -> ComposedClaims:
    """Return the claims of a composition of layers: the first to bring an item in keeps it.

    Bundles that are composed one by one make a first layer that only grows. Its items are not walked again
    while it is what its claims were made for, so each step costs what it adds.
    """
    first = layers[0]
    is_complete = first.is_complete
    found = dict(first.claims)
    if not is_complete:
        found = {key: claims for key, claims in found.items() if not _is_renamed(key)}
        _bring(first, found)
        is_complete = all(_is_settled(key, claims) for key, claims in found.items())
    for layer in layers[1:]:
        is_complete = _bring(layer, found) and is_complete
    if not is_complete:
        found = {key: claims for key, claims in found.items() if claims}
    return ComposedClaims(found, whole if is_complete else None)


def _bring(layer: Layer, found: dict[str, Sequence[Claim]]) -> bool:
    """Add the items that a layer brings in; tell whether all of them are settled."""
    is_settled = True
    for key in layer.items():
        if key not in found:
            found[key] = _brought(layer.bundle.name, layer.claims.get(key, ()))
            is_settled = is_settled and _is_settled(key, found[key])
    return is_settled


def _is_settled(key: str, claims: Sequence[Claim]) -> bool:
    """Tell whether an item keeps its name and its claims in every later composition."""
    return bool(claims) and not _is_renamed(key)


def _brought(name: str, known: Sequence[Claim]) -> list[Claim]:
    """Return the claims on an item that a bundle brings in. A bundle without a name claims nothing."""
    if not name or not known:
        return list(known) if not name else [Claim(name, None)]
    through = (Claim(each.bundle, name) for each in known if each.bundle != name)
    return list(dict.fromkeys((Claim(name, None), *through)))


def _is_renamed(key: str) -> bool:
    """Tell whether composing puts its bundle's name in front of a context name."""
    return key.count(":") == 1 and key.startswith("context:")
