"""Many commands that start at the same moment, in a home that knows nothing of the program yet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.distribution import make_program


def launch_at_once(folder: Path, count: int) -> int:
    """Start that many commands, and return how many of them installed. Every one must succeed, alike."""
    site = make_program(folder / "site", "0.1.0", mark="one")
    home = folder / "home"
    home.mkdir()
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(site), "LANG": "C.UTF-8"}
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "amplihack", "recipe", "list"],
            cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(count)
    ]  # fmt: skip
    ended = [(process.communicate(), process.returncode) for process in started]
    assert [code for _, code in ended] == [0] * count, [err for (_, err), code in ended if code]
    assert len({out for (out, _), _ in ended}) == 1
    assert len(list((home / ".amplihack" / "generations").iterdir())) == 1
    return sum("re-staged" in err for (_, err), _ in ended)
