"""Ctrl-C and its kin: the run ends, tells what it did, and leaves nothing behind."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.running import Scene, Started, Terminal, wait_until
from tests.support.workspace import Workspace

STAY = "touch reached; sleep 300"
PHASES = {
    "a bash step": f"  - {{id: s, command: '{STAY}'}}\n",
    "a parallel group": (
        f"  - {{id: s, command: '{STAY}', parallel_group: g}}\n"
        f"  - {{id: t, command: 'sleep 301', parallel_group: g}}\n"
    ),
    "a loop": f"  - {{id: s, foreach: [1, 2], command: 'if [ {{{{item}}}} = 2 ]; then {STAY}; fi'}}\n",
    "a parallel loop": f"  - {{id: s, foreach: [1, 2, 3], parallel: true, command: '{STAY}'}}\n",
    "a while loop": f"  - {{id: s, while_condition: 'true', command: '{STAY}'}}\n",
    "a sub-recipe": "  - {id: s, recipe: child}\n",
    "a retry wait": (
        "  - {id: s, command: 'touch reached; exit 1', retry: {max_attempts: 3, initial_delay: 300}}\n"
    ),
    "an agent": "  - {id: s, prompt: wait}\n",
}


@pytest.fixture
def scene(workspace: Workspace) -> Iterator[Scene]:
    scene = Scene(workspace)
    workspace.write(
        "child.yaml",
        f"name: child\nsteps:\n  - {{id: x, command: echo x}}\n  - {{id: y, command: '{STAY}'}}\n",
    )
    workspace.write("agent.sh", "touch reached\nsleep 300 &\nsleep 301\n")
    yield scene
    assert scene.alive() == []
    assert scene.left_files() == []


def recipe(scene: Scene, steps: str, head: str = "") -> tuple[str, ...]:
    scene.workspace.write(
        "r.yaml",
        (
            f"name: r\n{head}steps:\n  - {{id: before, command: echo done}}\n"
            f"{steps}  - {{id: after, command: touch never}}\n"
        ),
    )
    return ("recipe", "run", "r.yaml", "--json", "--agent", "command:bash agent.sh")


@pytest.mark.parametrize("steps", PHASES.values(), ids=PHASES.keys())
def test_ctrl_c_ends_the_run_wherever_it_is(scene: Scene, steps: str) -> None:
    started = scene.start(*recipe(scene, steps))
    started.wait_for("reached")
    result = started.interrupted()
    assert (result["status"], result["success"]) == ("interrupted", False)
    assert [step["status"] for step in result["step_results"]][:2] == ["completed", "interrupted"]
    assert result["never_reached"] == ["after"]
    assert not scene.has("never")


def test_ctrl_c_is_heard_between_steps_that_end_at_once(scene: Scene) -> None:
    rounds = "  - {id: s, while_condition: 'true', max_while_iterations: 100000, command: 'true > reached'}\n"
    started = scene.start(*recipe(scene, rounds, head="recursion: {max_total_steps: 100000}\n"))
    started.wait_for("reached")
    result = started.interrupted()
    assert (result["status"], result["never_reached"]) == ("interrupted", ["after"])


def test_ctrl_c_at_the_whole_group_ends_the_run_the_same_way(scene: Scene) -> None:
    started = scene.start(*recipe(scene, PHASES["a bash step"]))
    started.wait_for("reached")
    assert started.interrupted(group=True)["never_reached"] == ["after"]


def test_what_a_sub_recipe_had_done_is_told(scene: Scene) -> None:
    started = scene.start(*recipe(scene, PHASES["a sub-recipe"]))
    started.wait_for("reached")
    children = started.interrupted()["step_results"][1]["children"]
    assert [(each["step_id"], each["status"]) for each in children] == [
        ("x", "completed"),
        ("y", "interrupted"),
    ]


def test_ctrl_c_during_a_hook(scene: Scene) -> None:
    started = scene.start(*recipe(scene, "", f"hooks: {{pre_step: '{STAY}'}}\n"))
    started.wait_for("reached")
    assert started.interrupted()["never_reached"] == ["after"]


def test_sigterm_ends_the_run_too_and_impatience_changes_nothing(scene: Scene) -> None:
    """Not even what steps left in the background, deaf to every polite request, survives."""
    scene.workspace.write("stubborn.sh", "trap '' TERM INT; touch $1; while true; do sleep 0.1; done")
    daemons = "for n in 1 2; do bash stubborn.sh daemon$n >/dev/null 2>&1 </dev/null & done"
    stay = "sleep 302 & bash stubborn.sh reached"
    steps = f"  - {{id: d, command: '{daemons}'}}\n  - {{id: s, command: '{stay}'}}\n"
    started = scene.start(*recipe(scene, steps))
    for name in ("reached", "daemon1", "daemon2"):
        started.wait_for(name)
    for _ in range(3):
        started.interrupt(number=signal.SIGTERM)
    wait_until("the step is gone", lambda: not any("reached" in line for line in scene.alive()))
    started.interrupt(number=signal.SIGTERM)
    answer = started.end()
    assert answer.exit_code == 130
    assert answer.json["status"] == "interrupted"


def test_ctrl_c_at_the_start_leaves_nothing_running(scene: Scene) -> None:
    for moment in range(4):
        (scene.workspace.path / "reached").unlink(missing_ok=True)
        started = scene.start(*recipe(scene, PHASES["a bash step"]))
        worked_for(scene, started.process.pid, 2 * moment)
        started.interrupt()
        answer = started.end()
        unborn = "Fatal Python error: init" in answer.stderr  # the signal met Python before it met us
        assert answer.exit_code in (130, -signal.SIGINT) or unborn, answer
        assert scene.alive() == []


def worked_for(scene: Scene, pid: int, ticks: int) -> None:
    """Waits until a process has had so much processor time, or is at its step already."""
    wait_until(f"{ticks} ticks of work", lambda: _ticks(pid) >= ticks or scene.has("reached"))


def _ticks(pid: int) -> int:
    """How much processor time it has had, in hundredths of a second."""
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123 - short
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def test_ctrl_c_at_a_question(scene: Scene) -> None:
    scene.workspace.write(
        "g.yaml",
        (
            "name: g\ndescription: d\nversion: 1.0.0\nstages:\n  - name: one\n"
            "    approval: {required: true, prompt: Go?}\n"
            "    steps: [{id: a, type: bash, command: echo a}]\n"
            "  - {name: two, steps: [{id: b, type: bash, command: touch never}]}\n"
        ),
    )
    terminal = Terminal(scene, "recipe", "run", "g.yaml", "--json")
    terminal.read_until("Approve stage")
    terminal.started.interrupt()
    answer = terminal.end()
    assert (answer.exit_code, answer.json["status"], answer.json["never_reached"]) == (
        130,
        "interrupted",
        ["b"],
    )


def test_a_background_process_that_a_step_left_is_ended_with_the_run(scene: Scene) -> None:
    steps = (
        "  - {id: s, command: 'sleep 300 >/dev/null 2>&1 </dev/null & echo $! > pid'}\n"
        "  - {id: t, command: 'kill -0 $(cat pid) && echo lives'}\n"
    )
    scene.workspace.write("r.yaml", f"name: r\nsteps:\n{steps}")
    result = scene.workspace.run("recipe", "run", "r.yaml", "--json").json
    assert result["context"]["t"] == "lives"


def test_a_grandchild_that_holds_the_output_does_not_hold_the_run(scene: Scene) -> None:
    scene.workspace.write("r.yaml", "name: r\nsteps:\n  - {id: s, command: 'sleep 300 & echo done'}\n")
    assert scene.workspace.run("recipe", "run", "r.yaml", "--json").json["context"]["s"] == "done"


def test_a_timeout_ends_a_tree_of_fifty_sleepers(scene: Scene) -> None:
    command = "for i in $(seq 50); do (setsid sleep 300 & sleep 300) & done; wait"
    scene.workspace.write("r.yaml", f"name: r\nsteps:\n  - {{id: s, timeout: 1, command: '{command}'}}\n")
    result = scene.workspace.run("recipe", "run", "r.yaml", "--json").json
    assert result["step_results"][0]["error"] == "Step 's' failed: bash step failed: timed out after 1s"


def test_a_step_and_what_earlier_ones_left_have_one_period_of_grace(scene: Scene) -> None:
    """Each deaf process counts how long it lived after the first of them was asked."""
    scene.workspace.write(
        "deaf.sh",
        ("trap 'touch asked' TERM\ntouch $1\nwhile :; do sleep 0.05; [ -e asked ] && echo . >> $1; done\n"),
    )
    steps = (
        "  - {id: serve, command: 'setsid bash deaf.sh server >/dev/null 2>&1 &'}\n"
        "  - {id: stay, command: bash deaf.sh reached}\n"
    )
    started = scene.start(*recipe(scene, steps))
    for name in ("server", "reached"):
        started.wait_for(name)
    result = started.interrupted()
    lengths = [(scene.workspace.path / name).read_text().count(".") for name in ("server", "reached")]
    assert min(lengths) > 20  # both had most of the five seconds
    assert max(lengths) < 110  # and neither had twice of them
    assert result["step_results"][1]["warnings"] == [
        "a background process still ran at the end of the run and was ended: bash deaf.sh server; "
        "with `recheck: true`, the step starts it again when the run goes on"
    ]


# readers that do not read ---------------------------------------------------------------------------------

CHATTY = "  - {id: s, command: 'touch reached; for i in {1..9000}; do echo a line that fills a pipe; done'}\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_waits_for_the_reader_of_its_events_and_hears_signals_meanwhile(
    scene: Scene, number: signal.Signals
) -> None:
    os.mkfifo(scene.workspace.path / "events")
    started = scene.start(*recipe(scene, ""), "--events", "events")
    wait_until("it waits", lambda: b"begins when somebody does" in os.read(err_of(started), 4096))
    started.interrupt(number=number)
    answer = started.end()
    assert answer.exit_code == 130
    assert not scene.has("never")


def test_a_reader_of_events_may_come_late(scene: Scene) -> None:
    pipe = scene.workspace.path / "events"
    os.mkfifo(pipe)
    started = scene.start(*recipe(scene, ""), "--events", "events")
    time.sleep(0.5)
    heard = pipe.read_text().splitlines()
    assert started.end().exit_code == 0
    assert '"run_started"' in heard[0]
    assert '"run_finished"' in heard[-1]


def test_a_signal_is_heard_though_nobody_reads_the_events(scene: Scene) -> None:
    pipe = scene.workspace.path / "events"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        started = scene.start(*recipe(scene, CHATTY), "--events", "events")
        started.wait_for("reached")
        wait_until("a full pipe", lambda: is_full(pipe))
        started.interrupt(number=signal.SIGTERM)
        answer = started.end()
    finally:
        os.close(reader)
    assert answer.exit_code == 130
    assert "warning: nobody reads the event stream; the rest is lost\n" in answer.stderr
    assert "stopping …" in answer.stderr


def test_a_signal_is_heard_though_nobody_reads_stderr(scene: Scene) -> None:
    reader, writer = os.pipe()
    try:
        started = scene.start(*recipe(scene, CHATTY), "--verbose", "--progress", stderr=writer)
        started.wait_for("reached")
        wait_until("a full pipe", lambda: not select.select([], [writer], [], 0)[1])
        started.interrupt(number=signal.SIGTERM)
        answer = started.end()
    finally:
        os.close(reader)
        os.close(writer)
    assert answer.exit_code == 130


def err_of(started: Started) -> int:
    assert started.process.stderr is not None
    return started.process.stderr.fileno()


def is_full(pipe: Path) -> bool:
    try:
        writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return not select.select([], [writer], [], 0)[1]
    finally:
        os.close(writer)
