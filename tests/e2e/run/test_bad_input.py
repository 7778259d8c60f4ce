"""A machine that is not as it should be: missing places, full disks, closed pipes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.workspace import Answer, Workspace

SIMPLE = "name: r\nsteps:\n  - {id: s, command: touch ran}\n"


def test_a_missing_directory_is_told_before_anything_runs(workspace: Workspace) -> None:
    workspace.write("r.yaml", SIMPLE)
    answer = workspace.run("recipe", "run", "r.yaml", "-C", "nowhere")
    assert (answer.exit_code, "nowhere" in answer.stderr) == (2, True)


@pytest.mark.parametrize("flag", ["--audit-dir", "--events"])
def test_a_log_that_cannot_be_written_stops_the_run_before_it_begins(workspace: Workspace, flag: str) -> None:
    workspace.write("r.yaml", SIMPLE)
    workspace.write("in-the-way", "a file")
    answer = workspace.run("recipe", "run", "r.yaml", flag, "in-the-way/log")
    assert answer.exit_code == 2
    assert "in-the-way" in answer.stderr
    assert not (workspace.path / "ran").exists()


# Python itself may live where only root can look, so a first run, with a home of its own, imports everything
# that the second needs.
DROPPED = """\
import contextlib, io, os, sys, tempfile
from amplihack.cli.main import main
home = os.environ["HOME"]
with tempfile.TemporaryDirectory() as first, contextlib.redirect_stdout(io.StringIO()):
    os.environ["HOME"] = first
    open(f"{first}/r.yaml", "w").write("{name: first, steps: [{id: s, command: echo}]}")
    if main(["recipe", "run", f"{first}/r.yaml", "-q", "-C", first, "--audit-dir", f"{first}/audit"]):
        sys.exit("the first run failed")
os.environ["HOME"] = home
os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def unprivileged() -> Iterator[Workspace]:
    """A folder of a user whom permissions stop, which they do not do to root."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to other users
        workspace = Workspace(Path(folder))
        if os.geteuid() == 0:
            for path in (workspace.path, workspace.path / "home"):
                os.chown(path, 65534, 65534)
        yield workspace


def run_unprivileged(workspace: Workspace, *words: str) -> Answer:
    if os.geteuid() != 0:
        return workspace.run("recipe", "run", *words)
    done = subprocess.run(
        [sys.executable, "-c", DROPPED, "recipe", "run", *words],
        cwd=workspace.path,
        env=workspace.env,
        capture_output=True,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("log", ["closed", "closed/deeper"])
def test_an_audit_folder_that_may_not_be_written_stops_the_run_before_it_begins(
    unprivileged: Workspace, log: str
) -> None:
    unprivileged.write("r.yaml", SIMPLE)
    (unprivileged.path / "closed").mkdir(mode=0o555)
    refused = run_unprivileged(unprivileged, "r.yaml", "--audit-dir", log)
    assert refused.exit_code == 2
    assert f"cannot write an audit log to {unprivileged.path / log}: Permission denied" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (unprivileged.path / "ran").exists()


def test_an_audit_folder_of_ones_own_is_all_that_an_ordinary_user_needs(unprivileged: Workspace) -> None:
    unprivileged.write("r.yaml", SIMPLE)
    allowed = run_unprivileged(unprivileged, "r.yaml", "--audit-dir", "own")
    assert allowed.exit_code == 0, allowed.stderr
    assert (unprivileged.path / "ran").exists()
    assert len(list((unprivileged.path / "own").iterdir())) == 1


def test_a_umask_that_keeps_the_owner_out_is_told_and_locks_nobody_out(workspace: Workspace) -> None:
    workspace.write("r.yaml", SIMPLE)
    done = subprocess.run(
        [sys.executable, "-m", "amplihack", "recipe", "run", "r.yaml", "-q"],
        cwd=workspace.path, env=workspace.env, capture_output=True, text=True, umask=0o777, check=False,
    )  # fmt: skip
    told = "warning: the umask 0777 would keep you out of what you make; 0077 is used\n"
    assert (done.returncode, done.stderr) == (0, told)
    rights = {path.name: path.stat().st_mode & 0o777 for path in (workspace.path / "home").rglob("*")}
    assert [name for name, own in rights.items() if own & 0o600 != 0o600 or own & 0o077] == []
    assert (workspace.path / "ran").stat().st_mode & 0o777 == 0o600


def test_the_audit_log_has_a_line_for_every_step(workspace: Workspace) -> None:
    workspace.write(
        "r.yaml",
        (
            "name: r\nsteps:\n  - {id: a, command: echo x}\n"
            "  - {id: b, command: exit 1, nonfatal: true}\n  - {id: c, command: x, when_tags: [t]}\n"
        ),
    )
    assert (
        workspace.run("recipe", "run", "r.yaml", "--audit-dir", "audit", "--exclude-tags", "t").exit_code == 0
    )
    (file,) = (workspace.path / "audit").iterdir()
    assert oct(file.stat().st_mode & 0o777) == "0o600"
    assert [line.split(", ")[:2] for line in file.read_text().splitlines()] == [
        [f'{{"step_id": "{name}"', f'"status": "{status}"']
        for name, status in (("a", "Completed"), ("b", "Failed"), ("c", "Skipped"))
    ]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with room for two mebibytes."""
    place = tmp_path / "tiny"
    place.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mount.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mount.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_temporary_disk_fails_the_step_that_needs_it(workspace: Workspace, tiny_disk: Path) -> None:
    workspace.write(
        "r.yaml",
        (
            "name: r\nsteps:\n  - {id: small, command: echo fine}\n"
            "  - {id: big, command: 'head -c 5000000 /dev/zero', on_error: continue}\n"
            "  - {id: after, command: echo on}\n"
        ),
    )
    result = workspace.run("recipe", "run", "r.yaml", "--json", "-q", env={"TMPDIR": str(tiny_disk)}).json
    assert [step["status"] for step in result["step_results"]] == ["completed", "failed", "completed"]
    assert "No space left" in result["step_results"][1]["error"]
    assert [path.name for path in tiny_disk.iterdir() if "progress" not in path.name] == []


