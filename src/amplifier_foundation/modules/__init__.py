"""Bring modules here, and remember what was installed for them."""

from amplifier_foundation.modules.activator import ModuleActivationError, ModuleActivator
from amplifier_foundation.modules.install_state import InstallStateManager

__all__ = ["InstallStateManager", "ModuleActivationError", "ModuleActivator"]
