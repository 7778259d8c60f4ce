"""Read and write YAML files."""

from amplihack.system.foundation.app_yaml import read_yaml, write_yaml

__all__ = ["read_yaml", "write_yaml"]
