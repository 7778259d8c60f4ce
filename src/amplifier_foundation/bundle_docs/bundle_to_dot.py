"""A repository of bundles as a picture."""

from amplihack.system.bundle_docs.repository import bundle_repo_dot

__all__ = ["bundle_repo_dot"]
