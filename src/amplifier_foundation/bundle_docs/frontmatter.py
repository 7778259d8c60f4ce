"""Pages of a bundle: their frontmatter, and what their text refers to."""

from amplihack.system.bundle_docs.references import (
    extract_delegation_targets,
    extract_mentions,
    resolve_local_mention,
)
from amplihack.system.yaml_files import parse_page as parse_frontmatter

__all__ = ["extract_delegation_targets", "extract_mentions", "parse_frontmatter", "resolve_local_mention"]
