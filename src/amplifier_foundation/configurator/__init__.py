"""Look at and change the parts of a session, on first use, because origins need none of it."""

from __future__ import annotations

from amplifier_foundation.configurator._types import IncludeStep, ItemRecord, Origin

_HOMES = {
    "RUNTIME_CONTEXT_OVERLAY_CAPABILITY": "_overlay",
    "RUNTIME_SKILL_OVERLAY_CAPABILITY": "_overlay",
    "RuntimeOverlay": "_overlay",
    "TransitionResult": "_overlay",
    "SessionConfigurator": "_session",
    "walk_include_chain": "_session",
    "walk_include_chains": "_session",
}
__all__ = ["IncludeStep", "ItemRecord", "Origin", *_HOMES]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
