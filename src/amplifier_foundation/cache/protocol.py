"""Define the protocol of a cache of bundles."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

__all__ = ["CacheProviderProtocol"]


@runtime_checkable
class CacheProviderProtocol(Protocol):
    def get(self, key: str) -> Any | None: ...

    def set(self, key: str, bundle: Any) -> None: ...

    def clear(self) -> None: ...

    def __contains__(self, key: str) -> bool: ...