def test_a_disk_that_is_full_from_the_start_costs_its_log_and_not_the_run(
    workspace: Workspace, tiny_disk: Path
) -> None:
    (tiny_disk / "audit").mkdir()
    with pytest.raises(OSError, match="No space"), (tiny_disk / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    workspace.write("r.yaml", SIMPLE)
    flags = ("--json", "--audit-dir", str(tiny_disk / "audit"))
    answer = workspace.run("recipe", "run", "r.yaml", *flags, env={"TMPDIR": str(tiny_disk)})
    assert (answer.exit_code, answer.json["success"]) == (0, True)
    assert "the audit log stopped: No space left on device" in answer.json["warnings"]
    assert "No space left on device" in answer.stderr


def test_nobody_who_reads_is_no_reason_to_leave_processes(workspace: Workspace) -> None:
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: s, command: 'yes | head -c 100000'}\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "amplihack", "recipe", "run", "r.yaml", "--json"],
        cwd=workspace.path, env=workspace.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout
    process.stdout.close()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0  # the run itself went well
    assert b"Traceback" not in stderr


def test_a_recipe_that_is_deleted_while_it_runs_still_ends(workspace: Workspace) -> None:
    workspace.write("child.yaml", "name: child\nsteps: [{id: c, command: echo c}]\n")
    workspace.write(
        "r.yaml",
        (
            "name: r\nsteps:\n  - {id: a, command: rm r.yaml}\n  - {id: b, command: echo on}\n"
            "  - {id: c, command: rm child.yaml}\n  - {id: d, recipe: child, on_error: continue}\n"
        ),
    )
    result = workspace.run("recipe", "run", "r.yaml", "--json", "-q").json
    assert [step["status"] for step in result["step_results"]][:3] == ["completed"] * 3
    assert result["success"]


def test_a_working_directory_that_vanishes_fails_the_next_step(workspace: Workspace) -> None:
    (workspace.path / "base").mkdir()
    workspace.write(
        "r.yaml", "name: r\nsteps:\n  - {id: a, command: 'rmdir $PWD'}\n  - {id: b, command: echo on}\n"
    )
    result = workspace.run("recipe", "run", "r.yaml", "--json", "-q", "-C", "base").json
    assert "does not exist" in result["step_results"][1]["error"]


def test_abysmally_nested_output_is_just_text(workspace: Workspace) -> None:
    workspace.write(
        "r.yaml",
        (
            "name: r\nsteps:\n  - {id: a, command: 'printf %.0s[ {1..700}; printf 1; printf %.0s] "
            "{1..700}', parse_json: true}\n  - {id: b, command: 'printf %s \"{{a}}\" | wc -c'}\n"
        ),
    )
    result = workspace.run("recipe", "run", "r.yaml", "--json", "-q").json
    assert (result["step_results"][0]["status"], result["context"]["b"]) == ("degraded", 1401)


@pytest.mark.parametrize("field", ["if: \"branch == 'main'\"", "when: never", "needs: [x]", "uses: a/b@v1"])
def test_a_step_with_a_word_of_another_tool_does_not_run(workspace: Workspace, field: str) -> None:
    workspace.write("r.yaml", f"name: r\nsteps:\n  - id: a\n    command: touch ran\n    {field}\n")
    answer = workspace.run("recipe", "run", "r.yaml")
    assert answer.exit_code == 2
    assert "is a word of other tools" in answer.stderr
    assert "fix: write `" in answer.stderr
    assert not (workspace.path / "ran").exists()


