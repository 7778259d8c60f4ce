"""Search the content of files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from amplihack.modules.tools.search.places import SearchPlaces, SearchRoot
from amplihack.modules.tools.search.worker import LEFT_OUT
from amplihack.modules.tools.tool import Properties, ShippedTool, ToolFailed
from amplihack.records import Record
from amplihack.system.processes import Finished

_LONGEST_LINE = 500
_MOST_CHARACTERS = 100_000
_FOUND = re.compile(r"([^\0]+)\0(\d+)([:-])([^\n]*)\n?")
_BREAK = "--\n"  # between lines around matches that are apart


class _Line(Record):
    path: Path
    number: int  # 0 for a file as such
    text: str
    is_match: bool


class GrepTool(ShippedTool):
    name = "grep"
    properties: ClassVar[Properties] = {
        "pattern": {"type": "string", "description": "a regular expression"},
        "path": {
            "type": "string",
            "description": "a directory or file; the session's directory if not given",
        },
        "glob": {"type": "string", "description": "only files that fit, such as *.py or src/**/*.ts"},
        "ignore_case": {"type": "boolean"},
        "context": {"type": "integer", "minimum": 0, "description": "lines to show around each match"},
        "files_only": {"type": "boolean", "description": "list the files that match, not the lines"},
        "hidden": {"type": "boolean", "description": "also files whose names begin with a dot"},
        "offset": {"type": "integer", "minimum": 0, "description": "skip so many results"},
    }
    required = ("pattern",)

    def __init__(self, places: SearchPlaces, most: int, ripgrep: str | None) -> None:
        self._places, self._most, self._ripgrep = places, most, ripgrep

    @property
    def description(self) -> str:
        return (
            f"Search the content of files for a regular expression. At most {self._most} results at "
            "once (use offset for more). What git ignores, and folders such as node_modules, are left out."
        )

    async def run(self, given: Mapping[str, Any]) -> Any:
        root = await self._places.root(given.get("path", "."))
        finished = await (self._with_ripgrep(root, given) if self._ripgrep else self._without(root, given))
        if finished.exit_code not in (0, 1) and not finished.stdout.size:
            raise ToolFailed(
                finished.stderr.tail(500).strip() or f"the search failed: {finished.status}",
                fix="check the pattern",
            )
        read = _files if given.get("files_only") else _lines
        lines = list(read(finished, root.base))
        allowed = set(self._places.allowed_of(line.path for line in lines))
        return self._answer([line for line in lines if line.path in allowed], given)

    async def _with_ripgrep(self, root: SearchRoot, given: Mapping[str, Any]) -> Finished:
        flags = ["--no-config", "--null", "--line-number", "--no-heading", "--with-filename", "--color=never"]
        flags += ["--sort=path", "--no-follow", "--max-columns=1000", "--max-columns-preview"]
        flags += [f"--glob=!{name}" for name in sorted(LEFT_OUT)]
        flags += [f"--glob={given['glob']}"] if given.get("glob") else []
        flags += ["--ignore-case"] if given.get("ignore_case") else []
        flags += ["--files-with-matches"] if given.get("files_only") else []
        flags += ["--hidden"] if given.get("hidden") else []
        flags += [f"--context={given['context']}"] if given.get("context") else []
        assert self._ripgrep is not None  # noqa: S101 - the caller has looked
        return await self._places.run(
            (self._ripgrep, *flags, f"--regexp={given['pattern']}", "--", root.only or "."), root
        )

    async def _without(self, root: SearchRoot, given: Mapping[str, Any]) -> Finished:
        wanted = given.get("offset", 0) + self._most + 1
        job = {"kind": "text", "most": wanted, "only": root.only, **given}
        return await self._places.work({**job, "names": [given["glob"]] if given.get("glob") else []}, root)

    def _answer(self, lines: list[_Line], given: Mapping[str, Any]) -> dict[str, Any]:
        matches = sum(line.is_match for line in lines)
        shown = _window(lines, given.get("offset", 0), self._most)
        texts, cut = _within(map(self._shown, shown))
        more = matches - given.get("offset", 0) - sum(line.is_match for line in shown[: len(texts)])
        result: dict[str, Any] = {"matches": matches, "results": texts}
        if more > 0 or cut:
            seen = given.get("offset", 0) + sum(line.is_match for line in shown[: len(texts)])
            result["note"] = f"there are more: use offset {seen}, or search for less"
        return result

    def _shown(self, line: _Line) -> str:
        path = self._places.shown(line.path)
        if line.number == 0:
            return path
        text = line.text if len(line.text) <= _LONGEST_LINE else line.text[:_LONGEST_LINE] + "…"
        return f"{path}:{line.number}{':' if line.is_match else '-'}{text}"


def _files(finished: Finished, base: Path) -> Iterator[_Line]:
    for name in finished.stdout.text().removesuffix("\n").split("\0"):
        if path := name.removeprefix("\n"):
            yield _Line(base / os.path.normpath(path), 0, "", is_match=True)


def _lines(finished: Finished, base: Path) -> Iterator[_Line]:
    """Yield what was found: `path NUL number : text`. Paths may hold newlines; ripgrep's begin with `./`."""
    for path, number, mark, text in _FOUND.findall(finished.stdout.text()):
        where = base / os.path.normpath(path.removeprefix(_BREAK).rpartition("\n./")[2])
        yield _Line(where, int(number), text.removesuffix("\r"), is_match=mark == ":")


def _window(lines: list[_Line], offset: int, most: int) -> list[_Line]:
    """Return the lines from the match after `offset` on, up to so many matches, with what is around them."""
    seen = 0
    shown: list[_Line] = []
    around: list[_Line] = []
    for line in lines:
        if not line.is_match:
            around.append(line)
            continue
        seen += 1
        if seen > offset + most:
            break
        if seen > offset:
            shown += [*around, line]
        around = []
    return shown + around if shown else []


def _within(texts: Iterator[str]) -> tuple[list[str], bool]:
    """Return as many as fit the limit of characters, and whether some did not."""
    kept: list[str] = []
    total = 0
    for text in texts:
        total += len(text) + 1
        if total > _MOST_CHARACTERS:
            return kept, True
        kept.append(text)
    return kept, False
