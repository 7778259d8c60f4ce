"""Kill commands at every point of their lives, then runs again and again: `make crash`.

python -m tests.crash [--kills 10000] [--jobs 2] [--story NAME]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import NoReturn

from tests.support.crash_points import Kill, Place
from tests.support.crash_stories import STORIES, Ended, Story, tell

_CHAIN = 6  # kills of one run, beside pairs
_PRIMES = 7919, 104_729  # far apart, so that pairs and chains come from everywhere
_LONGEST = 0.25  # seconds after which a life is killed at the latest, where moments are drawn
_MOST = 20  # failures of one worker; more say nothing new
FAILED = "failed"
_SHARES = {"pair": 6, "chain": 3, "moment": 1}


class Told:
    """A story that has been told once without a kill, in a place where it can be told again."""

    def __init__(self, story: Story, folder: Path) -> None:
        self.story, self.place = story, Place(folder / story.name.replace(" ", "-").replace(":", ""))
        story.begin(self.place)
        self.place.save()
        self.expected: Ended = tell(story, self.place, [])

    def again(self, kills: list[Kill]) -> int:
        return tell(self.story, self.place, kills, self.expected).kills


def several(points: int, number: int) -> tuple[str, list[Kill]]:
    """Return a way to kill a run more than once: at two points, at many, or at moments."""
    kind = [name for name, share in _SHARES.items() for _ in range(share)][number % sum(_SHARES.values())]
    if kind == "moment":
        random = Random(number)
        return kind, [random.uniform(0, _LONGEST) for _ in range(3)]
    kills = [1 + (number * _PRIMES[0] + life * _PRIMES[1]) % points for life in range(_CHAIN)]
    return kind, [*(kills[:2] if kind == "pair" else kills)]


def schedules(told: list[Told]) -> Iterator[tuple[str, Told, list[Kill]]]:
    """Yield every point of every story alone, soon some of each story, then several at once without end."""
    alone = [(each, point) for each in told for point in range(1, each.expected.points + 1)]
    Random(1).shuffle(alone)
    for each, point in alone:
        yield f"alone: {each.story.name}", each, [point]
    for number in count():
        each = told[number % len(told)]
        kind, kills = several(each.expected.points, number // len(told))
        yield f"{kind}: {each.story.name}", each, kills


def work(folder: Path, job: int, options: argparse.Namespace) -> Counter[str]:
    """Try every `jobs`-th schedule until there were enough kills; returns how many of which kind."""
    chosen = [make for make in STORIES if options.story in (None, make.name)]
    told = [Told(make(), folder / str(job)) for make in chosen]
    if job == 0:
        points = {each.story.name: each.expected.points for each in told}
        print(f"{sum(points.values()):,} points in one life each of {points}", flush=True)
    started, killed = time.monotonic(), Counter[str]()
    for number, (kind, each, kills) in enumerate(schedules(told)):
        if number % options.jobs == job:
            _try(each, kind, kills, killed)
        if job == 0 and number % 500 == 0:
            print(
                f"  about {killed.total() * options.jobs:,} kills, {time.monotonic() - started:.0f}s",
                flush=True,
            )
        if killed.total() * options.jobs >= options.kills or killed[FAILED] >= _MOST:
            break
    return killed


def _try(told: Told, kind: str, kills: list[Kill], killed: Counter[str]) -> None:
    try:
        killed[kind] += told.again(kills)
    except AssertionError:
        traceback.print_exc()
        killed[FAILED] += 1


def _work_and_leave(folder: Path, job: int, options: argparse.Namespace) -> NoReturn:
    """Work in a process of its own, which must not clean up what the others still need."""
    code = 1
    try:
        killed = work(folder, job, options)
        (folder / f"kills-{job}").write_text("".join(f"{kind}\t{n}\n" for kind, n in killed.items()))
        code = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--story", choices=[make.name for make in STORIES])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="crash-") as name:
        folder, workers, started = Path(name), [], time.monotonic()
        for job in range(options.jobs):
            worker = os.fork()
            if worker == 0:
                _work_and_leave(folder, job, options)
            workers.append(worker)
        failed = [worker for worker in workers if os.waitpid(worker, 0)[1] != 0]
        killed = Counter[str]()
        for path in folder.glob("kills-*"):
            killed.update(
                {kind: int(n) for kind, n in (line.split("\t") for line in path.read_text().splitlines())}
            )
    for kind, number in sorted(killed.items()):
        print(f"{number:6,}  {kind}")
    if failed or killed[FAILED]:
        print("something did not end as if nothing had happened: see above")
        return 1
    print(
        f"{killed.total():,} kills in {time.monotonic() - started:.0f}s: all ended as if nothing had happened"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
