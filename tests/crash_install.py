"""Strike installs, updates, rollbacks and uninstalls at every file operation, and damage homes: `make crash`.

python -m tests.crash_install [--every 1] [--points 5000] [--damage 1000] [--launches 50]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

from tests.support.distribution import make_program
from tests.support.framework_bundle import write_bundle
from tests.support.home_damage import damage_and_mend
from tests.support.launches import launch_at_once

ROOT = Path(__file__).parents[1]
FAULTS = ("kill", "ENOSPC", "EIO", "EACCES")
# What is done, and the versions that were installed before, oldest first.
Story: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
STORIES: tuple[Story, ...] = (
    (("install",), ("0.1.0",)),
    (("install",), ()),
    (("install", "--force-refresh"), ("0.1.0",)),  # what an update runs
    (("install", "--rollback"), ("0.1.0", "0.2.0")),
    (("uninstall",), ("0.1.0", "0.2.0")),
    (("uninstall", "--purge"), ("0.2.0",)),
)
_FILES = 26  # beside those that every bundle has


def program(folder: Path, version: str) -> Path:
    """Make a program with a bundle of many files, so that there are many operations to strike at."""
    site = make_program(folder / version, version)
    skills = {f"skills/s{number}/SKILL.md": f"{version} {number}".encode() for number in range(_FILES)}
    write_bundle(site / "amplihack" / "_bundle", {**skills}, mark=version, version=version)
    return site


def stories(folder: Path, jobs: int, every: int) -> Iterator[tuple[str, int]]:
    """Yield each story with the number of points that it was struck at; so many are told at once."""
    sites = {version: program(folder, version) for version in ("0.1.0", "0.2.0")}
    told = [(kind, story) for story in STORIES for kind in FAULTS]
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda each: _tell(folder, sites, every, each[0], *each[1]), enumerate(told))


def _tell(
    folder: Path,
    sites: dict[str, Path],
    every: int,
    number: int,
    kind: str,
    story: tuple[tuple[str, ...], tuple[str, ...]],
) -> tuple[str, int]:
    words, before = story
    place = folder / f"story-{number}"
    (place / "start").mkdir(parents=True)
    for version in before:
        _run(sites[version], place / "start", "-m", "amplihack", "install")
    faults = ("-m", "tests.support.install_faults", str(place), str(every), kind)
    done = _run(sites["0.2.0"], place / "start", *faults, *words)
    return f"{' '.join(words)} after {', '.join(before) or 'nothing'}, {kind}", json.loads(done)["points"]


def _run(site: Path, home: Path, *words: str) -> str:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": f"{site}:{ROOT}"}
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stderr[-5000:]}")
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="strike at every so many points only")
    parser.add_argument("--points", type=int, default=5_000, help="how many there must be at least")
    parser.add_argument("--damage", type=int, default=1_000, help="how often a home is damaged and mended")
    parser.add_argument("--launches", type=int, default=50, help="how many commands start at once")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many stories at once")
    options = parser.parse_args()
    total = 0
    with tempfile.TemporaryDirectory(prefix="crash-install-") as name:
        folder = Path(name)
        for story, points in stories(folder, options.jobs, options.every):
            total += points
            print(f"{points:>6} points: {story}", flush=True)
        print(f"{total} faults, and each left the old tree or the new one, and was healed")
        outcomes = damage_and_mend(folder / "damage", range(1, options.damage + 1))
        print(f"{options.damage} homes damaged: {outcomes['mended']} mended, {outcomes['refused']} refused")
        installs = launch_at_once(folder / "launches", options.launches)
        print(f"{options.launches} first launches at once: {installs} installed, every one succeeded")
    return 0 if total >= options.points and installs == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
