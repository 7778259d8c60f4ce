"""What the staged bundle costs: the look at every start, a start with and without it, and an install."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.measure import Cost, Work
from benchmarks.table import Row
from tests.support.distribution import make_program

from amplihack.system.healed import needs_a_look
from amplihack.version import __version__

_PASS = "python -c pass"  # noqa: S105 - the word of Python
_BUNDLE = Path(__file__).parents[1] / "amplifier-bundle"
_LOOKS = 2_000


def installs(bench: Bench) -> list[Row]:
    with_bundle, without = _programs(bench.folder)
    healed = _with(bench, with_bundle, "healed")
    trivial = ("amplihack", "recipe", "schema")
    healed.ours(*trivial)()  # stages the bundle
    works = {
        _PASS: bench.python(),
        "with": healed.ours(*trivial),
        "without": _with(bench, without, "bare").ours(*trivial),
        "install": _first_install(_with(bench, with_bundle, "new")),
    }
    costs = bench.measure(works, 16)
    again = bench.ratio(costs["with"], costs["without"])
    first = bench.ratio(costs["install"], costs[_PASS])
    return [
        Row("the look at a healed home", "nothing", _look(dict(healed.env)), 2, "ms"),
        Row("a trivial command on a healed home", "one that has no bundle", again, 1.1),
        Row(f"install, {_files(_BUNDLE)} files", _PASS, first, 20),
    ]


def _programs(folder: Path) -> tuple[Path, Path]:
    """Return where a program with the framework bundle is, and one without."""
    site, bare = folder / "site", folder / "bare"
    if not site.exists():
        make_program(site, __version__)
        shutil.copytree(_BUNDLE, site / "amplihack" / "_bundle" / "amplifier-bundle")
        make_program(bare, __version__)
    return site, bare


def _with(bench: Bench, site: Path, home: str) -> Bench:
    place = bench.folder / home
    place.mkdir(exist_ok=True)
    return replace(bench, env={**bench.env, "HOME": str(place), "PYTHONPATH": str(site)})


def _first_install(bench: Bench) -> Work:
    install, home = bench.ours("amplihack", "install"), Path(bench.env["HOME"])

    def work() -> Cost:
        shutil.rmtree(home / ".amplihack", ignore_errors=True)
        return install()

    return work


def _look(environment: dict[str, str]) -> float:
    """Return the milliseconds of one look, which every command takes."""
    assert not needs_a_look(environment, __version__)
    started = time.perf_counter()
    for _ in range(_LOOKS):
        needs_a_look(environment, __version__)
    return (time.perf_counter() - started) / _LOOKS * 1000


def _files(bundle: Path) -> int:
    return sum(path.is_file() for path in bundle.rglob("*"))
