"""With -q, stdout holds the recipe's own result and nothing else, so that `> notes.md` works."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.support.workspace import Workspace


def printed(workspace: Workspace, text: str, *flags: str) -> tuple[int, bytes, str]:
    """Exit code, the bytes of stdout, and stderr."""
    workspace.write("r.yaml", text)
    done = subprocess.run(
        [sys.executable, "-m", "amplihack", "recipe", "run", "r.yaml", "-q", *flags],
        cwd=workspace.path,
        env=workspace.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr.decode()


NOTES = "name: r\nsteps:\n  - {id: a, command: \"printf '  # Grüße\\\\n\\\\n- x \\\\n\\\\n'\"}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (NOTES, "  # Grüße\n\n- x \n"),
        (NOTES + "  - {id: b, command: echo no, condition: 1 == 2}\n", "  # Grüße\n\n- x \n"),
        (NOTES + 'output: "{{a}}"\n', "  # Grüße\n\n- x \n"),
        (NOTES + "output: |2\n      head\n\n  {{a}}\n  tail\n\n", "    head\n\n  # Grüße\n\n- x \ntail\n"),
        ("name: r\nsteps: [{id: a, command: 'true'}]\n", ""),
        ("name: r\nsteps: [{id: a, command: 'echo \"[1, 2]\"', parse_json: true}]\n", "[1,2]\n"),
        ("name: r\ncontext: {m: {b: [1]}}\nsteps: [{id: a, command: ls}]\noutput: '{{m}}'\n", '{"b":[1]}\n'),
        ("name: r\nsteps: [{id: a, foreach: [x, y], command: 'echo {{item}}'}]\n", "y\n"),
    ],
)
def test_the_result_is_all_there_is(workspace: Workspace, text: str, expected: str) -> None:
    assert printed(workspace, text) == (0, expected.encode(), "")


def test_a_run_that_fails_has_no_result_and_says_why(workspace: Workspace) -> None:
    text = NOTES + "  - {id: b, command: 'echo part; echo why >&2; exit 3'}\n  - {id: c, command: ls}\n"
    code, stdout, stderr = printed(workspace, text)
    assert (code, stdout) == (1, b"")
    assert stderr.startswith("Recipe 'r': FAILED")
    assert "[failed] b" in stderr
    assert "why" in stderr
    assert "[completed]" not in stderr


def test_warnings_are_told_beside_it(workspace: Workspace) -> None:
    code, stdout, stderr = printed(workspace, "name: r\nsteps: [{id: a, command: 'echo x{{nope}}'}]\n")
    assert (code, stdout) == (0, b"x\n")
    assert stderr == "warning: a: undefined in command: nope; it renders empty\n"


def test_json_and_the_report_are_still_to_be_had(workspace: Workspace) -> None:
    workspace.write("r.yaml", NOTES)
    assert workspace.run("recipe", "run", "r.yaml", "-q", "--json").json["success"]
    report = workspace.run("recipe", "run", "r.yaml", "-q", "--show-output").stdout
    assert "Recipe 'r': SUCCESS" in report
    shown = workspace.run("recipe", "run", "r.yaml", "-q", "--progress")
    assert (shown.stdout, "▶ a" in shown.stderr) == ("  # Grüße\n\n- x \n", True)


def test_the_report_has_the_output_of_every_round(workspace: Workspace) -> None:
    workspace.write(
        "r.yaml",
        "name: r\nsteps:\n  - {id: a, foreach: [x, y], command: 'echo {{item}}'}\n"
        "  - {id: b, foreach: [1], steps: [{id: c, command: echo c}, {id: d, command: echo d}]}\n"
        "  - {id: e, foreach: [], command: echo e}\n  - {id: f, command: echo f}\n",
    )
    report = workspace.run("recipe", "run", "r.yaml", "-q", "--show-output").stdout
    assert (
        report.split("--- ", 1)[1].rstrip()
        == "a[0]\nx\n--- a[1]\ny\n--- b[0]/c\nc\n--- b[0]/d\nd\n--- e\n\n--- f\nf"
    )


def test_secrets_stay_masked(workspace: Workspace) -> None:
    text = "name: r\nsecrets: [key]\ncontext: {key: hunter22}\nsteps: [{id: a, command: 'echo k={{key}}'}]\n"
    assert printed(workspace, text)[1] == b"k=***\n"
