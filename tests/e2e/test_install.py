"""`amplihack install`: sources, staging, going back, and what is left when it is struck half-way."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.distribution import make_program, use
from tests.support.framework_bundle import HELPER, PARENT, good_files, write_bundle
from tests.support.workspace import Workspace

ROOT = Path(__file__).parents[2]


@pytest.fixture
def program(workspace: Workspace) -> Workspace:
    return use(workspace, "0.1.0")


def root(workspace: Workspace) -> Path:
    return workspace.path / "home" / ".amplihack"


def staged(workspace: Workspace, path: str = "bundle.md") -> Path:
    return root(workspace) / "amplifier-bundle" / path


def snapshot(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


OLD_AND_NEW = b"""\
name: smart-classify-route
steps:
  - {id: first, command: echo WHICH}
  - {id: second, command: 'test -e go'}
  - {id: which, command: 'echo "{{first}} and WHICH"'}
"""


# staging --------------------------------------------------------------------------------------------------


def test_every_file_is_staged_byte_for_byte_with_its_mode(program: Workspace) -> None:
    done = program.run("install")
    assert done.exit_code == 0
    assert done.stdout.startswith("✓ framework bundle 0.1.0 is staged: 9 files\n  from packaged bundle: ")
    bundle = root(program) / "amplifier-bundle"
    assert {path: data for path, data in snapshot(bundle).items() if path != "BUNDLE.json"} == good_files(
        "0.1.0"
    )
    assert os.access(bundle / HELPER, os.X_OK)
    assert (bundle / "bundle.md").stat().st_mode & 0o777 == 0o644
    assert json.loads((bundle / "BUNDLE.json").read_text())["product_version"] == "0.1.0"
    assert (root(program) / ".installed-version").read_text() == "0.1.0"


def test_modes_come_from_the_identity_because_installers_lose_them(program: Workspace) -> None:
    packaged = Path(program.env["PYTHONPATH"]) / "amplihack" / "_bundle" / "amplifier-bundle" / HELPER
    packaged.chmod(0o600)
    program.run("install")
    assert staged(program, HELPER).stat().st_mode & 0o777 == 0o755


def test_two_installs_in_a_row_leave_the_same_tree(program: Workspace) -> None:
    program.run("install")
    before = snapshot(root(program))
    done = program.run("install")
    assert "is active" in done.stdout
    after = snapshot(root(program))
    assert {name for name in before if before[name] != after.get(name)} <= {".install.lock"}
    assert before.keys() == after.keys()


def test_files_that_are_gone_from_the_source_are_gone_and_the_rest_of_the_home_stays(
    program: Workspace,
) -> None:
    program.write("old/amplifier-bundle/x", "")
    write_bundle(program.path / "old", {"gone.md": b"old"})
    program.write("home/.amplihack/settings.yaml", "")
    assert program.run("install", "--local", "old").exit_code == 0
    assert staged(program, "gone.md").exists()
    program.run("install")
    assert not staged(program, "gone.md").exists()
    assert (root(program) / "settings.yaml").exists()


def test_what_the_user_edited_is_kept_and_reported(program: Workspace) -> None:
    program.run("install")
    staged(program).write_text("mine")
    staged(program, "added.md").write_text("added")
    done = use(program, "0.2.0").run("install", "--json")
    kept = [Path(path) for path in done.json["kept"]]
    assert sorted(path.read_text() for path in kept) == ["added", "mine"]
    assert all(path.is_relative_to(root(program) / "user" / "conflicts") for path in kept)
    assert "0.2.0" in staged(program).read_text()


def test_an_install_repairs_an_edited_bundle_of_the_same_version(program: Workspace) -> None:
    program.run("install")
    staged(program, PARENT).write_text("importlib")
    done = program.run("install")
    assert done.exit_code == 0
    assert "you had edited a staged file" in done.stderr
    assert staged(program, PARENT).read_bytes() == good_files()[PARENT]


def test_a_directory_in_the_place_of_the_bundle_is_kept_elsewhere(program: Workspace) -> None:
    write_bundle(root(program), {PARENT: b"importlib"}, mark="stale")
    done = program.run("install", "--json")
    assert done.exit_code == 0
    assert "⚠️  Skipping incompatible framework bundle" not in done.stdout
    assert (Path(done.json["replaced"]) / PARENT).read_text() == "importlib"
    assert staged(program, PARENT).read_bytes() == good_files()[PARENT]


def test_left_out_names_are_neither_copied_nor_expected(program: Workspace) -> None:
    bundle = write_bundle(program.path / "src")
    for path in ("tools/__pycache__/x.pyc", "node_modules/y.js", "tools/z.pyc", "tools/kept.py"):
        (bundle / path).parent.mkdir(parents=True, exist_ok=True)
        (bundle / path).write_text("x")
    assert program.run("install", "--local", "src").exit_code == 0
    names = set(snapshot(root(program) / "amplifier-bundle"))
    assert "tools/kept.py" in names
    assert not [name for name in names if "pyc" in name or "node_modules" in name]


def test_a_link_inside_the_bundle_is_copied_and_one_that_leads_out_is_refused(program: Workspace) -> None:
    bundle = write_bundle(program.path / "src")
    (bundle / "alias.md").symlink_to("bundle.md")
    (bundle / "more").symlink_to("context")
    assert program.run("install", "--local", "src").exit_code == 0
    assert not staged(program, "alias.md").is_symlink()
    assert staged(program, "alias.md").read_bytes() == good_files()["bundle.md"]
    assert staged(program, "more/Straße und Weg.md").exists()
    (bundle / "out").symlink_to("/etc/passwd")
    done = program.run("install", "--local", "src")
    assert done.exit_code == 1
    assert "leads out of the bundle" in done.stderr
    (bundle / "out").unlink()
    (bundle / "more").unlink()
    (bundle / "context" / "circle").symlink_to("../context")
    assert program.run("install", "--local", "src").exit_code == 1


def test_a_pipe_for_a_file_is_refused_and_nothing_waits(program: Workspace) -> None:
    bundle = write_bundle(program.path / "src")
    os.mkfifo(bundle / "pipe")
    done = program.run("install", "--local", "src")
    assert done.exit_code == 1
    assert "neither a file nor a directory" in done.stderr
    assert not (root(program) / "amplifier-bundle").exists()


def test_homes_with_spaces_and_other_alphabets_work(program: Workspace) -> None:
    home = program.path / "mein haus Ω"
    done = program.run("install", env={"AMPLIHACK_HOME": str(home)})
    assert done.exit_code == 0
    assert (home / "amplifier-bundle" / PARENT).is_file()


def test_a_full_disk_is_told_and_the_old_tree_stays(program: Workspace) -> None:
    program.run("install")
    use(program, "0.2.0")
    script = (
        "import os, sys\nreal = os.statvfs\n"
        "os.statvfs = lambda path: os.statvfs_result((*real(path)[:4], 1, *real(path)[5:]))\n"
        "from amplihack.cli.main import main\nsys.exit(main(['install']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=program.path,
        env=program.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert re.search(
        r"not enough space in .*: an install wants \d+ MB, 0.0 MB are free, so \d+ MB more", done.stderr
    )
    assert "0.1.0" in staged(program).read_text()


# sources --------------------------------------------------------------------------------------------------


def test_local_accepts_a_bundle_and_the_directory_that_holds_it(program: Workspace) -> None:
    bundle = write_bundle(program.path / "src", mark="local")
    for path in (bundle, bundle.parent):
        assert program.run("install", "--local", str(path), "--force-refresh").exit_code == 0
        assert "local" in staged(program).read_text()
    assert program.run("recipe", "list").stderr == ""
    assert "local" in staged(program).read_text()


@pytest.mark.parametrize(("path", "code"), [("nowhere", 3), ("file", 2), ("empty", 1), ("stale", 1)])
def test_a_local_path_that_cannot_be_used(program: Workspace, path: str, code: int) -> None:
    program.write("file", "x")
    (program.path / "empty").mkdir()
    write_bundle(program.path / "stale", {PARENT: b"importlib"})
    done = program.run("install", "--local", path)
    assert done.exit_code == code
    assert path in done.stderr
    assert not (root(program) / "amplifier-bundle").exists()


def test_a_stale_home_is_skipped_with_label_and_path_and_the_next_source_is_used(program: Workspace) -> None:
    home = program.path / "other home"
    write_bundle(home, {PARENT: b"importlib"})
    done = program.run("install", env={"AMPLIHACK_HOME": str(home)})
    assert done.exit_code == 0
    assert f"⚠️  Skipping incompatible framework bundle from AMPLIHACK_HOME at {home}: " in done.stderr
    assert "packaged bundle" in done.stdout
    assert (home / "amplifier-bundle" / PARENT).read_bytes() == good_files()[PARENT]


def checkout(workspace: Workspace, version: str) -> Path:
    place = workspace.path / "checkout"
    write_bundle(place, mark="sentinel")
    workspace.write("checkout/pyproject.toml", '[project]\nname = "amplihack"\n')
    workspace.write("checkout/src/amplihack/version.py", f'__version__ = "{version}"\n')
    (place / "deep" / "er").mkdir(parents=True)
    return place


def test_an_install_inside_a_checkout_stages_its_bytes(program: Workspace) -> None:
    place = checkout(program, "0.1.0")
    inside = Workspace(place / "deep" / "er", dict(program.env))
    inside.env["HOME"] = program.env["HOME"]
    done = inside.run("install")
    assert f"from current directory: {place}" in done.stdout
    assert "sentinel" in staged(program).read_text()


def test_a_checkout_of_another_version_is_skipped(program: Workspace) -> None:
    place = checkout(program, "9.9.9")
    inside = Workspace(place, dict(program.env))
    inside.env["HOME"] = program.env["HOME"]
    done = inside.run("install")
    assert "it is for version 9.9.9, this is 0.1.0" in done.stderr
    assert "packaged bundle" in done.stdout


def test_a_bundle_of_somebody_else_around_us_must_be_named(program: Workspace) -> None:
    write_bundle(program.path, mark="hostile", version="0.1.0")
    done = program.run("install")
    assert done.exit_code == 0
    assert "it is no checkout of amplihack; name it with --local" in done.stderr
    assert "hostile" not in staged(program).read_text()


def test_the_walk_up_ends_at_the_root_of_a_repository(program: Workspace) -> None:
    checkout(program, "0.1.0")
    (program.path / "checkout" / "deep" / ".git").mkdir()
    inside = Workspace(program.path / "checkout" / "deep" / "er", dict(program.env))
    inside.env["HOME"] = program.env["HOME"]
    assert "packaged bundle" in inside.run("install").stdout


def test_force_refresh_looks_only_at_what_came_with_the_program(program: Workspace) -> None:
    place = checkout(program, "0.1.0")
    inside = Workspace(place, dict(program.env))
    inside.env["HOME"] = program.env["HOME"]
    assert "packaged bundle" in inside.run("install", "--force-refresh").stdout


def test_an_empty_home_variable_is_unset(program: Workspace) -> None:
    assert program.run("install", env={"AMPLIHACK_HOME": ""}).exit_code == 0
    assert staged(program).exists()


def test_no_source_at_all_fails_clearly_and_changes_nothing(workspace: Workspace) -> None:
    make_program(workspace.path / "bare", "0.1.0")
    workspace.env["PYTHONPATH"] = str(workspace.path / "bare")
    done = workspace.run("install")
    assert done.exit_code == 4
    assert "there is no framework bundle for version 0.1.0" in done.stderr
    assert "--local" in done.stderr
    assert not (root(workspace) / "amplifier-bundle").exists()


@pytest.mark.parametrize("change", ["missing", "changed", "unexpected"])
def test_a_packaged_bundle_that_is_not_what_it_says_is_refused(program: Workspace, change: str) -> None:
    bundle = Path(program.env["PYTHONPATH"]) / "amplihack" / "_bundle" / "amplifier-bundle"
    match change:
        case "missing":
            (bundle / "bundle.md").unlink()
        case "changed":
            (bundle / "bundle.md").write_text("other")
        case "unexpected":
            (bundle / "more.md").write_text("more")
    done = program.run("install")
    assert done.exit_code == 1
    assert "BUNDLE.json says" in done.stderr
    assert change in done.stderr


# dry run, rollback, history -------------------------------------------------------------------------------


def test_a_dry_run_shows_the_plan_and_touches_nothing(program: Workspace) -> None:
    done = program.run("install", "--dry-run", "--json")
    assert done.exit_code == 0
    assert (done.json["label"], done.json["copy"], len(done.json["files"])) == ("packaged bundle", True, 9)
    assert not root(program).exists()


def test_rolling_back_brings_the_bundle_before_and_the_next_start_leaves_it(program: Workspace) -> None:
    program.run("install")
    use(program, "0.2.0").run("install")
    done = program.run("install", "--rollback")
    assert done.exit_code == 0
    assert "0.1.0" in staged(program).read_text()
    assert program.run("recipe", "list").stderr == ""
    assert "0.1.0" in staged(program).read_text()
    assert program.run("install").exit_code == 0
    assert "0.2.0" in staged(program).read_text()


def test_there_is_nothing_to_go_back_to_at_first(program: Workspace) -> None:
    program.run("install")
    done = program.run("install", "--rollback")
    assert done.exit_code == 4
    assert "no earlier generation" in done.stderr


def test_a_damaged_generation_is_not_gone_back_to(program: Workspace) -> None:
    program.run("install")
    staged(program).write_text("damage")
    use(program, "0.2.0").run("install")
    done = program.run("install", "--rollback")
    assert done.exit_code == 1
    assert "changed: bundle.md" in done.stderr
    assert "0.2.0" in staged(program).read_text()


def test_the_history_tells_what_was_staged_when(program: Workspace) -> None:
    program.run("recipe", "list")
    use(program, "0.2.0").run("install")
    program.run("install", "--rollback")
    done = program.run("install", "history", "--json")
    assert [(each["what"], each["version"]) for each in done.json["history"]] == [
        ("self-heal", "0.1.0"),
        ("install", "0.2.0"),
        ("rollback", "0.1.0"),
    ]
    assert done.json["active"] == done.json["history"][-1]["generation"]
    assert program.run("install", "history").stdout.splitlines()[-1].endswith("active")


def test_old_generations_are_removed_and_the_last_three_stay(program: Workspace) -> None:
    for number in range(1, 6):
        use(program, f"0.{number}.0").run("install")
    names = sorted(path.name[:5] for path in (root(program) / "generations").iterdir())
    assert names == ["0.3.0", "0.4.0", "0.5.0"]


def generations(workspace: Workspace) -> list[str]:
    return sorted(path.name[:5] for path in (root(workspace) / "generations").iterdir())


def test_a_generation_stays_while_a_run_may_go_on_with_its_recipes(program: Workspace) -> None:
    steps = "  - {id: inner, recipe: smart-classify-route}\n  - {id: rest, command: test -e go}\n"
    program.write("mine.yaml", f"name: mine\nsteps:\n{steps}")
    program.run("install")
    assert program.run("recipe", "run", "mine.yaml").exit_code == 1
    for number in range(2, 6):
        use(program, f"0.{number}.0").run("install")
    assert generations(program) == ["0.1.0", "0.3.0", "0.4.0", "0.5.0"]
    program.write("go", "")
    assert program.run("runs", "resume").exit_code == 0
    use(program, "0.6.0").run("install")
    assert generations(program) == ["0.4.0", "0.5.0", "0.6.0"]


def test_a_run_goes_on_with_the_framework_that_it_began_with(program: Workspace) -> None:
    old = {"recipes/smart-classify-route.yaml": OLD_AND_NEW.replace(b"WHICH", b"old")}
    new = {"recipes/smart-classify-route.yaml": OLD_AND_NEW.replace(b"WHICH", b"new")}
    program.run("install", "--local", str(write_bundle(program.path / "old", old, version="0.1.0")))
    program.write("mine.yaml", "name: mine\nsteps:\n  - {id: inner, recipe: smart-classify-route}\n")
    assert program.run("recipe", "run", "mine.yaml").exit_code == 1
    program.run("install", "--local", str(write_bundle(program.path / "new", new, version="0.1.0")))
    program.write("go", "")
    assert program.run("runs", "resume", "--json").json["context"]["which"] == "old and old"
    assert program.run("recipe", "run", "mine.yaml", "--json").json["context"]["which"] == "new and new"


def test_no_generation_is_removed_where_the_runs_cannot_be_read(program: Workspace) -> None:
    for number in range(1, 4):
        use(program, f"0.{number}.0").run("install")
    (root(program) / "runs.sqlite3").write_text(
        "this is no database, and it is long enough to be read as one"
    )
    done = use(program, "0.4.0").run("install")
    assert (done.exit_code, "old generations could not be removed" in done.stderr) == (0, True)
    assert generations(program) == ["0.1.0", "0.2.0", "0.3.0", "0.4.0"]


def test_a_word_that_install_does_not_know_is_wrong_usage(program: Workspace) -> None:
    done = program.run("install", "histroy")
    assert done.exit_code == 2
    assert "there is no 'histroy'" in done.stderr
    assert not root(program).exists()


# faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["kill", "ENOSPC", "EIO"])
@pytest.mark.parametrize("state", ["empty", "old"])
def test_a_fault_anywhere_leaves_the_old_tree_or_the_new_and_the_next_start_heals(
    program: Workspace, kind: str, state: str
) -> None:
    start = program.path / "start"
    start.mkdir()
    if state == "old":
        assert program.run("install", env={"HOME": str(start)}).exit_code == 0
    use(program, "0.2.0")
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.install_faults", str(program.path), "9", kind, "install"],
        cwd=ROOT,
        env={**program.env, "PYTHONPATH": f"{program.env['PYTHONPATH']}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    seen = json.loads(done.stdout)
    assert seen["points"] > 5
    assert seen["old"]
    assert seen["new"]
