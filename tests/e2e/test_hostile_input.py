"""Input that is meant to break things, through the real commands: it is told, and never a bug of ours."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.workspace import Answer, Workspace

KNOWN = {0, 1, 2, 3, 4, 130}
DEEP = "[" * 2_000 + "]" * 2_000
NUMBERS = ("nan", "inf", "-1", "1e400", "9" * 400, "9" * 5_000, "1_000", "", "--", "٣")
LONG = "a" * 5_000
MANY = "x/" * 1_900
RECIPE = "name: r\nsteps: [{id: a, command: 'echo {{x}}'}]\n"


def explained(answer: Answer) -> None:
    assert answer.exit_code in KNOWN, answer.stderr
    assert "Traceback" not in answer.stderr
    assert "not your fault" not in answer.stderr


@pytest.fixture
def place(workspace: Workspace) -> Workspace:
    workspace.write("ok.yaml", RECIPE)
    workspace.write("deep.json", DEEP)
    workspace.write("deep.yaml", f"name: r\ncontext: {{x: {DEEP}}}\n{RECIPE.partition(chr(10))[2]}")
    workspace.write("ask.yaml", "name: r\nsteps: [{id: a, prompt: hi, parse_json: true}]\n")
    workspace.write("print.yaml", "name: r\nsteps: [{id: a, command: cat deep.json, parse_json: true}]\n")
    workspace.write("answers.yaml", f"- {{reply: '{DEEP}'}}\n")
    workspace.write("utf16.yaml", RECIPE.encode("utf-16"))
    (workspace.path / "folder.yaml").mkdir()
    os.mkfifo(workspace.path / "pipe.yaml")
    return workspace


def test_deep_values_are_told_wherever_they_come_from(place: Workspace) -> None:
    for words in (
        ("ok.yaml", "--set-json", f"x={DEEP}"),
        ("ok.yaml", "--set", f"x={DEEP}"),
        ("ok.yaml", "--set", f"x{'.a' * 3_000}=1"),
        ("ok.yaml", "--set-file", "x=deep.json"),
        ("ok.yaml", "--context-file", "deep.json"),
        ("deep.yaml",),
        ("print.yaml",),
        ("ask.yaml", "--agent", "scripted:answers.yaml"),
    ):
        explained(place.run("recipe", "run", *words))
    told = place.run("recipe", "run", "ok.yaml", "--set-json", f"x={DEEP}")
    assert told.exit_code == 2
    assert "nested more than 100 levels deep" in told.stderr


@pytest.mark.parametrize("flag", ["--step-timeout", "--max-parallel", "--max-agents"])
def test_numbers_that_are_none_are_told(place: Workspace, flag: str) -> None:
    for number in NUMBERS:
        answer = place.run("recipe", "run", "ok.yaml", f"{flag}={number}")
        explained(answer)
        assert answer.exit_code == 2 or number in ("1_000", "٣", "9" * 400, "9" * 5_000), (number, answer)


@pytest.mark.parametrize("field", ["timeout: {}", "retry: {{max_attempts: {}}}", "working_dir: '{}'"])
def test_fields_that_hold_no_number_are_told(place: Workspace, field: str) -> None:
    for number in (*NUMBERS, ".inf", ".nan"):
        place.write("n.yaml", f"name: r\nsteps: [{{id: a, command: 'true', {field.format(number)}}}]\n")
        explained(place.run("recipe", "run", "n.yaml"))


@pytest.mark.parametrize(
    "name",
    [
        "folder.yaml",
        "pipe.yaml",
        "utf16.yaml",
        "/dev/null",
        "",
        LONG,
        MANY,
        "\udcff.yaml",
        "a\nb",
        "ok.yaml/x",
    ],
)
def test_odd_files_are_told_in_every_place_for_a_file(place: Workspace, name: str) -> None:
    for words in (
        ("recipe", "run", name),
        ("recipe", "check", name),
        ("recipe", "list", "-R", name),
        ("recipe", "manifest", name),
        ("recipe", "run", "ok.yaml", "-C", name),
        ("recipe", "run", "ok.yaml", "--audit-dir", name),
        ("bundle", "validate", name),
    ):
        explained(place.run(*words))
    if name != "pipe.yaml":  # values and answers may come through a pipe
        explained(place.run("recipe", "run", "ok.yaml", "--context-file", name))
        explained(place.run("recipe", "run", "ask.yaml", "--agent", f"scripted:{name}"))


@pytest.mark.parametrize("depth", ["100000", "50"])
def test_recipes_that_call_each_other_without_end_are_stopped(workspace: Workspace, depth: str) -> None:
    limits = f"recursion: {{max_depth: {depth}, max_total_steps: 1000000}}\n"
    workspace.write("a.yaml", f"name: a\n{limits}steps: [{{id: x, recipe: b.yaml}}]\n")
    inner = "[{id: y, foreach: [1], steps: [{id: z, foreach: [1], steps: [{id: c, recipe: a.yaml}]}]}]"
    workspace.write("b.yaml", f"name: b\n{limits}steps: {inner}\n")
    for words in (("run",), ("run", "--json"), ("run", "--dry-run=deep"), ("check",), ("explain",)):
        explained(workspace.run("recipe", *words, "a.yaml"))
    assert ("never more than 50" in workspace.run("recipe", "check", "a.yaml").stdout) == (depth == "100000")


GROWING = {
    "deeper": ('x: ["{{x}}"]', "levels deep"),
    "longer": ('x: "{{x}}{{x}}{{x}}{{x}}{{x}}{{x}}{{x}}{{x}}"', "characters"),
}


@pytest.mark.parametrize(("update", "words"), GROWING.values(), ids=GROWING)
def test_values_that_grow_without_end_fail_their_step(workspace: Workspace, update: str, words: str) -> None:
    loop = 'while_condition: "true", max_while_iterations: 250'
    step = f"{{id: grow, {loop}, command: ':', update_context: {{{update}}}}}"
    head = "name: r\nrecursion: {max_total_steps: 1000}\ncontext: {x: text}\n"
    workspace.write("r.yaml", f"{head}steps:\n  - {step}\n")
    answer = workspace.run("recipe", "run", "r.yaml", "-q")
    explained(answer)
    assert (answer.exit_code, words in answer.stderr) == (1, True)


def test_aliases_of_long_texts_are_refused(workspace: Workspace) -> None:
    many = ", ".join(["*a"] * 9_000)
    text = f"name: r\ncontext:\n  a: &a {'x' * 100_000}\n  b: [{many}]\n  c: [{many}]\n"
    workspace.write("r.yaml", f"{text}steps: [{{id: a, command: echo}}]\n")
    told = workspace.run("recipe", "run", "r.yaml")
    assert told.exit_code == 2
    assert "unfold to too much" in told.stderr


@pytest.mark.parametrize(
    "env",
    [
        {"AMPLIHACK_SESSION_DEPTH": "9" * 5_000},
        {"TMPDIR": "/nonexistent"},
        {"HOME": "/dev/null/home"},  # which root cannot make either
        {"LC_ALL": "C", "PYTHONUTF8": "0"},
        {"COLUMNS": "nan"},
        {"AMPLIHACK_HOME": "/proc/x"},
    ],
)
def test_an_odd_environment_is_told(place: Workspace, env: dict[str, str]) -> None:
    for words in (("recipe", "run", "ok.yaml"), ("recipe", "list"), ("recipe", "run", "--help")):
        explained(place.run(*words, env=env))


def test_a_value_that_the_locale_cannot_write_is_told_with_what_to_set(workspace: Workspace) -> None:
    workspace.write("r.yaml", "name: r\ncontext: {x: ア}\nsteps: [{id: a, command: 'echo {{x}}'}]\n")
    told = workspace.run("recipe", "run", "r.yaml", env={"LC_ALL": "C", "PYTHONUTF8": "0"})
    assert (told.exit_code, "LC_ALL=C.UTF-8" in told.stdout + told.stderr) == (1, True)


def test_a_stderr_that_takes_nothing_changes_no_exit_code(place: Workspace) -> None:
    for words, code in ((("recipe", "check", "ok.yaml"), 0), (("recipe", "nope"), 2), (("--help",), 0)):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "amplihack", *words],
                cwd=place.path, env=place.env, stdout=subprocess.DEVNULL, stderr=full, check=False,
            )  # fmt: skip
        assert done.returncode == code


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_interrupt_while_a_slow_reader_reads_cuts_nothing(workspace: Workspace, unbuffered: str) -> None:
    workspace.write("r.yaml", "name: r\nsteps: [{id: a, command: seq 100000}]\n")
    with subprocess.Popen(
        [sys.executable, "-m", "amplihack", "recipe", "run", "--json", "r.yaml"],
        cwd=workspace.path,
        env={**workspace.env, "PYTHONUNBUFFERED": unbuffered},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        first = os.read(process.stdout.fileno(), 1)  # it is being written, and does not fit into the pipe
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        rest = process.stdout.read()
    assert process.returncode == 0
    assert json.loads(first + rest)["status"] == "completed"
