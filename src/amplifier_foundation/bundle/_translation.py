"""Translate a bundle of the old API into one of ours, and back.

Our bundle is the truth. A field of plain data is made when a program first reads it, and only then compared
with ours: bundles that are merely composed are never translated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from amplifier_foundation.configurator._types import Origin
from amplihack.bundles import model, mount_plan
from amplihack.bundles.errors import BundleValidationError, error_from
from amplihack.bundles.foundation.late_bundle import LateBundle, Operand
from amplihack.bundles.foundation.origin_claims import core_of
from amplihack.bundles.foundation.plain_bundle import (
    FIELDS,
    PlainBundle,
    bundle_of,
    field_problems,
    plain_extra,
    plain_includes,
    plain_section,
)
from amplihack.bundles.mount_plan import plain_sections
from amplihack.bundles.provenance import Claim, origins

if TYPE_CHECKING:
    from amplifier_foundation.bundle._dataclass import Bundle

Whole: TypeAlias = model.Bundle | LateBundle

UNSEEN = ("_made", "_claims")  # all that a bundle of ours holds before somebody looks

_path = lru_cache(maxsize=256)(Path)  # bundles that are composed one by one share few directories


def _base_path(whole: Whole) -> Path | None:
    return _path(whole.base_path) if whole.base_path is not None else None


def section_of(whole: Whole, name: str) -> Any:
    """Return new plain data for a section."""
    return whole.plain(name) if isinstance(whole, LateBundle) else plain_section(whole, name)


def _paths(paths: Mapping[str, str]) -> dict[str, Path]:
    return {name: _path(path) for name, path in paths.items()}


# Fields that hold one value which cannot change.
SIMPLE: Mapping[str, Callable[[Whole], Any]] = {
    "name": attrgetter("name"),
    "version": attrgetter("shown_version"),
    "description": attrgetter("description"),
    "namespace_root": attrgetter("namespace_root"),
    "instruction": attrgetter("system_instruction"),
    "base_path": _base_path,
}
# All fields that come from our bundle, and how each is made. None of them shares anything with anything.
ON_DEMAND: Mapping[str, Callable[[Whole], Any]] = {
    **SIMPLE,
    **{name: partial(section_of, name=name) for name in FIELDS},
    "includes": plain_includes,
    "context": lambda whole: _paths(whole.resolved_context),
    "source_base_paths": lambda whole: _paths(whole.source_base_paths),
    "_pending_context": lambda whole: whole.pending_context,
    "extra": plain_extra,
}
_CHANGEABLE = frozenset(ON_DEMAND) - frozenset(SIMPLE)
# Fields that our bundle does not have: what a load tells. Most are empty.
BESIDE: Mapping[str, Callable[[Whole], Any]] = {"load_report": lambda _: [], "_commits": lambda _: {}}


def plan_of(whole: Whole) -> dict[str, Any]:
    """Return a mount plan in which the modules of `session` are named as they were written."""
    sections = whole.plain_sections() if isinstance(whole, LateBundle) else plain_sections(whole)
    plan = mount_plan.plan_of(sections)
    return {**plan, "session": sections["session"]} if "session" in plan else plan


class OnDemand:
    """A field that is made when it is first looked at. What a program assigned to it stands before it."""

    __slots__ = ("_make", "_name")

    def __init__(self, name: str, make: Callable[[Whole], Any] | None) -> None:
        self._name, self._make = name, make  # None: the origins, which need more than our bundle

    def __get__(self, bundle: Bundle | None, _owner: type | None = None) -> Any:
        if bundle is None:
            return self
        made = bundle._made
        if made is None:
            raise AttributeError(f"{type(bundle).__name__!r} object has no attribute {self._name!r}")
        value = self._make(made) if self._make is not None else origins_of(bundle)
        bundle.__dict__[self._name] = value
        return value


def whole_of(bundle: Bundle, *, tolerant: bool = False) -> Whole:
    """Return our bundle, composed or not yet. Fields that nobody has changed keep their lines and origins."""
    seen, made = bundle.__dict__, bundle._made
    if made is not None and (len(seen) <= len(UNSEEN) or _is_unchanged(seen, made)):
        return made
    wrong = field_problems(seen)
    if wrong and not tolerant:
        raise error_from(BundleValidationError, tuple(wrong.values()))
    if wrong:
        seen = {name: value for name, value in seen.items() if name not in wrong}
    plain = PlainBundle(
        name=bundle.name if "name" not in wrong else "",
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
        known=core_of(made) if made is not None else model.Bundle(),
    )
    changed = bundle_of(plain, tolerant=tolerant)
    if made is not None and bundle._claims is not None and not any(map(_CHANGEABLE.__contains__, seen)):
        bundle._made = changed  # nothing in it can change unseen, so it need not be made again
    return changed


def to_core(bundle: Bundle, *, tolerant: bool = False) -> model.Bundle:
    """Return our bundle, composed."""
    return core_of(whole_of(bundle, tolerant=tolerant))


def _is_unchanged(seen: Mapping[str, Any], made: Whole) -> bool:
    """Tell whether nobody has looked at data that can be changed, or assigned another value to a field."""
    for name in seen:
        if name in ON_DEMAND:
            if name not in SIMPLE:
                return False
            value = SIMPLE[name](made)
            if value is not seen[name] and value != seen[name]:
                return False
    return True


def operand(bundle: Bundle) -> Operand:
    """Return a bundle as it is now, with its claims, to be composed when somebody looks."""
    whole = whole_of(bundle)
    if "origins" in vars(bundle) or (bundle._claims is None and whole is not bundle._made):
        return whole, claims_of(bundle)
    return whole, bundle._claims


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
        bundle._claims = origins(core_of(bundle._made) if bundle._made is not None else model.Bundle())
    elif isinstance(bundle._claims, LateBundle):
        bundle._claims = bundle._claims.claims()
    return bundle._claims


def origins_of(bundle: Bundle) -> dict[str, list[Origin]]:
    """Return the same in the types of the old API."""
    claims = claims_of(bundle)
    return {key: [Origin(each.bundle, each.via) for each in found] for key, found in claims.items()}


def _texts(paths: Mapping[str, Path | str] | None) -> dict[str, str] | None:
    return {name: str(path) for name, path in paths.items()} if paths is not None else None
