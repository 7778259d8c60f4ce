"""Read and write files, YAML and frontmatter."""

from amplifier_foundation.io.files import read_with_retry, write_with_backup, write_with_retry
from amplifier_foundation.io.frontmatter import parse_frontmatter
from amplifier_foundation.io.yaml import read_yaml, write_yaml

__all__ = [
    "parse_frontmatter",
    "read_with_retry",
    "read_yaml",
    "write_with_backup",
    "write_with_retry",
    "write_yaml",
]
