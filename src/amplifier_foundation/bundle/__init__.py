"""Export bundles and their operations on first use, because costs and events need no YAML."""

from __future__ import annotations

__all__ = ["Bundle"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(f"{__name__}._dataclass"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