def test_a_step_that_says_nothing_to_do_stops_the_run_before_it_begins(workspace: Workspace) -> None:
    steps = "  - {id: a, command: touch ran}\n  - {id: b, comand: ls}\n"
    workspace.write("r.yaml", f"name: r\nsteps:\n{steps}")
    answer = workspace.run("recipe", "run", "r.yaml")
    assert answer.exit_code == 2
    assert "Step 'b': bash step is missing a 'command' field" in answer.stderr
    assert not (workspace.path / "ran").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{{ word | upper }}", "{{ word | upper }} stays in the text as it is: only {{name}} is filled in"),
        ("{{ word or 1 }}", "{{ word or 1 }} stays in the text as it is"),
        ("{{word}", "{{word} is never closed, and stays as it is; write {{word}}"),
    ],
)
def test_what_looks_like_a_placeholder_and_stays_is_told(workspace: Workspace, text: str, told: str) -> None:
    workspace.write(
        "r.yaml", f"name: r\ncontext: {{word: a}}\nsteps:\n  - {{id: a, command: \"echo '{text}'\"}}\n"
    )
    answer = workspace.run("recipe", "run", "r.yaml")
    assert (answer.exit_code, told in answer.stderr) == (0, True), answer.stderr
    workspace.write("r.yaml", f"name: r\nsteps:\n  - {{id: a, command: \"echo '{text}'\"}}\n")
    assert "stays" not in workspace.run("recipe", "run", "r.yaml").stderr


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ("  -id: a\n", "put a space behind each dash: `- id:`"),
        ("  - id:a\n    command:ls\n", "put a space behind the colon: `id: a`"),
        ('  - {id: a, command: " "}\n', "'command' is empty, so the step does nothing"),
        ("  - {id: a, recipe: nowhere}\n", "fix: check its name; looked in "),
    ],
)
def test_slips_of_the_pen_are_told_with_what_to_write(workspace: Workspace, steps: str, told: str) -> None:
    workspace.write("r.yaml", f"name: r\nsteps:\n{steps}")
    assert told in workspace.run("recipe", "run", "r.yaml").stderr


def test_a_condition_that_says_yes_is_told_to_say_true(workspace: Workspace) -> None:
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: a, command: ls, condition: yes}\n")
    told = workspace.run("recipe", "check", "r.yaml").stdout
    assert "fix: write true: in conditions, yes is the name of a variable" in told


def test_files_that_are_no_recipes_are_told_apart(workspace: Workspace) -> None:
    (workspace.path / "program.yaml").write_bytes(b"\x7fELF\0\1")
    assert "the file is no text" in workspace.run("recipe", "run", "program.yaml").stderr
    (workspace.path / "link.yaml").symlink_to("nowhere.yaml")
    answer = workspace.run("recipe", "run", "link.yaml")
    assert (answer.exit_code, "link.yaml is a link that leads nowhere" in answer.stderr) == (3, True)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("r.yaml", "s.yaml"), 2, "it takes one RECIPE: run it once for each"),
        (("r.yaml", "word=b"), 2, "did you mean --set word=b?"),
        (("r.yaml", "--sett", "a=b"), 2, "did you mean --set?"),
        (("r.yaml", "--set"), 2, "write --set KEY=VALUE"),
        (("r.yaml", "--color", "alway"), 2, "write --color always"),
        (("r.yaml", "--output-format", "xml"), 2, "write --output-format text"),
        (("",), 4, "no recipe is given: the name is empty"),
        (
            ("https://example.org/r.yaml",),
            3,
            "`curl -fsS https://example.org/r.yaml | amplihack recipe run -`",
        ),
        (("r.yaml", "-C", "r.yaml"), 2, "the working directory is no directory"),
        (("r.yaml", "-R", "nowhere"), 0, "warning: -R nowhere: there is no such directory"),
    ],
)
def test_slips_on_the_command_line_are_told_with_what_to_type(
    workspace: Workspace, words: tuple[str, ...], code: int, told: str
) -> None:
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: a, command: ls}\n")
    answer = workspace.run("recipe", "run", *words)
    assert (answer.exit_code, told in answer.stderr) == (code, True), answer.stderr


@pytest.mark.parametrize("verb", ["list", "validate", "check", "explain"])
def test_a_directory_of_recipes_that_is_not_there_is_told_by_all(workspace: Workspace, verb: str) -> None:
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: a, command: ls}\n")
    names = () if verb == "list" else ("r.yaml",)
    answer = workspace.run("recipe", verb, *names, "-R", "nowhere", "--json")
    assert (answer.exit_code, "-R nowhere: there is no such directory" in answer.stderr) == (0, True)


@pytest.mark.parametrize("flag", ["-C", "-R", "--agent", "--audit-dir", "--events"])
def test_an_argument_that_is_empty_is_not_passed_over(workspace: Workspace, flag: str) -> None:
    workspace.write("r.yaml", "name: r\nsteps: [{id: a, command: touch ran}]\n")
    answer = workspace.run("recipe", "run", "r.yaml", flag, "")
    assert answer.exit_code == 2
    assert "it is empty; a variable of your shell may be unset" in answer.stderr
    assert not (workspace.path / "ran").exists()
    assert workspace.run("recipe", "check", "").exit_code == 2
