"""Whatever a process of a step does to get away, and however its step or its run ends, it ends too."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import strays
from tests.support.running import Scene, Started, wait_until
from tests.support.workspace import Workspace

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="strays are looked for in /proc")

EVERY = {*strays.KINDS, *strays.IN_BASH}


@pytest.fixture
def scene(workspace: Workspace) -> Iterator[Scene]:
    scene = Scene(workspace)
    place(scene).mkdir()
    yield scene
    left = strays.alive(place(scene))
    for name in left:  # of a test that has failed
        os.kill(int((place(scene) / name).read_text().split()[0]), signal.SIGKILL)
    assert left == set()
    wait_until("no files", lambda: scene.left_files() == [])


def place(scene: Scene) -> Path:
    return scene.workspace.path / "strays"


def recipe(scene: Scene, after: str = "", *, steps: str = "", more: str = "") -> None:
    """Write a recipe whose first step starts one stray of each kind and goes on with `after`."""
    command = textwrap.indent(f"{strays.script(place(scene))}\n{after}", "      ")
    scene.workspace.write("r.yaml", f"name: r\nsteps:\n  - id: s\n{more}    command: |\n{command}\n{steps}")


def test_they_live_until_the_run_ends_and_each_is_told(scene: Scene) -> None:
    recipe(
        scene,
        "echo up",
        steps="  - {id: look, command: 'touch reached; until [ -e go ]; do sleep 0.02; done'}\n",
    )
    started = scene.start("recipe", "run", "r.yaml", "--json")
    started.wait_for("reached")
    assert strays.alive(place(scene)) == EVERY
    scene.workspace.write("go", "")
    result = started.end().json
    assert result["success"]
    assert strays.alive(place(scene)) == set()
    told = result["step_results"][0]["warnings"]
    assert told
    assert all("a background process still ran at the end of the run and was ended" in each for each in told)


def test_they_end_with_a_run_whose_step_fails(scene: Scene) -> None:
    recipe(scene, "exit 3")
    assert scene.workspace.run("recipe", "run", "r.yaml", "--json").exit_code == 1
    assert strays.alive(place(scene)) == set()


def test_they_end_at_once_with_a_step_that_runs_out_of_time(scene: Scene) -> None:
    steps = "  - {id: look, command: 'touch reached; until [ -e go ]; do sleep 0.02; done'}\n"
    recipe(scene, "touch started; sleep 600", more="    timeout: 12\n    on_error: continue\n", steps=steps)
    started = scene.start("recipe", "run", "r.yaml", "--json")
    started.wait_for("started")
    assert strays.alive(place(scene)) == EVERY
    started.wait_for("reached")
    assert strays.alive(place(scene)) == set()
    scene.workspace.write("go", "")
    assert "timed out" in started.end().json["step_results"][0]["error"]


def reached(scene: Scene) -> Started:
    recipe(scene, "touch reached; sleep 600")
    started = scene.start("recipe", "run", "r.yaml", "--json")
    started.wait_for("reached")
    assert strays.alive(place(scene)) == EVERY
    return started


def watcher_of(started: Started) -> int | None:
    """The process that watches over a runner: a child of its own that is called so."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            if (
                int(parent) == started.process.pid
                and b"amplihack-watcher" in (entry / "cmdline").read_bytes()
            ):
                return int(entry.name)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_they_end_with_a_run_that_is_asked_to(scene: Scene, number: signal.Signals) -> None:
    started = reached(scene)
    started.interrupt(number=number)
    if number != signal.SIGINT:  # which waits for the end of the grace
        time.sleep(0.5)
        started.interrupt(number=number)
    assert started.end().json["status"] == "interrupted"
    assert strays.alive(place(scene)) == set()


@pytest.mark.parametrize("stopped", [False, True])
def test_they_end_when_the_runner_is_killed(scene: Scene, stopped: bool) -> None:
    started = reached(scene)
    if stopped:
        started.interrupt(number=signal.SIGSTOP)
    started.interrupt(number=signal.SIGKILL)
    started.end()
    wait_until("no strays", lambda: not strays.alive(place(scene)))


CHAIN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
log, end = os.open("links", os.O_WRONLY | os.O_CREAT | os.O_APPEND), time.time() + 60
while time.time() < end:
    os.write(log, b".")
    time.sleep(0.001)
    if os.fork():
        os._exit(0)
