"""Self-heal, sentence by sentence: the name of each test is what the documents promise."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.distribution import use
from tests.support.framework_bundle import PARENT, write_bundle
from tests.support.launches import launch_at_once
from tests.support.workspace import Answer, Workspace

LIST = ("recipe", "list")
HEALED = "amplihack: framework assets re-staged for v{}\n"


@pytest.fixture
def program(workspace: Workspace) -> Workspace:
    """A program of version 0.1.0 that carries a bundle, and a home that knows nothing of it."""
    return use(workspace, "0.1.0")


def root(workspace: Workspace) -> Path:
    return workspace.path / "home" / ".amplihack"


def stamp(workspace: Workspace) -> Path:
    return root(workspace) / ".installed-version"


def staged(workspace: Workspace) -> str:
    return (root(workspace) / "amplifier-bundle" / "bundle.md").read_text()


def mtime(workspace: Workspace) -> int:
    return stamp(workspace).stat().st_mtime_ns


# how it works ---------------------------------------------------------------------------------------------


def test_a_missing_stamp_runs_install_and_emits_a_single_line_on_stderr(program: Workspace) -> None:
    done = program.run(*LIST)
    assert (done.exit_code, done.stderr) == (0, HEALED.format("0.1.0"))
    assert stamp(program).read_bytes() == b"0.1.0"
    assert "0.1.0" in staged(program)


def test_a_stamp_that_differs_runs_install_whether_older_or_newer(program: Workspace) -> None:
    program.run(*LIST)
    for version in ("0.2.0", "0.1.0"):
        assert use(program, version).run(*LIST).stderr == HEALED.format(version)
        assert stamp(program).read_text() == version
        assert version in staged(program)


def test_a_matching_stamp_does_nothing_and_prints_nothing(program: Workspace) -> None:
    program.run(*LIST)
    before = mtime(program)
    assert program.run(*LIST).stderr == ""
    assert mtime(program) == before


def test_a_matching_stamp_without_a_staged_bundle_is_staged_again(program: Workspace) -> None:
    program.run(*LIST)
    (root(program) / "amplifier-bundle").unlink()
    assert program.run(*LIST).stderr == HEALED.format("0.1.0")
    assert "0.1.0" in staged(program)


def test_a_manual_install_writes_the_stamp_too(program: Workspace) -> None:
    assert program.run("install").exit_code == 0
    assert stamp(program).read_text() == "0.1.0"
    assert program.run(*LIST).stderr == ""


def test_a_prerelease_installs_once_and_not_at_every_start(workspace: Workspace) -> None:
    use(workspace, "0.3.0rc1")
    assert workspace.run(*LIST).stderr == HEALED.format("0.3.0rc1")
    assert stamp(workspace).read_text() == "0.3.0-rc.1"
    assert workspace.run(*LIST).stderr == ""


def test_stdout_is_the_same_whether_or_not_self_heal_ran(program: Workspace) -> None:
    assert program.run("recipe", "schema").stdout == program.run("recipe", "schema").stdout


def test_the_second_command_heals_too(program: Workspace) -> None:
    program.write("one.yaml", "name: one\nsteps: [{id: a, command: echo hello}]\n")
    done = program.runner("one.yaml", "--output-format", "json")
    assert done.exit_code == 0
    assert done.stderr.startswith(HEALED.format("0.1.0"))
    assert done.json["success"] is True


def test_a_bundle_in_the_current_directory_is_never_staged_automatically(program: Workspace) -> None:
    write_bundle(program.path, mark="hostile", version="0.1.0")
    program.run(*LIST)
    assert "hostile" not in staged(program)


def test_a_program_without_a_bundle_has_nothing_to_stage(workspace: Workspace) -> None:
    use(workspace, "0.1.0", None)
    done = workspace.run(*LIST)
    assert (done.exit_code, done.stderr) == (0, "")
    assert not root(workspace).exists()


def test_the_version_as_json_says_what_is_staged(program: Workspace) -> None:
    assert program.run("version").stdout == program.run("--version").stdout == "amplihack 0.1.0\n"
    before = program.run("version", "--json").json
    assert (before["version"], before["staged_version"], before["generation"]) == ("0.1.0", None, None)
    program.run("install")
    after = program.run("version", "--json").json
    assert after["staged_version"] == "0.1.0"
    assert after["generation"] in {path.name for path in (root(program) / "generations").iterdir()}
    assert len(after["tree_digest"]) == 64
    assert program.run("version", "--nonsense").exit_code == 2


# skip rules -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("help",),
        ("--help",),
        ("-h",),
        ("--version",),
        ("-V",),
        ("version",),
        ("version", "--json"),
        ("recipe", "--help"),
        ("recipe", "run", "--help"),
        ("install", "--help"),
        ("install", "--dry-run"),
        ("install", "history"),
        ("uninstall",),
        ("update", "--check"),
        ("completions", "bash"),
        ("doctor",),
        ("recipe", "lst"),
        ("recipe", "list", "--nonsense"),
    ],
)
def test_what_dispatches_nothing_or_only_looks_does_not_heal(
    program: Workspace, words: tuple[str, ...]
) -> None:
    done = program.run(*words)
    assert "re-staged" not in done.stderr
    assert not root(program).exists()


def test_the_skip_rules_are_what_the_commands_declare() -> None:
    from amplihack.cli.commands import COMMANDS

    never = {"install", "uninstall", "update", "completions", "doctor", "version"}
    never |= {name for name in COMMANDS if name.startswith("model ")}  # weights are no part of a bundle
    assert {name for name, row in COMMANDS.items() if not row.heals} == never & COMMANDS.keys()


# the stamp ------------------------------------------------------------------------------------------------


def test_the_stamp_is_for_its_owner_alone_even_if_it_was_loosened(program: Workspace) -> None:
    program.run(*LIST)
    assert stat.S_IMODE(stamp(program).stat().st_mode) == 0o600
    assert stat.S_IMODE(root(program).stat().st_mode) == 0o700
    stamp(program).chmod(0o666)
    use(program, "0.2.0").run(*LIST)
    assert stat.S_IMODE(stamp(program).stat().st_mode) == 0o600


def test_a_malformed_stamp_triggers_a_clean_install_and_is_told_once(program: Workspace) -> None:
    program.run(*LIST)
    stamp(program).write_bytes(b"\xff\x1b[31mnonsense")
    done = program.run(*LIST)
    assert done.exit_code == 0
    assert done.stderr.count("ignoring malformed install stamp") == 1
    assert "\x1b" not in done.stderr
    assert done.stderr.endswith(HEALED.format("0.1.0"))
    assert stamp(program).read_text() == "0.1.0"


@pytest.mark.parametrize("kind", ["link", "directory"])
def test_a_stamp_that_is_a_link_or_no_regular_file_is_refused_with_an_error(
    program: Workspace, kind: str
) -> None:
    program.run(*LIST)
    precious = program.write("precious", "0.0.1")
    stamp(program).unlink()
    stamp(program).symlink_to(precious) if kind == "link" else stamp(program).mkdir()
    for words in (LIST, ("install",)):
        done = program.run(*words)
        assert done.exit_code == 1
        assert str(stamp(program)) in done.stderr
        assert "delete it" in done.stderr
    assert precious.read_text() == "0.0.1"
    assert stamp(program).is_symlink() == (kind == "link")


# concurrency ----------------------------------------------------------------------------------------------


def test_the_lock_file_is_created_on_demand_for_its_owner_alone(program: Workspace) -> None:
    program.run(*LIST)
    lock = root(program) / ".install.lock"
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


def test_of_many_first_launches_one_installs_and_every_one_succeeds(program: Workspace) -> None:
    assert launch_at_once(program.path / "launches", 12) == 1


def test_the_lock_is_released_before_the_command_is_dispatched(program: Workspace) -> None:
    lock = "~/.amplihack/.install.lock"
    program.write("one.yaml", f"name: one\nsteps: [{{id: a, command: flock -n {lock} touch free}}]\n")
    done = program.run("recipe", "run", "one.yaml")
    assert (done.exit_code, (program.path / "free").exists()) == (0, True), done.stderr


def test_a_second_process_waits_for_the_lock_and_says_for_whom(program: Workspace) -> None:
    root(program).mkdir(parents=True)
    with (root(program) / ".install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = subprocess.Popen(
            [sys.executable, "-m", "amplihack", *LIST],
            cwd=program.path, env=program.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert waiting.stderr is not None
        assert waiting.stderr.readline().startswith("amplihack: waiting for another install (pid ")
        assert not stamp(program).exists()
    _, said = waiting.communicate()
    assert (waiting.returncode, said) == (0, HEALED.format("0.1.0"))


def test_a_lock_that_is_a_link_is_refused(program: Workspace) -> None:
    precious = program.write("precious", "mine")
    root(program).mkdir(parents=True)
    (root(program) / ".install.lock").symlink_to(precious)
    done = program.run(*LIST)
    assert done.exit_code == 1
    assert "amplihack: self-heal failed: " in done.stderr
    assert precious.read_text() == "mine"


# bypass ---------------------------------------------------------------------------------------------------


def test_the_bypass_tells_of_a_mismatch_in_one_line_and_stages_nothing(program: Workspace) -> None:
    done = program.run(*LIST, env={"AMPLIHACK_SKIP_AUTO_INSTALL": "1"})
    assert done.exit_code == 0
    assert done.stderr == (
        "amplihack: AMPLIHACK_SKIP_AUTO_INSTALL set; skipping re-stage "
        '(stamp=<missing> current=0.1.0; installed_bundle="missing-bundle")\n'
    )
    assert not root(program).exists()


def test_the_bypass_says_nothing_when_versions_match(program: Workspace) -> None:
    program.run("install")
    assert program.run(*LIST, env={"AMPLIHACK_SKIP_AUTO_INSTALL": "yes"}).stderr == ""


def test_an_empty_value_is_not_a_bypass(program: Workspace) -> None:
    done = program.run(*LIST, env={"AMPLIHACK_SKIP_AUTO_INSTALL": ""})
    assert done.stderr == HEALED.format("0.1.0")


def test_the_bypass_does_not_disable_an_explicit_install(program: Workspace) -> None:
    done = program.run("install", env={"AMPLIHACK_SKIP_AUTO_INSTALL": "1"})
    assert (done.exit_code, stamp(program).read_text()) == (0, "0.1.0")


# failure --------------------------------------------------------------------------------------------------


def break_bundle(workspace: Workspace) -> Path:
    return Path(workspace.env["PYTHONPATH"]) / "amplihack" / "_bundle" / "amplifier-bundle" / PARENT


def test_a_failed_install_exits_1_keeps_the_stamp_and_the_next_launch_retries(program: Workspace) -> None:
    program.run(*LIST)
    use(program, "0.2.0")
    parent = break_bundle(program)
    good = parent.read_bytes()
    parent.write_bytes(b"importlib")
    for _ in range(2):
        done = program.run(*LIST)
        assert done.exit_code == 1
        assert done.stdout == ""
        assert "amplihack: self-heal failed: " in done.stderr
        assert "⚠️  Skipping incompatible framework bundle from packaged bundle at " in done.stderr
        assert stamp(program).read_text() == "0.1.0"
        assert "0.1.0" in staged(program)
    parent.write_bytes(good)
    assert program.run(*LIST).stderr == HEALED.format("0.2.0")


def test_a_failure_is_one_json_document_where_json_is_wanted(program: Workspace) -> None:
    break_bundle(program).write_bytes(b"importlib")
    done = program.run(*LIST, "--json")
    assert done.exit_code == 1
    assert done.json["error"]["what"].startswith("amplihack: self-heal failed: ")


@pytest.mark.parametrize("words", [("runs", "list"), ("session", "list")])
def test_a_command_that_uses_nothing_of_the_bundle_tells_the_failure_and_goes_on(
    program: Workspace, words: tuple[str, ...]
) -> None:
    break_bundle(program).write_bytes(b"importlib")
    done = program.run(*words, "--json")
    assert "amplihack: self-heal failed: " in done.stderr
    assert done.exit_code == 0
    assert "error" not in done.json
    assert not stamp(program).exists()


def test_a_compatible_staged_bundle_of_another_version_is_never_stamped_as_this_one(
    program: Workspace,
) -> None:
    program.run(*LIST)
    use(program, "0.2.0")
    break_bundle(program).unlink()
    done = program.run(*LIST)
    assert done.exit_code == 1
    assert "home root" in done.stderr
    assert "it is for version 0.1.0, this is 0.2.0" in done.stderr
    assert stamp(program).read_text() == "0.1.0"


# carve-out and nested processes ---------------------------------------------------------------------------


def test_without_a_home_directory_self_heal_skips_silently(program: Workspace) -> None:
    script = (
        "import pwd, os, sys\n"
        "pwd.getpwuid = lambda uid: (_ for _ in ()).throw(KeyError(uid))\n"
        "from amplihack.cli.main import main\n"
        "sys.exit(main(['recipe', 'schema']))\n"
    )
    env = {name: value for name, value in program.env.items() if name != "HOME"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=program.path, env=env, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [(["--version"], 0, "amplihack 0.1.0"), (["doctor"], 1, "came by"), (["claude"], 2, "no home directory")],
)
def test_without_a_home_commands_that_need_none_work_and_the_others_say_so_themselves(
    program: Workspace, words: list[str], code: int, told: str
) -> None:
    script = (
        "import pwd, sys\n"
        "pwd.getpwuid = lambda uid: (_ for _ in ()).throw(KeyError(uid))\n"
        f"from amplihack.cli.main import main\nsys.exit(main({words!r}))\n"
    )
    env = {name: value for name, value in program.env.items() if name != "HOME"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=program.path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert told in done.stdout + done.stderr


def test_help_for_another_program_behind_a_double_dash_does_not_skip_the_check(program: Workspace) -> None:
    program.write("bin/claude", "#!/bin/sh\necho $1\n").chmod(0o755)
    path = f"{program.path / 'bin'}:{program.env['PATH']}"
    done = program.run("claude", "--", "--help", env={"PATH": path})
    assert (done.stdout, done.stderr) == ("--help\n", HEALED.format("0.1.0"))


def test_a_process_inside_a_run_never_installs_and_says_so(program: Workspace) -> None:
    done = program.run(*LIST, env={"AMPLIHACK_SESSION_DEPTH": "1"})
    assert done.exit_code == 0
    assert done.stderr.startswith(
        "amplihack: started by a run; skipping re-stage (stamp=<missing> current=0.1.0"
    )
    assert not root(program).exists()


def test_a_step_of_a_run_uses_the_generation_of_the_run_and_heals_nothing(program: Workspace) -> None:
    program.run(*LIST)
    told = "echo $AMPLIHACK_ACTIVE_GENERATION > generation"
    nested = f'"{sys.executable}" -m amplihack recipe list 2> told; {told}'
    program.write(
        "nest.yaml",
        f"name: nest\nsteps: [{{id: a, command: rm ~/.amplihack/.installed-version; {nested}}}]\n",
    )
    done = program.run("recipe", "run", "nest.yaml")
    assert done.exit_code == 0
    assert (program.path / "told").read_text() == ""
    assert not stamp(program).exists()
    generation = (program.path / "generation").read_text().strip()
    assert [path.name for path in (root(program) / "generations").iterdir()] == [generation]


def test_a_generation_that_is_gone_is_a_failure_and_never_replaced_by_another(program: Workspace) -> None:
    program.run(*LIST)
    done = program.run(*LIST, env={"AMPLIHACK_ACTIVE_GENERATION": "0.0.1-gone"})
    assert done.exit_code == 1
    assert "0.0.1-gone, which the run around us uses, is gone" in done.stderr


def test_no_install_removes_the_generation_that_a_run_works_with(program: Workspace) -> None:
    steps = (
        "name: slow\nsteps:\n"
        "  - {id: wait, command: 'touch started; while [ ! -e go ]; do sleep 0.05; done'}\n"
        "  - {id: sub, type: recipe, recipe: smart-classify-route}\n"
    )
    program.write("slow.yaml", steps)
    program.run("install")
    (first,) = (root(program) / "generations").iterdir()
    running = subprocess.Popen(
        [sys.executable, "-m", "amplihack", "recipe", "run", "slow.yaml"],
        cwd=program.path, env=program.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        while not (program.path / "started").exists():
            assert running.poll() is None
            time.sleep(0.02)
        for number in range(2, 8):
            assert use(program, f"0.{number}.0").run("install").exit_code == 0
        assert first.is_dir()
        assert len(list((root(program) / "generations").iterdir())) == 4
    finally:
        (program.path / "go").touch()
        said, _ = running.communicate()
    assert running.returncode == 0, said
    program.run("install", "--force-refresh")
    use(program, "0.9.0").run("install")
    assert not first.exists()


@pytest.mark.parametrize(
    "words", [("install",), ("install", "--rollback"), ("uninstall",), ("doctor", "--fix")]
)
def test_a_process_inside_a_run_does_not_install_on_demand_either(
    program: Workspace, words: tuple[str, ...]
) -> None:
    program.run("install")
    stamp(program).unlink()
    before = sorted(root(program).rglob("*"))
    done = program.run(*words, env={"AMPLIHACK_SESSION_DEPTH": "1"})
    assert done.exit_code == 1
    assert "inside a run" in done.stderr
    assert sorted(root(program).rglob("*")) == before


def test_a_running_recipe_keeps_the_generation_that_it_started_with(program: Workspace) -> None:
    def bundle(version: str) -> str:
        steps = f"steps: [{{id: one, command: echo from {version}}}]\n"
        changes = {
            "recipes/outer.yaml": (
                "name: outer\nsteps:\n"
                f'  - {{id: update, command: env -u AMPLIHACK_SESSION_DEPTH "{sys.executable}" -m amplihack '
                "install --local two >&2}\n  - {id: sub, type: recipe, recipe: inner, output: said}\n"
                "  - {id: tell, command: 'echo {{one}} > told'}\n"
            ).encode(),
            "recipes/inner.yaml": f"name: inner\n{steps}".encode(),
        }
        write_bundle(program.path / version, changes, mark=version)
        return version

    for version in ("one", "two"):
        bundle(version)
    assert program.run("install", "--local", "one").exit_code == 0
    done = program.run("recipe", "run", "outer")
    assert done.exit_code == 0, done.stderr
    assert "two" in staged(program)
    assert (program.path / "told").read_text() == "from one\n"


# cost -----------------------------------------------------------------------------------------------------


def test_the_check_of_a_healed_home_loads_nothing_of_the_installer(program: Workspace) -> None:
    program.run(*LIST)
    script = (
        "import sys\nfrom amplihack.cli.main import main\ncode = main(sys.argv[1:])\n"
        "print(*sys.modules, file=sys.stderr)\nsys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *LIST],
        cwd=program.path, env=program.env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "amplihack.system.healed" in loaded
    assert not [name for name in loaded if name.startswith(("amplihack.install", "amplihack.app.install"))]


def answers(done: Answer) -> tuple[int, str]:
    return done.exit_code, done.stderr


USED_AS_IT_IS = "; using the bundle of this program as it is\n"


def test_a_home_that_is_no_directory_leaves_what_needs_no_home_at_work(program: Workspace) -> None:
    answer = program.run(*LIST, env={"HOME": "/dev/null"})
    why = "amplihack: /dev/null/.amplihack cannot be made, as /dev/null is no directory"
    assert answers(answer) == (0, why + USED_AS_IT_IS)
    assert "smart-orchestrator" in answer.stdout


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_home_that_cannot_be_written_leaves_what_needs_no_home_at_work(program: Workspace) -> None:
    home = program.path / "home"
    home.chmod(0o500)
    code, err = answers(program.run(*LIST))
    home.chmod(0o700)
    why = f"amplihack: {root(program)} cannot be made, as you may not write to {home}"
    assert (code, err) == (0, why + USED_AS_IT_IS)
