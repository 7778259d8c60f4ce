from __future__ import annotations

import os

from amplihack.system.marks import VARIABLE, carries, command_mark, innermost, starter, step_after, with_mark


def test_marks_stack_up_from_the_outermost_run_to_the_process() -> None:
    outer = {VARIABLE: with_mark({}, "run-1")}
    first = command_mark("build/cc")
    inner = {VARIABLE: with_mark({VARIABLE: with_mark(outer, first)}, "run-2")}
    second = command_mark("odd;step")
    marks = with_mark(inner, second)
    assert [innermost({}), innermost(outer), innermost(inner)] == ["", "run-1", "run-2"]
    assert all(carries(marks, each) for each in ("run-1", first, "run-2", second, starter()))
    assert (step_after(marks, "run-1;"), step_after(marks, "run-2;")) == ("build/cc", "odd,step")


def test_every_process_has_a_mark_of_its_own_and_parts_of_marks_mean_nothing() -> None:
    one, two = command_mark("a"), command_mark("a")
    assert one != two
    assert one.startswith(starter())
    assert not carries(f"{one};", two)
    assert not carries(f"{one};", one[3:])
    assert not carries("", one)


def test_a_fork_marks_its_processes_as_its_own() -> None:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writing, starter().encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        theirs = answer.read()
    os.waitpid(pid, 0)
    assert len(theirs) == len(starter())
    assert theirs != starter()
