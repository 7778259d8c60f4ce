"""A cache that lives as long as the process."""

from amplihack.system.foundation.caches import SimpleCache

__all__ = ["SimpleCache"]
