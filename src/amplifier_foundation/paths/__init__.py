"""Parse addresses and build paths."""

from amplifier_foundation.paths.construction import construct_agent_path, construct_context_path
from amplifier_foundation.paths.discovery import find_bundle_root, find_files
from amplifier_foundation.paths.resolution import (
    ParsedURI,
    describe_cross_platform_path_mismatch,
    get_amplifier_home,
    normalize_path,
    parse_uri,
    strip_uri_drive_prefix,
)

__all__ = [
    "ParsedURI",
    "construct_agent_path",
    "construct_context_path",
    "describe_cross_platform_path_mismatch",
    "find_bundle_root",
    "find_files",
    "get_amplifier_home",
    "normalize_path",
    "parse_uri",
    "strip_uri_drive_prefix",
]
