"""Write and edit files for a model: in one step, in the encoding and with the line ends that they have."""

from __future__ import annotations

import asyncio
import difflib
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from amplihack.errors import NotFound
from amplihack.modules.tools.filesystem.places import FilePlaces
from amplihack.modules.tools.filesystem.reading import decoded, lines_of
from amplihack.modules.tools.tool import Properties, ShippedTool, ToolFailed
from amplihack.system.fence import ChangedMeanwhile

_BOM = b"\xef\xbb\xbf"
_LONGEST_DIFF = 20_000
_TRIES = 5
_ONE_AT_A_TIME = threading.Lock()  # calls of one step, and agents side by side, may change the same file


class WriteFile(ShippedTool):
    name = "write_file"
    description = "Write a text file, with its directories. An existing file is replaced."
    properties: ClassVar[Properties] = {
        "file_path": {"type": "string", "description": "where; relative to the session's directory"},
        "content": {"type": "string", "description": "the whole content of the file"},
    }
    required = ("file_path", "content")

    def __init__(self, places: FilePlaces) -> None:
        self._places = places

    async def run(self, given: Mapping[str, Any]) -> Any:
        data = _encoded(given["content"])
        path = self._places.path(given["file_path"])
        real = await asyncio.to_thread(self._write, path, data)
        await self._places.tell("artifact:write", real, len(data))
        return {"file_path": str(path), "bytes": len(data)}

    def _write(self, path: Path, data: bytes) -> Path:
        with _ONE_AT_A_TIME:
            return self._places.writing().write(path, data)


class EditFile(ShippedTool):
    name = "edit_file"
    description = (
        "Replace text in a file. old_string must occur exactly once, with its whitespace, "
        "unless replace_all is true. The result shows the change."
    )
    properties: ClassVar[Properties] = {
        "file_path": {"type": "string", "description": "the file; relative to the session's directory"},
        "old_string": {"type": "string", "description": "the text to replace, without line numbers"},
        "new_string": {"type": "string", "description": "what to put in its place"},
        "replace_all": {"type": "boolean", "description": "replace every occurrence"},
    }
    required = ("file_path", "old_string", "new_string")

    def __init__(self, places: FilePlaces) -> None:
        self._places = places

    async def run(self, given: Mapping[str, Any]) -> Any:
        real, size, result = await asyncio.to_thread(self._edit, given)
        await self._places.tell("artifact:write", real, size)
        return result

    def _edit(self, given: Mapping[str, Any]) -> tuple[Path, int, dict[str, Any]]:
        """Change the file. Who else changes it meanwhile loses nothing: it is read again then."""
        path, fence = self._places.path(given["file_path"]), self._places.writing()
        for left in reversed(range(_TRIES)):
            with _ONE_AT_A_TIME:
                if fence.kind(path) != "file":
                    raise NotFound(f"{path} is no file", fix="make it with write_file")
                before, state = self._places.loaded(given["file_path"])
                text = decoded(path, before)
                after, count = replaced(
                    text, given["old_string"], given["new_string"], every=given.get("replace_all", False)
                )
                data = _as_before(before, after)
                try:
                    real = fence.write(path, data, in_place_of=state)
                except ChangedMeanwhile:
                    if not left:
                        raise
                    continue
            shown = {"file_path": str(path), "replacements": count, "diff": _diff(path, text, after)}
            return real, len(data), shown
        raise AssertionError("the last try returns or raises")


def replaced(text: str, old: str, new: str, *, every: bool) -> tuple[str, int]:
    """Return the changed text, and how often it was changed. Raises ToolFailed if it is unclear where."""
    if "\r\n" in text and "\n" not in text.replace("\r\n", ""):
        old, new = (each.replace("\r\n", "\n").replace("\n", "\r\n") for each in (old, new))
    if not old:
        raise ToolFailed("old_string is empty", fix="use write_file to write a whole file")
    if old == new:
        raise ToolFailed("old_string and new_string are the same", fix="say what to change it to")
    count = text.count(old)
    if count == 0:
        raise ToolFailed(
            "old_string does not occur in the file", fix="read the file and copy the text exactly"
        )
    if count > 1 and not every:
        raise ToolFailed(
            f"old_string occurs {count} times",
            fix="add lines around it to make it unique, or set replace_all",
        )
    return text.replace(old, new), count


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        what = f"the text has a character that no file can hold, at {error.start}"
        raise ToolFailed(what, fix="leave it out") from error


def _as_before(before: bytes, after: str) -> bytes:
    """Return the new text in the encoding of the old one."""
    try:
        before.decode("utf-8-sig")
    except UnicodeDecodeError:
        try:
            return after.encode("latin-1")
        except UnicodeEncodeError as error:
            what = f"the file is not UTF-8, and cannot hold {after[error.start]!r}"
            raise ToolFailed(what, fix="write the whole file anew with write_file") from error
    return (_BOM if before.startswith(_BOM) else b"") + _encoded(after)


def _diff(path: Path, before: str, after: str) -> str:
    lines = difflib.unified_diff(lines_of(before), lines_of(after), path.name, path.name, lineterm="", n=2)
    text = "\n".join(lines)
    return (
        text
        if len(text) <= _LONGEST_DIFF
        else text[:_LONGEST_DIFF] + "\n[… the rest of the change is left out]"
    )
