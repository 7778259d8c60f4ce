"""Merge mappings, and get and set values inside them."""

from amplifier_foundation.dicts.merge import deep_merge, merge_module_lists
from amplifier_foundation.dicts.navigation import get_nested, set_nested

__all__ = ["deep_merge", "get_nested", "merge_module_lists", "set_nested"]
