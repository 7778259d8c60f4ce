"""A run that is killed, one that leaves processes behind, and one whose reader or user is impatient."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.support.running import Scene, Started, wait_until
from tests.support.workspace import Workspace

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="survivors are looked for in /proc")

SURVIVORS = """\
name: r
steps:
  - id: daemon
    command: "sleep 600 >/dev/null 2>&1 & (setsid sleep 601 &) ; echo up"
  - id: trees
    parallel: true
    foreach: [1, 2, 3]
    command: |
      (setsid bash -c 'trap "" HUP INT; sleep 602; sleep 603' &)
      touch reached{{item}}
      sleep 604
"""


@pytest.fixture
def scene(workspace: Workspace) -> Iterator[Scene]:
    scene = Scene(workspace)
    workspace.write("r.yaml", SURVIVORS)
    yield scene
    assert scene.alive() == []
    assert scene.left_files() == []


def gone(scene: Scene) -> None:
    """Wait until nothing of a killed run is left."""
    wait_until("no survivors", lambda: scene.alive() == [])


def worked(started: Started, ticks: int) -> bool:
    """Whether it has had so many hundredths of a second of processor time, or has come to its last step."""
    fields = Path(f"/proc/{started.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12]) >= ticks or started.scene.has("reached3")


def test_nothing_of_a_run_survives_the_death_of_the_runner(scene: Scene) -> None:
    started = scene.start("recipe", "run", "r.yaml", "--json")
    for number in (1, 2, 3):
        started.wait_for(f"reached{number}")
    assert len(scene.alive()) > 8
    started.interrupt(number=signal.SIGKILL)
    started.end()
    gone(scene)
    wait_until("no files", lambda: scene.left_files() == [])


def test_whenever_the_runner_is_killed_nothing_survives_and_the_next_run_clears_up(scene: Scene) -> None:
    for moment in range(8):
        for path in scene.workspace.path.glob("reached*"):
            path.unlink()
        started = scene.start("recipe", "run", "r.yaml", "--json")
        wait_until("some work", partial(worked, started, 8 + 3 * moment))
        started.interrupt(number=signal.SIGKILL)
        started.end()
        gone(scene)
    scene.workspace.write("ok.yaml", "name: ok\nsteps: [{id: a, command: echo fine}]\n")
    wait_until("the watchers are done", lambda: not watchers(scene))
    for path in scene.temporary.iterdir():  # Python tries out the directory with a file of an unknown name
        if path.is_file() and path.read_bytes() in (b"", b"blat"):
            path.unlink()
    assert scene.workspace.run("recipe", "run", "ok.yaml", "-q").exit_code == 0
    wait_until("no files", lambda: scene.left_files() == [])


def watchers(scene: Scene) -> list[str]:
    """The processes that clear up in our temporary directory."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_text().split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(scene.temporary) in words:
            found.append(entry.name)
    return found


def test_the_next_run_removes_what_was_left_and_nothing_that_is_in_use(scene: Scene) -> None:
    scene.workspace.write("slow.yaml", "name: slow\nsteps: [{id: a, command: 'touch reached; sleep 300'}]\n")
    live = scene.start("recipe", "run", "slow.yaml", "--json")
    live.wait_for("reached")
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = scene.temporary / f"amplihack-run-{dead.pid}-1-x"
    (left / "inner").mkdir(parents=True)
    (left / "inner" / "step-1").write_text("secret")
    old = scene.temporary / f"amplihack-progress-r-{dead.pid}.json"
    old.write_text("{}")
    os.utime(old, (time.time() - 3600, time.time() - 3600))
    recent = scene.temporary / f"amplihack-progress-recent-{dead.pid}.json"  # as its directory tells
    recent.write_text("{}")
    young = subprocess.Popen(["sleep", "600"])  # it has the number of a runner that is long gone
    reused = scene.temporary / f"amplihack-progress-r-{young.pid}.json"
    reused.write_text("{}")
    os.utime(reused, (time.time() - 3600, time.time() - 3600))
    contained = scene.temporary / "amplihack-progress-r-1.json"  # as the only process of a container
    contained.write_text("{}")
    os.utime(contained, (time.time() - 100_000, time.time() - 100_000))
    odd = scene.temporary / "amplihack-progress-odd.json"
    odd.write_text("{}")
    os.utime(odd, (time.time() - 3600, time.time() - 3600))
    strange = scene.temporary / "amplihack-run-notes"
    strange.mkdir()
    before = {path.name for path in scene.temporary.iterdir()}
    scene.workspace.write("ok.yaml", "name: ok\nsteps: [{id: a, command: echo fine}]\n")
    assert scene.workspace.run("recipe", "run", "ok.yaml", "-q").exit_code == 0
    after = {path.name for path in scene.temporary.iterdir()}
    young.kill()
    young.wait()
    assert before - after == {left.name, old.name, recent.name, reused.name, contained.name}
    strange.rmdir()
    odd.unlink()
    live.interrupted()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM])
