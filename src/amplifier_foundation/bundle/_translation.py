"""Translate a bundle of the old API into one of ours, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_foundation.configurator._types import Origin
from amplihack.bundles import model
from amplihack.bundles.foundation.plain_bundle import (
    FIELDS,
    PlainBundle,
    bundle_of,
    plain_includes,
    plain_sections,
)
from amplihack.bundles.provenance import Claim

if TYPE_CHECKING:
    from amplifier_foundation.bundle._dataclass import Bundle


def to_core(bundle: Bundle, *, tolerant: bool = False) -> model.Bundle:
    """Return what amplihack works with; fields that nobody has changed keep their lines and trails."""
    plain = PlainBundle(
        name=bundle.name,
        version=bundle.version,
        description=bundle.description,
        includes=bundle.includes,
        namespace_root=bundle.namespace_root,
        sections=sections_of(bundle),
        extra=bundle.extra,
        context={name: str(path) for name, path in bundle.context.items()},
        pending=bundle._pending_context,
        instruction=bundle.instruction,
        base_path=_text(bundle.base_path),
        source_base_paths={name: str(path) for name, path in bundle.source_base_paths.items()},
        known=bundle._core or model.Bundle(),
    )
    return bundle_of(plain, tolerant=tolerant)


def fields_of(core: model.Bundle) -> dict[str, Any]:
    """Return new plain data for every field; nothing in it is shared with anything."""
    return {
        "name": core.name,
        "version": core.shown_version,
        "description": core.description,
        "includes": plain_includes(core),
        "namespace_root": core.namespace_root,
        **plain_sections(core),
        "context": {name: Path(path) for name, path in core.resolved_context.items()},
        "instruction": core.system_instruction,
        "base_path": Path(core.base_path) if core.base_path is not None else None,
        "source_base_paths": {name: Path(path) for name, path in core.source_base_paths.items()},
        "_pending_context": core.pending_context,
    }


def sections_of(bundle: Bundle) -> dict[str, Any]:
    return {name: getattr(bundle, name) for name in FIELDS}


def to_origins(claims: Mapping[str, Sequence[Claim]]) -> dict[str, list[Origin]]:
    return {key: [Origin(each.bundle, each.via) for each in found] for key, found in claims.items()}


def to_claims(origins: Mapping[str, Sequence[Origin]]) -> dict[str, list[Claim]]:
    return {key: [Claim(each.bundle, each.via_behavior) for each in found] for key, found in origins.items()}


def _text(path: Path | str | None) -> str | None:
    return str(path) if path is not None else None
