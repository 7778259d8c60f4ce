"""What every benchmark needs: a folder, an environment, the commands to start, and how often."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measure import CommandFailed, Cost, Work, command, in_turns, peak
from benchmarks.peers import Peer
from benchmarks.workloads import Workload, shell_loop

BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Bench:
    """Measures in `folder`. `quick` does less and takes fewer turns; `wall` compares by the clock."""

    folder: Path
    peers: Sequence[Peer] = ()
    quick: bool = False
    wall: bool = False
    env: Mapping[str, str] = field(default_factory=dict)

    def rounds(self, full: int) -> int:
        return max(2, full // 4) if self.quick else full

    def measure(self, works: Mapping[str, Work], rounds: int, *, least: bool = False) -> dict[str, Cost]:
        """Return the median or least of each work, after one turn that does not count if there is time."""
        if not self.quick:
            for work in works.values():
                work()
        return in_turns(works, self.rounds(rounds), least=least)

    def ratio(self, one: Cost, other: Cost) -> float:
        return one.wall / other.wall if self.wall else one.cpu / other.cpu

    def others(self, costs: Mapping[str, Cost], failed: Sequence[str], base: Cost) -> dict[str, float | None]:
        """Return the ratios of the peers among the costs, and who failed."""
        names = [peer.name for peer in self.peers if peer.name in costs]
        return {**{name: self.ratio(costs[name], base) for name in names}, **dict.fromkeys(failed)}

    def peers_on(self, workload: Workload) -> tuple[dict[str, Work], list[str]]:
        """Return how the peers do the same work, and the names of those that cannot."""
        works: dict[str, Work] = {}
        failed: list[str] = []
        for peer in self.peers:
            argv = peer.argv(workload)
            if argv is None:
                continue
            try:
                self.start(argv)()
            except CommandFailed:
                failed.append(peer.name)
            else:
                works[peer.name] = self.start(argv)
        return works, failed

    def start(self, argv: Sequence[str], stdout: str = os.devnull) -> Work:
        return command(argv, cwd=self.folder, env=self.env, stdout=stdout)

    def python(self) -> Work:
        return self.start([sys.executable, "-c", "pass"])

    def ours(self, *words: str) -> Work:
        return self.start([str(BIN / words[0]), *words[1:]])

    def run(self, workload: Workload, *flags: str) -> Work:
        return self.ours("amplihack", "recipe", "run", str(workload.recipe), *(flags or ("-q",)))

    def peak(self, workload: Workload) -> int:
        """Return the most memory that a run takes, in bytes."""
        argv = [str(BIN / "amplihack"), "recipe", "run", str(workload.recipe), "-q"]
        return peak(argv, cwd=self.folder, env=self.env)

    def floor(self, count: int, *, kept: bool = False) -> Work:
        """Return the work of starting bash so often, with nothing around it that a step needs."""
        database = [str(self.folder / "floor.sqlite3")] if kept else []
        return self.start([sys.executable, str(Path(__file__).with_name("floor.py")), str(count), *database])

    def start_floor(self, workload: Workload) -> Work:
        """Return the work of starting a command that runs a recipe, without code of ours."""
        program = Path(__file__).with_name("start_floor.py")
        return self.start([sys.executable, str(program), str(workload.recipe)])

    def loop(self, count: int, program: str = "echo") -> Work:
        return self.start(["/bin/sh", "-c", shell_loop(count, program)])


def environment(folder: Path) -> dict[str, str]:
    """Return our environment with another home; commands may use compiled bytecode, as installed ones do."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "AMPLIHACK_"))}
    return {**kept, "HOME": str(folder)}
