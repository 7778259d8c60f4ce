"""Kill a run at every point of its lives, then again and again in one run: `make crash`.

python -m tests.crash [--kills 10000] [--jobs 2]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from tests.support.crash_points import Place, check, run_to_its_end

_KILLS = 8  # of one run
NEVER = 0  # no point has this number: the life ends by itself


def schedules(points: int) -> Iterator[list[int]]:
    """Yield every point of each life alone, then several: each counts in the life after the one before."""
    for earlier in ([], [NEVER], [NEVER, NEVER]):  # the run, the approval, the rest of the run
        yield from ([*earlier, point] for point in range(1, points + 1))
    for distance in range(1, points + 1):
        for first in range(points):
            yield [1 + (first + distance * number) % points for number in range(_KILLS)]


def work(folder: Path, job: int, jobs: int, most: int) -> int:
    """Try every `jobs`-th schedule until there were enough kills; returns how many there were."""
    expected = run_to_its_end(Place(folder / f"whole-{job}"), [])
    if job == 0:
        print(f"{expected.points} points until the gate", flush=True)
    started, killed = time.monotonic(), 0
    for number, kills in enumerate(schedules(expected.points)):
        if number % jobs != job:
            continue
        ended = run_to_its_end(Place(folder / f"killed-{job}"), kills)
        check(ended, expected, kills)
        killed += ended.kills
        if job == 0 and number % (100 * jobs) == 0:
            print(f"  about {killed * jobs:,} kills, {time.monotonic() - started:.0f}s", flush=True)
        if killed * jobs >= most:
            break
    return killed


def _work_and_leave(folder: Path, job: int, jobs: int, most: int) -> NoReturn:
    """Work in a process of its own, which must not clean up what the others still need."""
    code = 1
    try:
        (folder / f"kills-{job}").write_text(str(work(folder, job, jobs, most)))
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
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="crash-") as name:
        folder, workers = Path(name), []
        for job in range(options.jobs):
            worker = os.fork()
            if worker == 0:
                _work_and_leave(folder, job, options.jobs, options.kills)
            workers.append(worker)
        failed = [worker for worker in workers if os.waitpid(worker, 0)[1] != 0]
        killed = sum(int(path.read_text()) for path in folder.glob("kills-*"))
    if failed:
        print("a run did not end as if nothing had happened: see above")
        return 1
    print(f"{killed:,} kills: every run ended as if nothing had happened")
    return 0


if __name__ == "__main__":
    sys.exit(main())
