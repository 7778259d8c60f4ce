"""Merge one mapping, or one list of modules, over another."""

from amplihack.bundles.merge import deep_merge, merge_module_lists

__all__ = ["deep_merge", "merge_module_lists"]
