"""YAML files."""

from amplihack.system.yaml_files import read_yaml, write_yaml

__all__ = ["read_yaml", "write_yaml"]
