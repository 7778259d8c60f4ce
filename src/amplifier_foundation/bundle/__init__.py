"""Export bundles and their operations on first use, because costs and events need no YAML."""

from __future__ import annotations

_HOMES = {
    "Bundle": "_dataclass",
    "BundleModuleResolver": "_prepared",
    "BundleModuleSource": "_prepared",
    "PreparedBundle": "_prepared",
    "SessionPreInitializer": "_prepared",
}
__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
