"""Everything that can be wrong with a file, one by one, through the real command: told, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from tests.support.workspace import Answer, Workspace

STEPS = "steps:\n  - {id: a, command: ls}\n"
GOOD = f"name: good\n{STEPS}"
LIMIT = 1_000_000
ENTRY = [sys.executable, "-m", "amplihack", "recipe"]


def _explained(answer: Answer, exit_code: int, *words: str) -> None:
    """The command failed as it should, and said why: without results and without a traceback."""
    assert answer.exit_code == exit_code, answer
    assert answer.stdout == ""
    for word in words:
        assert word in answer.stderr
    assert "Traceback" not in answer.stderr
    assert "not your fault" not in answer.stderr
    assert "\n  fix: " in answer.stderr


BAD_TEXTS: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "recipe.yaml:1:1: "),
    "whitespace": ("  \n\n", "recipe.yaml:"),
    "only a comment": ("# nothing\n", "recipe.yaml:"),
    "a list at the top": ("- name: x\n", "recipe.yaml:1:1: "),
    "a text at the top": ("hello\n", "recipe.yaml:1:1: "),
    "a tab as indentation": (f"name: x\n\tsteps: y\n{STEPS}", "recipe.yaml:2:1: "),
    "a bracket that never closes": ("name: x\nsteps: [\n", "recipe.yaml:3:1: "),
    "a key twice": (f"name: x\nname: y\n{STEPS}", "recipe.yaml:2:1: "),
    "two documents": (f"{GOOD}---\n{GOOD}", "recipe.yaml:"),
    "an unknown alias": (f"name: *nobody\n{STEPS}", "recipe.yaml:1:7: "),
    "UTF-16": (GOOD.encode("utf-16"), "UTF-8"),
    "invalid UTF-8": (b"name: caf\xe9\n" + STEPS.encode(), "UTF-8"),
    "a NUL byte": (b"name: a\x00b\n" + STEPS.encode(), "recipe.yaml:1:"),
    "100,000 nested brackets": ("name: x\nsteps: " + "[" * 100_000, "recipe.yaml:2:"),
    "100,000 nested dashes": ("name: x\nsteps:\n  " + "- " * 100_000 + "x\n", "recipe.yaml:3:"),
}


@pytest.mark.parametrize("name", BAD_TEXTS)
def test_a_bad_text_is_told_with_its_place(workspace: Workspace, name: str) -> None:
    text, place = BAD_TEXTS[name]
    workspace.write("recipe.yaml", text)
    _explained(workspace.run("recipe", "validate", "recipe.yaml"), 2, place)


def test_an_alias_bomb_is_refused(workspace: Workspace) -> None:
    bomb = "name: bomb\ncontext:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in range(1, 12):
        bomb += f"  a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n"
    workspace.write("bomb.yaml", bomb + STEPS)
    _explained(workspace.run("recipe", "validate", "bomb.yaml"), 2, "bomb.yaml:")


@pytest.mark.parametrize("text", [b"\xef\xbb\xbf" + GOOD.encode(), GOOD.replace("\n", "\r\n").encode()])
def test_a_byte_order_mark_and_windows_line_ends_are_fine(workspace: Workspace, text: bytes) -> None:
    workspace.write("recipe.yaml", text)
    assert workspace.run("recipe", "check", "recipe.yaml").exit_code == 0


def test_a_million_bytes_are_read_and_one_more_is_refused(workspace: Workspace) -> None:
    workspace.write("exact.yaml", GOOD + "#" * (LIMIT - len(GOOD)))
    workspace.write("over.yaml", GOOD + "#" * (LIMIT - len(GOOD) + 1))
    assert workspace.run("recipe", "validate", "exact.yaml").exit_code == 0
    over = workspace.run("recipe", "validate", "over.yaml")
    _explained(over, 2, "Recipe file too large (1000001 bytes). Maximum allowed: 1000000 bytes")


def test_ten_thousand_steps_are_read_and_checked(workspace: Workspace) -> None:
    steps = "".join(f"  - {{id: s{number}, command: echo}}\n" for number in range(10_000))
    allowed = "recursion: {max_total_steps: 10000}"
    workspace.write("long.yaml", f"name: long\n{allowed}\nsteps:\n{steps}")
    assert "(10000 steps)" in workspace.run("recipe", "validate", "long.yaml").stdout
    assert workspace.run("recipe", "check", "long.yaml").exit_code == 0


def test_a_directory_is_not_a_recipe(workspace: Workspace) -> None:
    (workspace.path / "folder.yaml").mkdir()
    _explained(workspace.run("recipe", "validate", "folder.yaml"), 3, "is a directory")


def test_a_pipe_is_refused_without_waiting_for_a_writer(workspace: Workspace) -> None:
    os.mkfifo(workspace.path / "pipe.yaml")
    _explained(workspace.run("recipe", "validate", "pipe.yaml"), 3, "is a pipe")


def test_a_device_is_refused_without_reading_it(workspace: Workspace) -> None:
    _explained(workspace.run("recipe", "validate", "/dev/zero"), 3, "is a device")


def test_a_link_that_leads_nowhere_is_not_found(workspace: Workspace) -> None:
    (workspace.path / "link.yaml").symlink_to("nowhere.yaml")
    _explained(workspace.run("recipe", "validate", "link.yaml"), 3, "Recipe file not found: ")


def test_a_file_that_may_not_be_read_says_so() -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to other users
        Path(folder).chmod(0o755)
        workspace = Workspace(Path(folder))
        workspace.write("secret.yaml", GOOD).chmod(0)
        answer = _unprivileged(workspace, "validate", "secret.yaml")
    _explained(answer, 2, "IO error: cannot read ", "Permission denied", "make it readable for you")


@pytest.mark.parametrize("closed", ["amplifier-bundle", "recipes", ".git"])
def test_a_closed_directory_above_is_passed_over(closed: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / closed / "recipes").mkdir(parents=True)
        (Path(folder) / closed).chmod(0)
        (Path(folder) / "project").mkdir(mode=0o755)
        workspace = Workspace(Path(folder) / "project")
        workspace.write("good.yaml", GOOD).chmod(0o644)
        answer = _unprivileged(workspace, "validate", "good.yaml")
        (Path(folder) / closed).chmod(0o755)
    assert (answer.exit_code, "is valid" in answer.stdout) == (0, True), answer


def _unprivileged(workspace: Workspace, *words: str) -> Answer:
    """The command as a user whom permissions stop, which they do not do to root."""
    if os.geteuid() != 0:
        return workspace.run("recipe", *words)
    done = subprocess.run(
        [sys.executable, "-c", DROPPED, "recipe", *words],
        cwd=workspace.path,
        env=workspace.env,
        capture_output=True,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


# Python itself may live where only root can look, so a first run imports everything that the second needs.
DROPPED = """\
import contextlib, io, os, sys, traceback
from amplihack.cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    main(["recipe", "validate", "/dev/zero"])
os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "name", ["two words.yaml", "new\nline.yaml", "bad\udcff.yaml", "-dash.yaml", "ünï.yaml"]
)
def test_a_strange_file_name_is_read_and_its_problems_are_told_on_one_line(
    workspace: Workspace, name: str
) -> None:
    workspace.write(name, f"{GOOD}notes: mine\n")
    answer = workspace.run("recipe", "check", "--", name)
    assert answer.exit_code == 0
    first = answer.stdout.splitlines()[0]
    assert ":4:1: warning: Unrecognized top-level field 'notes'" in first
    assert workspace.run("recipe", "check", "--json", "--", name).json[0]["file"] == name


