"""Track which bundle brought each item in, when a program composes bundles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amplihack.bundles.model import Bundle
from amplihack.bundles.provenance import Claim, items_of
from amplihack.bundles.sections.context import named_context
from amplihack.records import Record, field


class Layer(Record):
    """A bundle to compose, with what is already known about the origin of its items."""

    bundle: Bundle
    claims: Mapping[str, Sequence[Claim]] = field(default_factory=dict)

    def items(self) -> list[str]:
        """Return its items, with context under the names that a composition gives it."""
        named = self.bundle.with_sections({"context": named_context(self.bundle.context)})
        return [key for key, _ in items_of(named)]


def compose_claims(layers: Sequence[Layer]) -> dict[str, Sequence[Claim]]:
    """Return the claims of the whole, in linear time. The first to bring an item in keeps it."""
    found: dict[str, Sequence[Claim]] = {}
    for number, layer in enumerate(layers):
        name = layer.bundle.name
        if number == 0:
            found = {key: claims for key, claims in layer.claims.items() if not _is_renamed(key)}
        for key in layer.items():
            if key not in found:
                found[key] = _brought(name, layer.claims.get(key, ()))
    return {key: claims for key, claims in found.items() if claims}


def _brought(name: str, known: Sequence[Claim]) -> list[Claim]:
    """Return the claims on an item that a bundle brings in. A bundle without a name claims nothing."""
    if not name:
        return list(known)
    through = (Claim(each.bundle, name) for each in known if each.bundle != name)
    return list(dict.fromkeys((Claim(name, None), *through)))


def _is_renamed(key: str) -> bool:
    """Tell whether composing puts its bundle's name in front of a context name."""
    kind, _, name = key.partition(":")
    return kind == "context" and ":" not in name
