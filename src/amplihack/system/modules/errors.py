"""Define what can go wrong with modules before a session is opened."""

from __future__ import annotations

from amplihack.bundles.errors import BundleError


class ModuleError(BundleError):
    """One module that cannot be used."""


class ModuleActivationError(BundleError):
    """Modules that could not be made ready, each with its reason."""
