"""Run durable steps that do nothing: `durable_steps.py ours|ephemeral|dbos COUNT FOLDER`.

All of them but `ephemeral` keep what each step returns in a SQLite database in FOLDER. The last thing to do
fails, or ends the process, unless GO is set in the environment: a second call with it goes on from there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_RECIPE = """\
name: bench
recursion: {max_total_steps: 1000000}
steps:
  - {id: each, foreach: ITEMS, max_iterations: 1000000, command: step}
  - {id: last, command: last}
"""


class Nothing:
    """An adapter whose steps do nothing."""

    name = "nothing"

    def is_available(self) -> bool:
        return True

    def execute_bash_step(self, command: str, *_: object) -> str:
        if command == "last" and "GO" not in os.environ:
            raise RuntimeError("not yet")
        return "done"

    def execute_agent_step(self, prompt: str, **_: object) -> str:
        return f"asked: {prompt}"


def ours(count: int, folder: Path, *, durable: bool = True) -> None:
    from amplihack import RecipeRunner, RunStore

    recipe = folder / "bench.yaml"
    store = RunStore(folder) if durable else None
    runner = RecipeRunner(adapter=Nothing(), store=store, working_dir=str(folder))
    if recipe.exists() and store is not None:
        assert runner.resume().success
        return
    # In the recipe, not in a variable: every step would be given it.
    recipe.write_text(_RECIPE.replace("ITEMS", str(list(range(count)))))
    runner.execute(recipe)


def ephemeral(count: int, folder: Path) -> None:
    ours(count, folder, durable=False)


def dbos(count: int, folder: Path) -> None:
    # A dependency of this comparison alone, so it has no types here.
    from dbos import DBOS, SetWorkflowID  # type: ignore[import-not-found, unused-ignore]

    address = f"sqlite:///{folder / 'dbos.sqlite'}"
    settings: Any = {"name": "bench", "system_database_url": address, "log_level": "ERROR"}
    DBOS(config=settings | {"run_admin_server": False})

    def step() -> str:
        return "done"

    kept = DBOS.step()(step)

    def work(number: int) -> int:
        for _ in range(number):
            kept()
        if "GO" not in os.environ:
            sys.stdout.flush()
            os._exit(0)  # as if it were killed: the workflow is still pending
        return number

    workflow = DBOS.workflow()(work)
    DBOS.launch()
    if "GO" in os.environ:
        assert DBOS.retrieve_workflow("bench").get_result() == count
        DBOS.destroy()
        return
    with SetWorkflowID("bench"):
        workflow(count)


KINDS: Mapping[str, Callable[[int, Path], None]] = {"ours": ours, "ephemeral": ephemeral, "dbos": dbos}

if __name__ == "__main__":
    KINDS[sys.argv[1]](int(sys.argv[2]), Path(sys.argv[3]))
