"""Loading and composing trees of bundles, against libyaml parsing the same files, as ratios within one run.

Run with `python benchmarks/bundles.py [FOLDER]`. Each bundle has 10 tools, 2 hooks, 2 agents and 20 context
files; the tree is five levels deep. FOLDER holds another `amplifier_foundation` package to load the same
trees with, in a process of its own.
"""

from __future__ import annotations

import asyncio
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from amplihack.app.bundles.load import Loader, LoadRequest, open_sources
from amplihack.bundles.completion import complete
from amplihack.bundles.compose import compose
from amplihack.bundles.composition import Composition
from amplihack.bundles.mentions import MentionScope
from amplihack.bundles.mount_plan import mount_plan
from amplihack.bundles.names import KnownNames
from amplihack.bundles.prompt import is_current
from amplihack.system.bundle_files import BundleFiles

SIZES = (50, 200, 1000)
DEPTH = 5
BAR = 2.0


@dataclass(frozen=True, slots=True)
class Figures:
    """Seconds of processor time, and bytes held after a load."""

    size: int
    parse: float
    load: float
    compose: float
    plan: float
    prompt: float
    prompt_again: float
    memory: int


def write_tree(folder: Path, size: int) -> Path:
    """A root in `folder` that reaches `size` bundles in five levels; its file."""
    width = max(2, round(size ** (1 / (DEPTH - 1))))
    for number in range(size):
        children = range(number * width + 1, min(number * width + width + 1, size))
        _write_bundle(folder / f"b{number}", number, [f"../b{child}" for child in children])
    return folder / "b0" / "bundle.yaml"


def _write_bundle(folder: Path, number: int, includes: list[str]) -> None:
    (folder / "context").mkdir(parents=True)
    (folder / "agents").mkdir()
    data = {
        "bundle": {"name": f"b{number}", "version": "1.0.0", "description": f"Bundle number {number}"},
        "includes": [{"bundle": include} for include in includes],
        "tools": [_module("tool", number, each) for each in range(10)],
        "hooks": [_module("hooks", number, each) for each in range(2)],
        "agents": {"include": [f"b{number}:agent-{each}" for each in range(2)]},
        "context": {"include": [f"b{number}:context/c{each}.md" for each in range(20)]},
    }
    (folder / "bundle.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    for each in range(20):
        (folder / "context" / f"c{each}.md").write_text(f"# Context {number} {each}\n\nSome words.\n" * 5)
    for each in range(2):
        meta = (
            f"---\nmeta:\n  name: agent-{each}\n  description: Agent {each} of bundle {number}\n---\nWork.\n"
        )
        (folder / "agents" / f"agent-{each}.md").write_text(meta)


def _module(kind: str, number: int, each: int) -> dict[str, Any]:
    return {
        "module": f"{kind}-{number}-{each}",
        "source": f"git+https://example.com/o/{kind}-{number}@main#subdirectory=modules/{kind}-{each}",
        "config": {"timeout": each, "paths": ["a", "b"], "nested": {"on": True, "name": "x"}},
    }


def parse(folder: Path) -> None:
    """What any loader has to do at least: libyaml over every bundle file."""
    for file in folder.glob("b*/bundle.yaml"):
        yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)


def load(folder: Path, root: Path) -> tuple[Composition, BundleFiles]:
    return asyncio.run(_load(folder, root))


async def _load(folder: Path, root: Path) -> tuple[Composition, BundleFiles]:
    """The tree found, read and composed; prompts and agents are measured on their own."""
    request = LoadRequest(
        source=str(root),
        base=folder,
        cache_dir=folder / "cache",
        environment={},
        names=KnownNames(files=BundleFiles()),
    )
    async with open_sources(request) as sources:
        loader = Loader(request, sources)
        return await loader.composition(request.source), loader.files


def timed(repeats: int, *works: Callable[[], Any]) -> list[float]:
    """Return the median of processor time of each work. They take turns, so that a busy machine slows all."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for each, work in zip(times, works, strict=True):
            gc.collect()
            start = time.process_time()
            work()
            each.append(time.process_time() - start)
    return [statistics.median(each) for each in times]


def measure(size: int) -> Figures:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        root = write_tree(folder, size)
        repeats = 3 if size > 500 else 5
        loaded, files = load(folder, root)
        alone = [node.own for node in loaded.nodes.values()]
        scope = MentionScope(bases=(str(folder),), home=str(folder), user=str(folder), project=str(folder))
        done = complete(loaded.bundle, files, scope)
        parsed, load_time, composed, planned, prompt, prompt_again = timed(
            repeats,
            lambda: parse(folder),
            lambda: load(folder, root),
            lambda: compose(*alone),
            lambda: mount_plan(loaded.bundle),
            lambda: complete(loaded.bundle, BundleFiles(), scope),
            lambda: is_current(
                done.prompt, done.bundle, {path: files.stamp(path) for path in done.prompt.stamps}
            ),
        )
        memory = _memory(folder, root)
        return Figures(size, parsed, load_time, composed, planned, prompt, prompt_again, memory)


def _memory(folder: Path, root: Path) -> int:
    tracemalloc.start()
    held = load(folder, root)
    gc.collect()
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held
    return used


_FOREIGN = """
import asyncio, sys, time
from amplifier_foundation import load_bundle
start = time.perf_counter()
asyncio.run(load_bundle(sys.argv[1]))
print(time.perf_counter() - start)
"""


def foreign(package: str, size: int) -> float:
    """Seconds that another `amplifier_foundation` takes to load a tree of that size."""
    with tempfile.TemporaryDirectory() as name:
        root = write_tree(Path(name).resolve(), size)
        environment = {**os.environ, "PYTHONPATH": package, "AMPLIFIER_HOME": f"{name}/home"}
        words = [sys.executable, "-c", _FOREIGN, str(root.parent)]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        return float(done.stdout.split()[-1])


def main() -> None:
    heads = ("bundles", "libyaml ms", "load", "compose", "plan", "prompt", "unchanged", "held MB")
    print("".join(f"{head:>12}" for head in heads))
    for size in SIZES:
        each = measure(size)
        times = (each.load, each.compose, each.plan, each.prompt, each.prompt_again)
        ratios = "".join(f"{value / each.parse:>11.2f}×" for value in times)
        print(f"{size:>12}{each.parse * 1000:>12.0f}{ratios}{each.memory / 1e6:>12.1f}")
        if len(sys.argv) > 1:
            print(f"{'':>12}{'there':>12}{foreign(sys.argv[1], size) / each.parse:>11.2f}×")
    print(f"\nratios are to libyaml parsing the same bundle files; the bar for load is {BAR:g}×")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