def test_each_signal_that_asks_for_the_end_ends_the_run_like_ctrl_c(scene: Scene, number: int) -> None:
    started = scene.start("recipe", "run", "r.yaml", "--json")
    started.wait_for("reached2")
    started.interrupt(number=number)
    answer = started.end()
    assert (answer.exit_code, answer.json["status"]) == (130, "interrupted")
    assert answer.stderr.count("stopping …") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_a_run_in_the_background_of_a_script_hears_who_asks_for_its_end(scene: Scene, number: int) -> None:
    """A shell lets what a script starts with `&` ignore both."""
    command = f"'{sys.executable}' -m amplihack recipe run r.yaml --json & echo $! > runner; wait $!"
    script = subprocess.Popen(
        ["/bin/bash", "-c", command],
        cwd=scene.workspace.path,
        env=scene.workspace.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    wait_until("the last step", lambda: scene.has("reached3"))
    os.kill(int((scene.workspace.path / "runner").read_text()), number)
    assert json.loads(script.communicate(timeout=60)[0])["status"] == "interrupted"


def test_nohup_is_respected(scene: Scene) -> None:
    scene.workspace.write("w.yaml", WAIT.replace("COMMAND", "true"))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the command inherits that
    try:
        started = scene.start("recipe", "run", "w.yaml", "-q")
    finally:
        signal.signal(signal.SIGHUP, before)
    started.wait_for("reached")
    started.interrupt(number=signal.SIGHUP)
    (scene.workspace.path / "go").touch()
    assert started.end().exit_code == 0


def test_a_second_ctrl_c_ends_the_period_of_grace(scene: Scene) -> None:
    """The step notes how long it was left to itself, so that the machine's pace does not matter."""
    scene.workspace.write(
        "s.sh",
        (
            "trap 'while :; do echo . >> asked; sleep 0.02; done' TERM\n"
            "touch reached\nwhile :; do sleep 0.01; done\n"
        ),
    )
    scene.workspace.write("s.yaml", "name: s\nsteps: [{id: a, command: bash s.sh}]\n")
    started = scene.start("recipe", "run", "s.yaml", "--json")
    started.wait_for("reached")
    started.interrupt()
    started.wait_for("asked")
    started.interrupt()
    answer = started.end()
    assert (answer.exit_code, answer.json["status"]) == (130, "interrupted")
    rounds = (scene.workspace.path / "asked").read_text().count(".")
    assert rounds < 100  # five seconds of grace give it some two hundred


BACKGROUND = """\
name: b
steps:
  - id: serve
    command: mkfifo ask; (read x < ask; echo answered $x; exec sleep 600) & echo up
  - id: late
    command: (sleep 0.5; echo late > late.txt) & echo started
  - id: use
    command: echo 42 > ask; while [ ! -e late.txt ]; do sleep 0.01; done; cat late.txt
"""


def test_a_background_process_serves_the_next_steps_and_is_told_when_it_is_ended(scene: Scene) -> None:
    scene.workspace.write("b.yaml", BACKGROUND)
    answer = scene.workspace.run("recipe", "run", "b.yaml", "--json", "-v")
    result = answer.json
    assert (result["success"], result["context"]["serve"], result["context"]["use"]) == (True, "up", "late")
    assert "serve: answered 42" in answer.stderr
    warning = "a background process still ran at the end of the run and was ended: sleep 600"
    assert result["step_results"][0]["warnings"] == [warning]
    assert sum("background process" in each for each in result["warnings"]) == 1


MANY = """\
name: many
steps:
  - id: same
    command: for i in 1 2 3; do sleep 600 & done; echo up
  - id: others
    command: for i in {1..30}; do (setsid sleep 600.$i >/dev/null 2>&1 &); done; sleep 0.2
"""


def test_many_background_processes_are_counted(scene: Scene) -> None:
    scene.workspace.write("many.yaml", MANY)
    result = scene.workspace.run("recipe", "run", "many.yaml", "--json").json
    same, others = (step["warnings"] for step in result["step_results"])
    assert [each.rpartition(": ")[2] for each in same] == ["sleep 600 (3 of them)"]
    assert (len(others), others[-1].partition(" ")[0]) == (21, "10")


TIMEOUT = """\
name: t
steps:
  - id: keep
    command: (setsid sleep 600.NUMBER &)
  - id: slow
    timeout: 1
    on_error: continue
    command: |
      trap '(setsid sleep 601.NUMBER &); exit' TERM
      (setsid sleep 602.NUMBER >/dev/null 2>&1 &)
      sleep 603.NUMBER & wait
  - id: look
    command: cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; true
"""


def test_a_timeout_ends_what_its_step_started_and_nothing_else(scene: Scene) -> None:
    number = str(os.getpid())  # others on this machine may sleep too
    scene.workspace.write("t.yaml", TIMEOUT.replace("NUMBER", number))
    result = scene.workspace.run("recipe", "run", "t.yaml", "--json").json
    seen = result["context"]["look"]
    alive = [f"sleep {each}.{number}" in seen for each in (600, 601, 602, 603)]
    assert alive == [True, False, False, False]


CHILD = """\
name: child
steps:
  - {id: serve, command: sleep 605.NUMBER & echo up}
  - {id: stay, command: sleep 606}
"""
OUTER = """\
name: outer
steps:
  - {id: sub, recipe: child, timeout: 3, on_error: continue}
  - id: look
    command: cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; true
"""


def test_a_sub_recipe_that_runs_out_of_time_takes_its_background_with_it(scene: Scene) -> None:
    number = str(os.getpid())
    scene.workspace.write("child.yaml", CHILD.replace("NUMBER", number))
    scene.workspace.write("outer.yaml", OUTER)
    result = scene.workspace.run("recipe", "run", "outer.yaml", "--json").json
    first = result["step_results"][0]
    assert (first["error"], result["warnings"]) == ("Step 'sub' failed: timed out after 3s", [])
    assert f"605.{number}" not in result["context"]["look"]


def test_what_an_agent_leaves_running_is_ended_with_the_run_too(scene: Scene) -> None:
    scene.workspace.write("agent.sh", "sleep 600 & setsid sleep 601 >/dev/null 2>&1 & echo done\n")
    scene.workspace.write("a.yaml", "name: a\nsteps: [{id: a, prompt: p}]\n")
    answer = scene.workspace.run("recipe", "run", "a.yaml", "--json", "--agent", "command:bash agent.sh")
    warnings = answer.json["step_results"][0]["warnings"]
    assert sorted(each.rpartition(": ")[2] for each in warnings) == ["sleep 600", "sleep 601"]


def test_a_run_inside_a_run_that_is_killed_leaves_nothing(scene: Scene) -> None:
    inner = f'"{sys.executable}" -m amplihack recipe run r.yaml -q'  # a checkout may have spaces in its path
    scene.workspace.write("outer.yaml", f"name: outer\nsteps: [{{id: inner, command: '{inner}'}}]\n")
    started = scene.start("recipe", "run", "outer.yaml", "-q")
    for number in (1, 2, 3):
        started.wait_for(f"reached{number}")
    started.interrupt(number=signal.SIGKILL)
    started.end()
    gone(scene)
    wait_until("no files", lambda: scene.left_files() == [])


WAIT = (
    "name: w\nsteps: [{id: a, command: 'touch reached; while [ ! -e go ]; do sleep 0.01; done; COMMAND'}]\n"
)


@pytest.mark.parametrize(("command", "code"), [("echo fine", 0), ("exit 3", 1)])
def test_a_reader_that_leaves_does_not_change_the_exit_code(scene: Scene, command: str, code: int) -> None:
    scene.workspace.write("w.yaml", WAIT.replace("COMMAND", command))
    started = scene.start("recipe", "run", "w.yaml")
    assert started.process.stdout
    assert started.process.stdout.readline() == b"Recipe: w (v1.0.0)\n"
    started.process.stdout.close()
    (scene.workspace.path / "go").touch()
    assert started.process.stderr
    with started.process.stderr:
        assert b"Traceback" not in started.process.stderr.read()
    assert started.process.wait() == code


def test_ctrl_c_does_not_cut_a_result_that_a_slow_reader_takes(scene: Scene) -> None:
    scene.workspace.write("big.yaml", "name: big\nsteps: [{id: a, command: 'yes | head -c 1000000'}]\n")
    started = scene.start("recipe", "run", "big.yaml", "--json", "-q")
    assert started.process.stdout
    first = started.process.stdout.read(1)  # it has begun to write, and has more than a pipe holds
    started.interrupt()
    time.sleep(0.2)  # a reader that takes its time
    rest = started.process.stdout.read()
    assert len(json.loads(first + rest)["context"]["a"]) == 999_999
    assert started.end().exit_code == 0


def test_a_limit_that_is_no_number_is_refused(scene: Scene) -> None:
    for text in ("nan", "inf", "-1"):
        answer = scene.workspace.run("recipe", "run", "r.yaml", f"--step-timeout={text}")
        assert (answer.exit_code, "--step-timeout" in answer.stderr) == (2, True)


def test_output_that_is_cut_says_how_much_was_lost(scene: Scene) -> None:
    scene.workspace.write("agent.sh", "head -c 10000123 /dev/zero | tr '\\0' x\n")
    steps = "  - {id: b, command: bash agent.sh}\n  - {id: a, prompt: p}\n"
    scene.workspace.write("cut.yaml", f"name: cut\nsteps:\n{steps}")
    agent = ("--agent", "command:bash agent.sh")
    result = scene.workspace.run("recipe", "run", "cut.yaml", "--json", "-q", *agent).json
    words = "the output was larger than a step can keep and was cut: 123 bytes lost"
    assert [step["warnings"] for step in result["step_results"]] == [[words], [words]]


SERVED = """\
name: served
steps:
  - {id: serve, command: 'echo started >> starts; sleep 600 & echo up', recheck: RECHECK}
  - {id: use, command: test -e go}
"""


@pytest.mark.parametrize("recheck", ["true", "false"])
def test_what_a_run_that_goes_on_misses_in_the_background_is_told(scene: Scene, recheck: str) -> None:
    scene.workspace.write("served.yaml", SERVED.replace("RECHECK", recheck))
    failed = scene.workspace.run("recipe", "run", "served.yaml")
    hint = "with `recheck: true`, the step starts it again when the run goes on"
    assert (hint in failed.stderr) == (recheck == "false")
    scene.workspace.write("go", "")
    assert scene.workspace.run("runs", "resume").exit_code == 0
    starts = (scene.workspace.path / "starts").read_text().split()
    assert len(starts) == (2 if recheck == "true" else 1)
