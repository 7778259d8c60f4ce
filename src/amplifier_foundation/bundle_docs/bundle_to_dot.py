"""Draw a repository of bundles."""

from amplihack.system.foundation.bundle_repository import bundle_repo_dot

__all__ = ["bundle_repo_dot"]
