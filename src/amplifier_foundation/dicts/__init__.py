"""Mappings merged and walked."""

from amplifier_foundation.dicts.merge import deep_merge, merge_module_lists
from amplifier_foundation.dicts.navigation import get_nested, set_nested

__all__ = ["deep_merge", "get_nested", "merge_module_lists", "set_nested"]
