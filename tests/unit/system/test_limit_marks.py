from __future__ import annotations

import subprocess
import sys

import pytest

from amplihack.system.limit_marks import Sign, sign_of, traces
from amplihack.system.process_marks import starter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="marks are limits of Linux")

MARKING = """
import os, resource, subprocess, sys
from amplihack.system import limit_marks as marks
from amplihack.system.process_table import limits_of, own_start
if sys.argv[1:]:
    resource.setrlimit(10, (int(sys.argv[1]),) * 2)
print(marks.mark_what_we_start(int(own_start())), marks.mark_what_we_start(0))
own = limits_of(os.getpid())
sign, number = marks.command_sign("m", "build")
(ours := marks.marking()) and ours.give(number)
child = subprocess.Popen(["sleep", "60"])
limits = limits_of(child.pid)
child.kill()
ours and ours.give(ours.own)
run = marks.steps_sign("m")
print(own == limits_of(os.getpid()), sign.is_on(limits), run.is_on(limits), run.is_on(own))
print(marks.step_with(limits), marks.step_with(own), limits[1] == own[1] != 0)
later = marks.sign_of(marks.traces())
print(later.is_on(limits), later.mark == marks.starter())
"""


def marked(*words: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", MARKING, *words], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_a_command_has_a_mark_of_its_own_that_the_run_knows() -> None:
    assert marked() == ["True False", "True True True False", "build None True", "True True"]


def test_a_run_inside_a_run_keeps_the_mark_of_the_outer_one() -> None:
    assert marked(str((1 << 62) + 7)) == [
        "True False",
        "True True True False",
        "build None True",
        "True True",
    ]


def test_a_limit_that_somebody_means_is_left_alone() -> None:
    assert marked("1000") == ["False False", "True False False False", "None None True", "False True"]


def test_a_sign_without_limits_is_on_nothing() -> None:
    assert not Sign("m").is_on((0, 0))


def test_traces_of_an_unmarked_process_are_its_mark() -> None:
    assert sign_of(traces()) == Sign(starter())


@pytest.mark.parametrize(
    "text", ["", "x", "notes", "0123456789abcdef.1", "0123456789abcdef.1.2.3.x", "..", "é" * 16]
)
def test_other_names_hold_no_traces(text: str) -> None:
    assert sign_of(text) is None
