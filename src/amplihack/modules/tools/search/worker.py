"""Search in a process of its own, with nothing but the standard library. Reads a job, prints what it found.

A match is `path NUL line : text`, a line around one `path NUL line - text`, a file `path NUL`, as ripgrep
prints them. Links are not followed. What git ignores is left out where git can tell.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

LEFT_OUT = {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".ruff_cache"}
_LARGEST = 20_000_000
_LONGEST_LINE = 1_000


def main() -> int:
    job: dict[str, Any] = json.load(sys.stdin)
    names = job.get("names") or []
    found = 0
    out = sys.stdout.buffer
    try:
        if job["kind"] == "files":
            return _files(job, out)
        search = re.compile(job["pattern"], re.IGNORECASE if job.get("ignore_case") else 0)
        for path in _paths(job["only"], hidden=job.get("hidden", False)):
            if names and not any(_fits(path, name) for name in names):
                continue
            found += _search(path, search, job, out)
            if found >= job["most"]:
                break
    except re.error as error:
        sys.stderr.write(f"the pattern cannot be read: {error}\n")
        return 2
    return 0 if found else 1


def _files(job: dict[str, Any], out: Any) -> int:
    found = [path for path in _paths("", hidden=job.get("hidden", False)) if _fits(path, job["pattern"])]
    for path in found:
        out.write(os.fsencode(path) + b"\0\n")
    return 0 if found else 1


def _paths(only: str, *, hidden: bool) -> Iterator[str]:
    """Yield the regular files below the current directory, sorted; `only` is one of them."""
    if only:
        yield only
        return
    for path in _tracked() or _walked():
        parts = path.split("/")
        if LEFT_OUT & set(parts) or (not hidden and any(part.startswith(".") for part in parts)):
            continue
        try:
            if stat.S_ISREG(os.lstat(path).st_mode):
                yield path
        except OSError:  # it went away, or is known to git but not there
            continue


def _tracked() -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, capture_output=True, check=True, stdin=subprocess.DEVNULL)  # noqa: S603 - constant words
    except (OSError, subprocess.CalledProcessError):  # no git, or no work tree
        return []
    return sorted(set(map(os.fsdecode, filter(None, done.stdout.split(b"\0")))))


def _walked() -> Iterator[str]:
    for folder, folders, files in os.walk("."):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted(files):
            yield os.path.relpath(f"{folder}/{name}", ".")


def _fits(path: str, pattern: str) -> bool:
    """Tell whether a path fits a glob: `**` goes over directories, one without a slash means the name."""
    if "/" not in pattern:
        return fnmatchcase(path.rpartition("/")[2], pattern)
    return re.fullmatch(_translated(pattern.lstrip("/")), path) is not None


def _translated(pattern: str) -> str:
    parts: list[str] = []
    index = 0
    while index < len(pattern):
        if pattern.startswith("**/", index):
            parts.append("(?:.*/)?")
            index += 3
        elif pattern.startswith("**", index):
            parts.append(".*")
            index += 2
        else:
            letter = pattern[index]
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(letter, re.escape(letter)))
            index += 1
    return "".join(parts)


def _search(path: str, search: re.Pattern[str], job: dict[str, Any], out: Any) -> int:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(_LARGEST)
    except OSError:
        return 0
    if b"\0" in data[:8_192]:
        return 0
    lines = _lines(data.decode("utf-8", "replace"))
    hits = [number for number, line in enumerate(lines) if search.search(line)]
    if not hits:
        return 0
    if job.get("files_only"):
        out.write(os.fsencode(path) + b"\0\n")
        return 1
    _print(path, lines, hits, job.get("context", 0), out)
    return len(hits)


def _lines(text: str) -> list[str]:
    """Return the lines as ripgrep counts them: only a newline ends one."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _print(path: str, lines: list[str], hits: list[int], around: int, out: Any) -> None:
    wanted = {each for hit in hits for each in range(max(0, hit - around), min(len(lines), hit + around + 1))}
    matched = set(hits)
    for number in sorted(wanted):
        mark = ":" if number in matched else "-"
        line = f"{number + 1}{mark}{lines[number][:_LONGEST_LINE]}\n"
        out.write(os.fsencode(path) + b"\0" + line.encode("utf-8", "replace"))


if __name__ == "__main__":
    sys.exit(main())
