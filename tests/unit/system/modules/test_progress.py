"""Progress tells what takes time, and nothing else."""

from __future__ import annotations

from amplihack.system.modules.progress import ProgressLines


def test_only_what_takes_time_is_told_with_how_long_it_took() -> None:
    told: list[str] = []
    now = [0.0]
    tell = ProgressLines(told.append, lambda: now[0])
    tell("installing_package", "shared")
    for name in ("quick", "slow", "bad", "far"):
        tell("activating", name)
    tell("fetched", "slow")
    tell("installing", "slow")
    now[0] = 1.5
    for action, name in (("done", "shared"), ("done", "quick"), ("done", "slow"), ("failed", "bad")):
        tell(action, name)
    now[0] = 4.0
    tell("fetched", "far")
    tell("done", "far")
    assert told == [
        "installing what slow needs",
        "slow is ready (1.5 s)",
        "bad failed (1.5 s)",
        "far is fetched (4.0 s)",
    ]
