"""Cache bundles by key."""

from amplifier_foundation.cache.disk import DiskCache
from amplifier_foundation.cache.protocol import CacheProviderProtocol
from amplifier_foundation.cache.simple import SimpleCache

__all__ = ["CacheProviderProtocol", "DiskCache", "SimpleCache"]
