"""Estimate the cost of a bundle's parts, and find what they refer to."""

from amplifier_foundation.bundle_docs.bundle_to_dot import bundle_repo_dot
from amplifier_foundation.bundle_docs.frontmatter import (
    extract_delegation_targets,
    extract_mentions,
    parse_frontmatter,
    resolve_local_mention,
)
from amplifier_foundation.bundle_docs.token_cost import color_tier, estimate_tokens
from amplifier_foundation.bundle_docs.tool_schema import estimate_module_tool_tokens

__all__ = [
    "bundle_repo_dot",
    "color_tier",
    "estimate_module_tool_tokens",
    "estimate_tokens",
    "extract_delegation_targets",
    "extract_mentions",
    "parse_frontmatter",
    "resolve_local_mention",
]
