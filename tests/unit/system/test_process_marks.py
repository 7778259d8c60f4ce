from __future__ import annotations

import subprocess
import sys

from amplihack.system.process_marks import (
    VARIABLE,
    carries,
    command_after,
    command_mark,
    run_mark,
    starter,
    step_of,
    with_mark,
)


def test_marks_stack_up_from_the_outermost_run_to_the_process() -> None:
    outer = {VARIABLE: with_mark({}, "run-1")}
    first = command_mark("build/cc")
    inner = {VARIABLE: with_mark({VARIABLE: with_mark(outer, first)}, "run-2")}
    second = command_mark("odd;step")
    marks = with_mark(inner, second)
    assert [run_mark({}), run_mark(outer), run_mark(inner)] == ["", "run-1;", "run-2;"]
    assert run_mark({VARIABLE: marks}) == ""  # a process of a run is no run
    assert all(carries(marks, each) for each in ("run-1", first, "run-2", second, starter()))
    steps = [step_of(command_after(marks, run)) for run in ("run-1;", "run-2;")]
    assert steps == ["build/cc", "odd,step"]


def test_every_process_has_a_mark_of_its_own_and_parts_of_marks_mean_nothing() -> None:
    one, two = command_mark("a"), command_mark("a")
    assert one != two
    assert one.startswith(starter())
    assert not carries(f"{one};", two)
    assert not carries(f"{one};", one[3:])
    assert not carries("", one)


FORK = """
import os
from amplihack.system.process_marks import starter
print(starter(), flush=True)
if os.fork() == 0:
    print(starter(), flush=True)
else:
    os.wait()
"""


def test_a_fork_marks_its_processes_as_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], check=True, capture_output=True, text=True)
    ours, theirs = done.stdout.split()
    assert ours != theirs
