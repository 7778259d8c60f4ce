"""Export the errors of bundles."""

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