"""


@pytest.mark.parametrize("end", ["killed", "finished"])
def test_a_chain_in_which_each_starts_the_next_and_ends_at_once_is_ended(scene: Scene, end: str) -> None:
    """The kernel signals a group of processes as a whole, however fast they follow each other."""
    scene.workspace.write("chain.py", CHAIN)
    after = "sleep 600" if end == "killed" else "true"
    command = f"{sys.executable} chain.py & until [ -s links ]; do sleep 0.02; done; touch reached; {after}"
    scene.workspace.write("r.yaml", f"name: r\nsteps: [{{id: s, command: '{command}'}}]\n")
    started = scene.start("recipe", "run", "r.yaml", "--json")
    started.wait_for("reached")
    if end == "killed":
        started.interrupt(number=signal.SIGKILL)
    started.end()
    wait_until("no more links", lambda: not _grows(scene.workspace.path / "links"))


def _grows(file: Path) -> bool:
    before = file.stat().st_size
    time.sleep(0.5)
    return file.stat().st_size > before


def test_another_watcher_takes_the_place_of_one_that_is_killed(scene: Scene) -> None:
    started = reached(scene)
    for _ in range(3):
        first = watcher_of(started)
        assert first is not None
        os.kill(first, signal.SIGKILL)
        wait_until("another watcher", lambda: watcher_of(started) not in (None, first))  # noqa: B023 - at once
    started.interrupt(number=signal.SIGKILL)
    started.end()
    wait_until("no strays", lambda: not strays.alive(place(scene)))


def test_the_next_run_ends_what_is_left_of_one_that_was_killed_with_its_watcher(scene: Scene) -> None:
    started = reached(scene)
    started.interrupt(number=signal.SIGSTOP)  # it cannot start another one
    watcher = watcher_of(started)
    assert watcher is not None
    os.kill(watcher, signal.SIGKILL)
    started.interrupt(number=signal.SIGKILL)
    started.end()
    assert strays.alive(place(scene)) == EVERY
    for path in scene.temporary.glob("amplihack-progress-*"):
        path.unlink()  # it is removed when it is a minute old
    scene.workspace.write("ok.yaml", "name: ok\nsteps: [{id: a, command: echo fine}]\n")
    assert scene.workspace.run("recipe", "run", "ok.yaml", "-q").exit_code == 0
    assert strays.alive(place(scene)) == set()


# Strangers --------------------------------------------------------------------------------------------------

BARE = "env -i setsid sleep 600"  # what nobody but the kernel can tell the origin of
INNER = f"""\
name: inner
steps:
  - {{id: own, command: "({BARE} & echo $! > {{{{name}}}}.pid) >/dev/null 2>&1"}}
  - {{id: stay, command: "touch {{{{name}}}}.reached; until [ -e {{{{name}}}}.go ]; do sleep 0.02; done"}}
