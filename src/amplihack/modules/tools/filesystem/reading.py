"""Read files for a model: numbered lines, listings of directories, pictures."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from amplifier_core import ToolResult

from amplihack.errors import NotFound
from amplihack.modules.tools.filesystem.places import FilePlaces
from amplihack.modules.tools.tool import Properties, ShippedTool, ToolFailed

_LONGEST_LINE = 2_000
_MOST_CHARACTERS = 200_000
_MOST_ENTRIES = 1_000
_PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}


class ReadFile(ShippedTool):
    name = "read_file"
    properties: ClassVar[Properties] = {
        "file_path": {
            "type": "string",
            "description": "the file or directory; relative to the session's directory",
        },
        "offset": {"type": "integer", "minimum": 1, "description": "the first line, from 1"},
        "limit": {"type": "integer", "minimum": 1, "description": "how many lines"},
    }
    required = ("file_path",)

    def __init__(self, places: FilePlaces, most_lines: int) -> None:
        self._places, self._most_lines = places, most_lines

    @property
    def description(self) -> str:
        return (
            f"Read a text file with line numbers (at most {self._most_lines} lines at once; use offset and "
            "limit for more), list a directory, or look at a picture."
        )

    async def run(self, given: Mapping[str, Any]) -> Any:
        text = given["file_path"]
        path, fence = self._places.path(text), self._places.reading(text)
        kind = await asyncio.to_thread(fence.kind, path)
        if kind == "directory":
            return listing(path, await asyncio.to_thread(fence.list, path))
        if not kind:
            raise NotFound(f"{path} does not exist", fix="check the path, or list its directory")
        data = await self._places.load(text)
        await self._places.tell("artifact:read", path, len(data))
        if picture := _picture(data):
            return _shown(path, data, picture)
        return self._numbered(path, data, given)

    def _numbered(self, path: Path, data: bytes, given: Mapping[str, Any]) -> dict[str, Any]:
        lines = lines_of(decoded(path, data))
        first = given.get("offset", 1)
        if lines and first > len(lines):
            raise ToolFailed(f"{path} has {len(lines)} lines", fix=f"use an offset up to {len(lines)}")
        wanted = lines[first - 1 : first - 1 + min(given.get("limit", self._most_lines), self._most_lines)]
        shown, notes = _cut(wanted, first)
        last = first + len(shown) - 1
        if last < len(lines):
            notes.append(f"lines {first} to {last} of {len(lines)}: the rest with offset {last + 1}")
        result: dict[str, Any] = {
            "file_path": str(path),
            "content": "\n".join(shown),
            "total_lines": len(lines),
        }
        if notes:
            result["note"] = "; ".join(notes)
        return result


def decoded(path: Path, data: bytes) -> str:
    """Return the text of a file. Raises ToolFailed for what is no text."""
    if b"\0" in data[:8_192]:
        raise ToolFailed(f"{path} is no text ({len(data)} bytes)", fix="look at it with a shell command")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def lines_of(text: str) -> list[str]:
    """Return the lines as grep and compilers count them: only a newline ends one, with a CR or without."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def listing(path: Path, names: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"directory": str(path), "entries": names[:_MOST_ENTRIES]}
    if len(names) > _MOST_ENTRIES:
        found["note"] = f"the first {_MOST_ENTRIES} of {len(names)} entries"
    return found


def _cut(lines: list[str], first: int) -> tuple[list[str], list[str]]:
    """Return numbered lines up to the limit of characters, and what to say about it."""
    shown: list[str] = []
    total, cut = 0, 0
    for number, line in enumerate(lines, first):
        if len(line) > _LONGEST_LINE:
            line, cut = line[:_LONGEST_LINE] + "…", cut + 1
        total += len(line) + 8
        if total > _MOST_CHARACTERS and shown:
            break
        shown.append(f"{number:6}\t{line}")
    return shown, [f"{cut} lines were longer than {_LONGEST_LINE} characters and are cut"] if cut else []


def _picture(data: bytes) -> str:
    found = next((kind for mark, kind in _PICTURES.items() if data.startswith(mark)), "")
    return "" if found == "image/webp" and data[8:12] != b"WEBP" else found


def _shown(path: Path, data: bytes, media_type: str) -> Any:
    text = f"{path}: {media_type}, {len(data)} bytes"
    source = {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}
    return ToolResult(
        success=True,
        output=text,
        content=[{"type": "text", "text": text}, {"type": "image", "source": source}],
    )
