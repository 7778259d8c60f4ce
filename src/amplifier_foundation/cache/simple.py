"""A cache that lives as long as the process."""

from amplihack.system.caches import SimpleCache

__all__ = ["SimpleCache"]
