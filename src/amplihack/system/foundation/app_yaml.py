"""Read YAML files and frontmatter of applications as PyYAML's safe loader does."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import yaml

from amplihack.bundles.errors import BundleLoadError
from amplihack.system.replace import replace_text

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NEW_FILE = 0o644


async def read_yaml(path: Path) -> dict[str, Any] | None:
    """Return the mapping in the file: None without a file, empty for an empty one.

    Raises yaml.YAMLError, or BundleLoadError when the file holds something else.
    """
    return await asyncio.to_thread(read_now, path)


async def write_yaml(path: Path, data: dict[str, Any]) -> None:
    """Replace the file in one step, in block style with the keys in their order; makes its directory."""
    await asyncio.to_thread(write_now, path, data)


def read_now(path: Path) -> dict[str, Any] | None:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    return _mapping(yaml.load(text, Loader=_Loader), str(path))  # noqa: S506 - it is a safe loader


def write_now(path: Path, data: dict[str, Any]) -> None:
    text = yaml.safe_dump(data, default_flow_style=False, allow_unicode=True, sort_keys=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, text, new_mode=_NEW_FILE)


def parse_frontmatter(text: str) -> tuple[dict[str, Any], str]:
    """Return the YAML between two lines of `---` at the top, and the text below; no such lines, no YAML.

    Raises yaml.YAMLError, or BundleLoadError when the YAML is no mapping.
    """
    text = text.lstrip("\ufeff")
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip() != "---":
        return {}, text
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        return {}, text
    found = yaml.load("".join(lines[1:end]), Loader=_Loader)  # noqa: S506 - it is a safe loader
    body = end + 1
    while body < len(lines) and not lines[body].strip():
        body += 1
    return _mapping(found, "the frontmatter"), "".join(lines[body:])


def parse_page(path: Path) -> tuple[dict[str, Any], str]:
    """Read a file as `parse_frontmatter` does; a YAML file is all frontmatter."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix not in (".yaml", ".yml"):
        return parse_frontmatter(text)
    return _mapping(yaml.load(text, Loader=_Loader), str(path)), ""  # noqa: S506 - it is a safe loader


def _mapping(found: Any, where: str) -> dict[str, Any]:
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise BundleLoadError(f"{where} should hold a mapping, and holds a {type(found).__name__}")
    return found
