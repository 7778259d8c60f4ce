"""Parse markdown with YAML at the top."""

from amplihack.system.foundation.app_yaml import parse_frontmatter

__all__ = ["parse_frontmatter"]
