"""Read pages of a bundle: their frontmatter, and what their text refers to."""

from amplihack.system.foundation.app_yaml import parse_page as parse_frontmatter
from amplihack.system.foundation.prose_references import (
    extract_delegation_targets,
    extract_mentions,
    resolve_local_mention,
)

__all__ = ["extract_delegation_targets", "extract_mentions", "parse_frontmatter", "resolve_local_mention"]
