"""Markdown with YAML at the top."""

from amplihack.system.yaml_files import parse_frontmatter

__all__ = ["parse_frontmatter"]
