"""Other runners that do the same work: `just`, `task`, and any that `--compare` names."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.workloads import Workload


@dataclass(frozen=True, slots=True)
class Peer:
    """A runner. `argv` writes the files that it needs for a workload, and returns how to start it."""

    name: str
    argv: Callable[[Workload], list[str] | None]
    version: list[str] | None = None  # how it says its version


def parse_compare(text: str) -> Peer:
    """Return the runner of `NAME=COMMAND`, where `{recipe}` stands for the file. Raises ValueError."""
    name, found, rest = text.partition("=")
    words = shlex.split(rest)
    if not found or not name.strip() or not words:
        raise ValueError(f"'{text}' is not NAME=COMMAND")
    if not any("{recipe}" in word for word in words):
        raise ValueError(f"'{text}' does not say where the file goes: write {{recipe}} in its place")
    program = shutil.which(words[0])
    if program is None:
        raise ValueError(f"'{text}': there is no program {words[0]}")

    def argv(workload: Workload) -> list[str]:
        return [program, *(word.replace("{recipe}", str(workload.recipe)) for word in words[1:])]

    return Peer(name.strip(), argv)


def installed_peers() -> list[Peer]:
    """Return `just` and `task`, as far as they are installed here or beside this Python."""
    makers = (("just", _just), ("task", _task))
    return [
        Peer(name, partial(make, path), [path, "--version"]) for name, make in makers if (path := _find(name))
    ]


def _find(name: str) -> str | None:
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def _just(program: str, workload: Workload) -> list[str] | None:
    if workload.commands is None:
        return None
    names = [f"t{number}" for number in range(len(workload.commands))]
    bodies = (
        f"{name}:\n    @/bin/bash -c {shlex.quote(text)}\n"
        for name, text in zip(names, workload.commands, strict=True)
    )
    file = _write(workload.recipe.with_suffix(".just"), [f"all: {' '.join(names)}\n", *bodies])
    return [program, "--justfile", str(file), "all"]


def _task(program: str, workload: Workload) -> list[str] | None:
    if workload.commands is None:
        return None
    calls = [f"      - task: t{number}\n" for number in range(len(workload.commands))]
    tasks = [
        f"  t{number}: {{silent: true, cmds: [{_yaml(f'/bin/bash -c {shlex.quote(text)}')}]}}\n"
        for number, text in enumerate(workload.commands)
    ]
    file = workload.recipe.with_suffix(".task.yaml")
    _write(file, ["version: '3'\ntasks:\n  all:\n    cmds:\n", *calls, *tasks])
    return [program, "--taskfile", str(file), "all"]


def _yaml(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _write(path: Path, parts: Iterable[str]) -> Path:
    path.write_text("".join(parts))
    return path
