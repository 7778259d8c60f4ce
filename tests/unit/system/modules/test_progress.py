"""Progress tells what takes time, and nothing else."""

from __future__ import annotations

import io

from amplihack.system.modules.progress import ProgressLines


def test_only_what_takes_time_is_told_with_how_long_it_took() -> None:
    stream, now = io.StringIO(), [0.0]
    tell = ProgressLines(stream, lambda: now[0])
    for name in ("quick", "slow", "bad"):
        tell("activating", name)
    tell("installing", "slow")
    now[0] = 1.5
    for action, name in (("done", "quick"), ("done", "slow"), ("failed", "bad")):
        tell(action, name)
    assert stream.getvalue().splitlines() == [
        "installing what slow needs",
        "slow is ready (1.5 s)",
        "bad failed (1.5 s)",
    ]
