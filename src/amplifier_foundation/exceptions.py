"""What can be wrong with a bundle."""

from amplihack.bundles.errors import (
    BundleDependencyError,
    BundleError,
    BundleLoadError,
    BundleNotFoundError,
    BundleValidationError,
)

__all__ = [
    "BundleDependencyError",
    "BundleError",
    "BundleLoadError",
    "BundleNotFoundError",
    "BundleValidationError",
]
