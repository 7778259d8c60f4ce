"""Cache bundles in memory."""

from amplihack.system.foundation.caches import SimpleCache

__all__ = ["SimpleCache"]