"""


def number(scene: Scene, name: str) -> int:
    wait_until(name, lambda: scene.has(name) and (scene.workspace.path / name).read_text().strip())
    return int((scene.workspace.path / name).read_text())


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture
def strangers() -> Iterator[list[int]]:
    """Processes that must live on; they are ended after the test."""
    found: list[int] = []
    yield found
    living = [pid for pid in found if lives(pid)]
    for pid in living:
        os.kill(pid, signal.SIGKILL)
    assert living == found


@pytest.mark.parametrize("number_", [signal.SIGINT, signal.SIGKILL])
def test_what_the_shell_around_a_run_has_started_lives_on(
    scene: Scene, strangers: list[int], number_: signal.Signals
) -> None:
    scene.workspace.write("inner.yaml", INNER)
    run = f"'{sys.executable}' -m amplihack recipe run inner.yaml --set name=a"
    shell = (
        f"({BARE} & echo $! > before) >/dev/null 2>&1; {run} & echo $! > runner;"
        f"until [ -e a.reached ]; do sleep 0.02; done; ({BARE} & echo $! > during) >/dev/null 2>&1;"
        "touch ready; wait; echo over"
    )
    around = subprocess.Popen(
        ["/bin/bash", "-c", shell], cwd=scene.workspace.path, env=scene.workspace.env, stdout=subprocess.PIPE
    )
    strangers += [number(scene, "before"), number(scene, "during")]
    own = number(scene, "a.pid")
    assert lives(own)
    os.kill(number(scene, "runner"), number_)
    out, _ = around.communicate(timeout=60)
    assert out.endswith(b"over\n")
    wait_until("the end of its own", lambda: not lives(own))


@pytest.mark.parametrize("death", ["end", "SIGTERM", "SIGKILL"])
def test_a_run_inside_a_run_ends_its_own_and_the_outer_one_ends_all(scene: Scene, death: str) -> None:
    scene.workspace.write("inner.yaml", INNER)
    run = f"'{sys.executable}' -m amplihack recipe run inner.yaml -q --set name="
    steps = [f"({BARE} & echo $! > outer.pid) >/dev/null 2>&1"]
    steps += [f"({run}{name} & echo $! > {name}.runner; touch {name}.begun) >/dev/null 2>&1" for name in "ab"]
    steps += ["touch reached; until [ -e go ]; do sleep 0.02; done"]
    listed = "".join(f'  - {{id: s{n}, command: "{step}"}}\n' for n, step in enumerate(steps))
    scene.workspace.write("outer.yaml", f"name: outer\nsteps:\n{listed}")
    started = scene.start("recipe", "run", "outer.yaml", "--json")
    for name in ("reached", "a.reached", "b.reached"):
        started.wait_for(name)
    outer, first, second = (number(scene, f"{name}.pid") for name in ("outer", "a", "b"))
    runner = number(scene, "a.runner")
    if death == "end":
        scene.workspace.write("a.go", "")
    else:
        os.kill(runner, signal.Signals[death])
    wait_until("the end of the first", lambda: not lives(first) and not lives(runner))
    assert lives(outer)
    assert lives(second)
    assert lives(started.process.pid)
    scene.workspace.write("go", "")
    assert started.end().exit_code == 0
    assert not any(map(lives, (outer, second)))


def test_runs_beside_each_other_do_not_touch_each_other(scene: Scene) -> None:
    scene.workspace.write("inner.yaml", INNER)
    runs = {name: scene.start("recipe", "run", "inner.yaml", "-q", "--set", f"name={name}") for name in "abc"}
    for name in runs:
        runs[name].wait_for(f"{name}.reached")
    own = {name: number(scene, f"{name}.pid") for name in runs}
    scene.workspace.write("a.go", "")
    assert runs["a"].end().exit_code == 0
    runs["b"].interrupt(number=signal.SIGKILL)
    runs["b"].end()
    wait_until("the end of the second", lambda: not lives(own["b"]))
    assert [lives(own[name]) for name in "abc"] == [False, False, True]
    scene.workspace.write("c.go", "")
    assert runs["c"].end().exit_code == 0
    assert not lives(own["c"])


LIBRARY = f"""
import subprocess, sys, threading, time
from pathlib import Path
from amplihack import run_file
def start(name):
    child = subprocess.Popen("{BARE}".split(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    Path(name).write_text(str(child.pid))
start("before")
worker = threading.Thread(target=run_file, args=("wait.yaml",))
worker.start()
while not Path("reached").exists():
    time.sleep(0.01)
start("during")
worker.join()
start("after")
sys.stdin.read()
"""


def test_what_a_program_starts_that_uses_us_lives_on(scene: Scene, strangers: list[int]) -> None:
    step = "{id: a, command: 'sleep 600 & touch reached; until [ -e during ]; do sleep 0.02; done'}"
    scene.workspace.write("wait.yaml", f"name: wait\nsteps: [{step}]\n")
    program = subprocess.Popen(
        [sys.executable, "-c", LIBRARY],
        cwd=scene.workspace.path,
        env=scene.workspace.env,
        stdin=subprocess.PIPE,
    )
    strangers += [number(scene, name) for name in ("before", "during", "after")]
    program.kill()
    program.communicate()
    time.sleep(1)  # for a watcher that would end them


def test_where_the_limit_is_taken_the_other_marks_do_what_they_can(scene: Scene) -> None:
    scene.workspace.write(
        "a.yaml", "name: a\nsteps: [{id: a, command: '(setsid sleep 600 &) >/dev/null 2>&1'}]\n"
    )
    command = f"ulimit -x 1000; '{sys.executable}' -m amplihack recipe run a.yaml --json"
    done = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=scene.workspace.path,
        env=scene.workspace.env,
        capture_output=True,
        check=True,
    )
    assert b"was ended: sleep 600" in done.stdout
    assert scene.alive() == []


CONTAINED = f"""\
name: r
steps:
  - {{id: serve, command: "({BARE} &) >/dev/null 2>&1"}}
  - {{id: slow, timeout: 1, on_error: continue, command: "({BARE}.5 &) >/dev/null 2>&1; sleep 60"}}
  - id: short
    command: |
      for i in {{1..99}}; do (sleep 0.01 &); done
      sleep 1
      ps -eo stat | grep -c Z || true
  - {{id: look, command: ps -eo args}}
"""


def can_be_first() -> bool:
    """Whether a process may be the first of a space of its own, as in a container."""
    return (
        subprocess.run(
            ["unshare", "-pf", "--mount-proc", "true"], check=False, capture_output=True
        ).returncode
        == 0
    )


def test_the_first_process_of_a_container_ends_what_it_inherits(scene: Scene) -> None:
    """Whoever loses its parent there becomes a child of ours."""
    if not can_be_first():
        pytest.skip("this machine does not let us")
    scene.workspace.write("r.yaml", CONTAINED)
    done = subprocess.run(
        [
            "unshare",
            "-pf",
            "--mount-proc",
            sys.executable,
            "-m",
            "amplihack",
            "recipe",
            "run",
            "r.yaml",
            "--json",
        ],
        cwd=scene.workspace.path,
        env=scene.workspace.env,
        capture_output=True,
        check=True,
    )
    result = json.loads(done.stdout)
    assert [line for line in result["context"]["look"].splitlines() if line.startswith("sleep")] == [
        "sleep 600"
    ]
    assert int(result["context"]["short"]) < 5  # of those that have ended and were inherited
    assert "was ended: sleep 600" in result["step_results"][0]["warnings"][0]
