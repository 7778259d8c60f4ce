"""Find files by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from amplihack.modules.tools.search.places import SearchPlaces
from amplihack.modules.tools.tool import Properties, ShippedTool, ToolFailed


class GlobTool(ShippedTool):
    name = "glob"
    properties: ClassVar[Properties] = {
        "pattern": {"type": "string", "description": "such as *.py (in any directory) or src/**/*.ts"},
        "path": {"type": "string", "description": "a directory; the session's directory if not given"},
        "hidden": {"type": "boolean", "description": "also files whose names begin with a dot"},
        "offset": {"type": "integer", "minimum": 0, "description": "skip so many results"},
    }
    required = ("pattern",)

    def __init__(self, places: SearchPlaces, most: int) -> None:
        self._places, self._most = places, most

    @property
    def description(self) -> str:
        return (
            f"Find files by a pattern of their path. At most {self._most} at once (use offset for more). "
            "What git ignores, and folders such as node_modules, are left out."
        )

    async def run(self, given: Mapping[str, Any]) -> Any:
        root = await self._places.root(given.get("path", "."))
        if root.only:
            raise ToolFailed(f"{root.base / root.only} is no directory", fix="give a directory as path")
        job = {"kind": "files", "pattern": given["pattern"], "hidden": given.get("hidden", False)}
        finished = await self._places.work(job, root)
        if finished.exit_code not in (0, 1):
            raise ToolFailed(
                finished.stderr.tail(500).strip() or "the search failed", fix="check the pattern"
            )
        names = (name for name in finished.stdout.text().split("\0\n") if name)
        paths = self._places.allowed_of(root.base / name for name in names)
        offset = given.get("offset", 0)
        shown = paths[offset : offset + self._most]
        result: dict[str, Any] = {"count": len(paths), "files": [self._places.shown(path) for path in shown]}
        if offset + len(shown) < len(paths):
            result["note"] = f"there are more: use offset {offset + len(shown)}"
        return result