def _shell(workspace: Workspace, script: str, **extra: str) -> Answer:
    environment = {**workspace.env, "TEST_PYTHON": sys.executable, **extra}
    done = subprocess.run(
        ["bash", "-c", script], cwd=workspace.path, env=environment, capture_output=True, check=False
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("words", ["--version", "--help", "recipe validate good.yaml", "recipe schema"])
def test_a_closed_or_full_stdout_is_told_and_is_not_our_bug(workspace: Workspace, words: str) -> None:
    workspace.write("good.yaml", GOOD)
    closed = _shell(workspace, f'"$TEST_PYTHON" -m amplihack {words} >&-')
    _explained(closed, 1, "the result cannot be written: stdout is closed")
    if Path("/dev/full").exists():
        full = _shell(workspace, f'"$TEST_PYTHON" -m amplihack {words} >/dev/full')
        _explained(full, 1, "the result cannot be written: No space left on device")


def test_an_error_document_that_nobody_can_take_changes_no_exit_code(workspace: Workspace) -> None:
    workspace.write("wrong.yaml", "a: !x y\n")
    full = _shell(workspace, '"$TEST_PYTHON" -m amplihack recipe run wrong.yaml --json >/dev/full')
    _explained(full, 2, "the tag '!x' is not supported")
    assert "the result cannot be written: No space left on device" in full.stderr


def test_a_closed_stderr_or_stdin_does_not_change_the_answer(workspace: Workspace) -> None:
    workspace.write("good.yaml", f"{GOOD}notes: mine\n")
    workspace.write("wrong.yaml", "name: wrong\n")
    plain = workspace.run("recipe", "check", "--json", "good.yaml")
    for redirection in ("2>&-", "<&-", "<&- 2>&-"):
        assert (
            _shell(workspace, f'"$TEST_PYTHON" -m amplihack recipe check --json good.yaml {redirection}')
            == plain
        )
        assert (
            _shell(
                workspace, f'"$TEST_PYTHON" -m amplihack recipe validate wrong.yaml {redirection}'
            ).exit_code
            == 2
        )


def test_a_reader_that_leaves_early_is_no_reason_to_complain(workspace: Workspace) -> None:
    answer = _shell(workspace, '"$TEST_PYTHON" -m amplihack recipe schema | head -1', PYTHONUNBUFFERED="1")
    assert answer == Answer(0, "{\n", "")


def test_a_terminal_without_unicode_still_gets_an_answer(workspace: Workspace) -> None:
    workspace.write("good.yaml", GOOD)
    answer = workspace.run("recipe", "validate", "good.yaml", env={"PYTHONIOENCODING": "ascii"})
    assert answer.exit_code == 0
    assert answer.stdout.startswith("\\u2713 Recipe 'good' is valid")


def test_ctrl_c_in_a_long_check_ends_it_with_one_word(workspace: Workspace) -> None:
    steps = "".join(f"  - {{id: s{n}, command: 'echo {{{{s{n - 1}}}}}'}}\n" for n in range(1, 2000))
    for number in range(60):
        workspace.write(f"shelf/r{number}.yaml", f"name: r{number}\nsteps:\n{steps}")
    start = "import sys; from amplihack.cli.main import main; print(flush=True); sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", start, "recipe", "check", "shelf"],
        cwd=workspace.path,
        env=workspace.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    process.stdout.readline()
    time.sleep(0.5)  # now it is somewhere in the middle: the whole takes much longer
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (130, b"", b"interrupted\n")


