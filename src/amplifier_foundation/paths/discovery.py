"""Find files by pattern, and the bundle that a path belongs to."""

from amplihack.system.foundation.app_paths import find_bundle_root, find_files

__all__ = ["find_bundle_root", "find_files"]
