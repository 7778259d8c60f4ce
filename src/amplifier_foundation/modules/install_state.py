"""Remember which projects were installed."""

from amplihack.system.modules.install_state import InstallStateManager

__all__ = ["InstallStateManager"]