def test_without_home_the_account_tells_where_home_is(workspace: Workspace) -> None:
    workspace.write("good.yaml", GOOD)
    environment = {name: value for name, value in workspace.env.items() if name != "HOME"}
    done = subprocess.run(
        [*ENTRY, "validate", "good.yaml"],
        cwd=workspace.path,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_current_directory_that_was_deleted_is_told(workspace: Workspace) -> None:
    answer = _shell(
        workspace,
        'mkdir gone && cd gone && rmdir ../gone && "$TEST_PYTHON" -m amplihack recipe validate good.yaml',
    )
    _explained(answer, 2, "the current directory no longer exists")


BUGS: dict[str, str] = {
    "a value": "raise ValueError('surprise')",
    "a file": "open('/nonexistent/surprise')",
    "a system call": "import os; os.close(987)",
}


@pytest.mark.parametrize("name", BUGS)
def test_what_nobody_expected_is_our_bug_and_says_so(workspace: Workspace, name: str) -> None:
    workspace.write("good.yaml", GOOD)
    script = (
        "import sys\nimport amplihack.cli.recipe_reading as room\nfrom amplihack.cli.main import main\n"
        f"def broken(*_):\n    {BUGS[name]}\n"
        "room.validate = broken\nsys.exit(main(['recipe', 'validate', 'good.yaml']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=workspace.path,
        env=workspace.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (70, "")
    assert "Traceback" in done.stderr
    assert "has a bug: the error above is not your fault." in done.stderr
    assert "\n  fix: please report it" in done.stderr


@pytest.mark.parametrize(
    "words", [("version", ""), ("recipe", "sync", "\n"), ("recipe", "run", "a.yaml", " ")]
)
def test_an_empty_word_too_many_is_told(workspace: Workspace, words: tuple[str, ...]) -> None:
    answer = workspace.run(*words)
    assert answer.exit_code == 2
    assert "leave out the empty word" in answer.stderr


def test_a_directory_and_a_recipe_may_have_names_that_are_no_utf_8(workspace: Workspace) -> None:
    """File systems take any bytes: archives and old disks have names in other encodings."""
    place = workspace.path / os.fsdecode(b"gr\xfcn")
    recipe = workspace.write(
        os.fsdecode(b"gr\xfcn/r\xe9.yaml"),
        "name: odd\nsteps: [{id: a, command: echo one}, {id: b, command: test -e ok}]\n",
    )
    failed = workspace.run("recipe", "run", str(recipe), "-C", str(place))
    assert (failed.exit_code, "Traceback" in failed.stderr) == (1, False)
    shown = workspace.run("runs", "show", "last", "--json").json
    assert (shown["working_dir"], shown["path"]) == (str(place), str(recipe))
    (place / "ok").touch()
    assert workspace.run("runs", "resume", "last").exit_code == 0
    assert [each["status"] for each in workspace.run("runs", "list", "--json").json] == ["completed"]
