"""Translate a bundle of the old API into one of ours, and back.

Our bundle is the truth. A field of plain data is made when a program first reads it, and only then compared
with ours: bundles that are merely composed are never translated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_foundation.configurator._types import Origin
from amplihack.bundles import model
from amplihack.bundles.foundation.origin_claims import LateClaims
from amplihack.bundles.foundation.plain_bundle import (
    FIELDS,
    PlainBundle,
    bundle_of,
    plain_extra,
    plain_includes,
    plain_section,
)
from amplihack.bundles.provenance import Claim, origins

if TYPE_CHECKING:
    from amplifier_foundation.bundle._dataclass import Bundle

# Fields of plain data, and how each is made. None of them shares anything with anything.
ON_DEMAND: Mapping[str, Callable[[model.Bundle], Any]] = {
    "includes": plain_includes,
    **{name: partial(plain_section, name=name) for name in FIELDS},
    "context": lambda core: {name: Path(path) for name, path in core.resolved_context.items()},
    "source_base_paths": lambda core: {name: Path(path) for name, path in core.source_base_paths.items()},
    "_pending_context": lambda core: core.pending_context,
    "extra": plain_extra,
}


def to_core(bundle: Bundle, *, tolerant: bool = False) -> model.Bundle:
    """Return our bundle. Fields that nobody has changed keep their lines and origins."""
    seen, core = vars(bundle), bundle._core
    if core is not None and seen.keys().isdisjoint(ON_DEMAND) and _is_unchanged(bundle, core):
        return core
    plain = PlainBundle(
        name=bundle.name,
        version=bundle.version,
        description=bundle.description,
        namespace_root=bundle.namespace_root,
        instruction=bundle.instruction,
        base_path=str(bundle.base_path) if bundle.base_path is not None else None,
        includes=seen.get("includes"),
        sections={name: seen[name] for name in FIELDS if name in seen},
        extra=seen.get("extra"),
        context=_texts(seen.get("context")),
        pending=seen.get("_pending_context"),
        source_base_paths=_texts(seen.get("source_base_paths")),
        known=core or model.Bundle(),
    )
    return bundle_of(plain, tolerant=tolerant)


def _is_unchanged(bundle: Bundle, core: model.Bundle) -> bool:
    """Tell whether the fields that are no data on demand are as they were made."""
    base_path = str(bundle.base_path) if bundle.base_path is not None else None
    return (
        bundle.name == core.name
        and base_path == core.base_path
        and bundle.instruction == core.system_instruction
        and bundle.version == core.shown_version
        and bundle.description == core.description
        and bundle.namespace_root == core.namespace_root
    )


def sections_of(bundle: Bundle) -> dict[str, Any]:
    """Return the fields that hold sections."""
    return {name: getattr(bundle, name) for name in FIELDS}


def claims_of(bundle: Bundle) -> Mapping[str, Sequence[Claim]]:
    """Return which bundle brought each item in."""
    if "origins" in vars(bundle):
        return {
            key: [Claim(each.bundle, each.via_behavior) for each in found]
            for key, found in bundle.origins.items()
        }
    if bundle._claims is None:
        bundle._claims = origins(bundle._core or model.Bundle())
    elif isinstance(bundle._claims, LateClaims):
        bundle._claims = bundle._claims.settle()
    return bundle._claims


def known_claims(bundle: Bundle) -> Mapping[str, Sequence[Claim]] | LateClaims:
    """Return the same as it is now, worked out only if somebody has asked for it."""
    late = bundle._claims
    return late if isinstance(late, LateClaims) and "origins" not in vars(bundle) else claims_of(bundle)


def origins_of(bundle: Bundle) -> dict[str, list[Origin]]:
    """Return the same in the types of the old API."""
    claims = claims_of(bundle)
    return {key: [Origin(each.bundle, each.via) for each in found] for key, found in claims.items()}


def _texts(paths: Mapping[str, Path | str] | None) -> dict[str, str] | None:
    return {name: str(path) for name, path in paths.items()} if paths is not None else None
