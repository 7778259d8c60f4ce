"""Get and set values deep inside mappings."""

from amplihack.sessions.nested import get_nested, set_nested

__all__ = ["get_nested", "set_nested"]
