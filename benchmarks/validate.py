"""The whole command `amplihack recipe validate` and `check`, against Python doing nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.measure import AMPLIHACK, PYTHON, Row, best_of

ROUNDS = 12
SIZES = (1, 200, 1000)
STEP = """\
  - id: step_{n}
    command: |
      echo "{{{{task}}}} for {{{{step_{before}}}}}" | tee log-{n}.txt
    condition: step_{before} != 'skip' and len(task) > 0
    output: result_{n}
    timeout: 60
"""


def recipe(steps: int) -> str:
    head = "name: big\ncontext:\n  task: build\nsteps:\n  - {id: step_0, command: echo start}\n"
    return head + "".join(STEP.format(n=n, before=n - 1) for n in range(1, steps))


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{size}.yaml" for size in SIZES]
        for size, file in zip(SIZES, files, strict=True):
            file.write_text(recipe(size))
        validations = [(AMPLIHACK, "recipe", "validate", str(file)) for file in files]
        check = (AMPLIHACK, "recipe", "check", str(files[1]))
        plain, *times = best_of(ROUNDS, (PYTHON, "-c", "pass"), *validations, check)
    bars = (None, 8, None, None)
    names = [f"recipe validate, {size} step{'s' if size > 1 else ''}" for size in SIZES]
    compared = zip([*names, "recipe check, 200 steps"], times, bars, strict=True)
    return [Row(name, "python -c pass", seconds / plain, bar) for name, seconds, bar in compared]
