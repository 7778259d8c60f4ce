"""`amplihack doctor`: what it sees, what it mends, and what it refuses to."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
from tests.support.distribution import make_program
from tests.support.framework_bundle import PARENT, good_files, write_bundle
from tests.support.workspace import Answer, Workspace

from amplihack.app.install.checkup import CheckPlace, mend
from amplihack.errors import AmplihackError
from amplihack.system import bundle_places, healed
from amplihack.system.home import Home
from amplihack.version import __version__


@pytest.fixture
def program(workspace: Workspace) -> Workspace:
    make_program(workspace.path / "site", "0.1.0", mark="one")
    workspace.env["PYTHONPATH"] = str(workspace.path / "site")
    return workspace


def root(workspace: Workspace) -> Path:
    return workspace.path / "home" / ".amplihack"


def failed(done: Answer) -> set[str]:
    return {check["name"] for check in done.json["checks"] if not check["ok"]}


def test_a_healthy_install_passes_every_check(program: Workspace) -> None:
    program.run("install")
    done = program.run("doctor", "--json")
    assert (done.exit_code, done.json["ok"], done.stderr) == (0, True, "")
    names = {check["name"] for check in done.json["checks"]}
    assert names >= {"home", "lock", "stamp", "bundle.compat", "bundle.files", "package", "settings", "runs"}
    assert all(check.keys() == {"name", "ok", "what", "fix"} for check in done.json["checks"])
    assert program.run("doctor").stdout.endswith("All checks passed.\n")


def test_looking_changes_nothing(program: Workspace) -> None:
    done = program.run("doctor", "--json")
    assert done.exit_code == 1
    assert failed(done) == {"stamp", "bundle.compat", "bundle.files"}
    assert not root(program).exists()


def test_a_program_without_a_bundle_says_so_and_is_well(workspace: Workspace) -> None:
    make_program(workspace.path / "bare", "0.1.0")
    workspace.env["PYTHONPATH"] = str(workspace.path / "bare")
    done = workspace.run("doctor")
    assert done.exit_code == 0
    assert "carries no framework bundle" in done.stdout
    assert workspace.run("doctor", "--fix").exit_code == 0


def test_every_violation_is_listed(program: Workspace) -> None:
    program.run("install")
    for path in (root(program) / "amplifier-bundle" / "recipes").iterdir():
        path.unlink()
    done = program.run("doctor", "--json")
    assert len([check for check in done.json["checks"] if check["name"] == "bundle.compat"]) == 6


@pytest.mark.parametrize("what", ["stamp", "parent", "edit", "link", "mode", "record", "left", "home"])
def test_fix_mends_each_fault(program: Workspace, what: str) -> None:
    program.run("install")
    bundle = root(program) / "amplifier-bundle"
    match what:
        case "stamp":
            (root(program) / ".installed-version").write_text("0.0.1")
        case "parent":
            (bundle / PARENT).write_text("importlib")
        case "edit":
            (bundle / "bundle.md").write_text("mine")
        case "link":
            bundle.unlink()
        case "mode":
            (bundle / "bundle.md").chmod(0o777)
        case "record":
            (bundle.resolve().parent / "generation.json").write_text("{")
        case "left":
            (root(program) / "generations" / ".new-0011").mkdir()
        case "home":
            root(program).chmod(0o777)
    assert program.run("doctor").exit_code == 1
    done = program.run("doctor", "--fix", "--json")
    assert (done.exit_code, failed(done)) == (0, set())
    assert (root(program) / "amplifier-bundle" / PARENT).read_bytes() == good_files()[PARENT]


@pytest.mark.parametrize("name", [".installed-version", ".install.lock", "generations"])
def test_fix_refuses_a_link_with_the_reason(program: Workspace, name: str) -> None:
    program.run("install")
    path = root(program) / name
    path.rename(program.path / "moved")
    path.symlink_to(program.path / "moved")
    done = program.run("doctor", "--fix")
    assert done.exit_code == 1
    assert name in done.stdout + done.stderr
    assert "delete it" in done.stdout + done.stderr
    assert path.is_symlink()


def test_agents_are_asked_for_their_versions(program: Workspace) -> None:
    tool = program.write("bin/claude", '#!/bin/sh\necho 9.8.7 "(Fake)"\n')
    tool.chmod(0o755)
    slow = program.write("bin/codex", "#!/bin/sh\nexit 3\n")
    slow.chmod(0o755)
    env = {"PATH": f"{tool.parent}:{program.env['PATH']}"}
    checks = {
        check["name"]: check["what"] for check in program.run("doctor", "--json", env=env).json["checks"]
    }
    assert checks["agents.claude"] == f"{tool}: 9.8.7 (Fake)"
    assert "does not tell its version (exit 3)" in checks["agents.codex"]


def test_settings_that_cannot_be_read_fail_one_check_alone(program: Workspace) -> None:
    program.run("install")
    program.write("home/.amplihack/settings.yaml", "a: [")
    done = program.run("doctor", "--json")
    assert failed(done) == {"settings"}


# random damage --------------------------------------------------------------------------------------------


def damage(home: Path, chance: random.Random) -> None:
    """Do one thing to one file or directory under the home root."""
    path = chance.choice(sorted(home.rglob("*")))
    match chance.randrange(6):
        case 0 if path.is_file():
            data = bytearray(path.read_bytes() or b"x")
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            path.write_bytes(bytes(data))
        case 1 if path.is_file():
            path.write_bytes(path.read_bytes()[: chance.randrange(20)])
        case 2 if not path.is_symlink():
            path.chmod(chance.choice([0o777, 0o600, 0o700]))
        case 3:
            remove(path)
            path.symlink_to(chance.choice(["/etc/passwd", "nowhere", str(home.parent)]))
        case 4:
            remove(path)
            os.mkfifo(path)
        case _:
            remove(path)


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


@pytest.mark.parametrize("seed", range(4))
def test_after_any_damage_fix_restores_a_verified_tree_or_refuses_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    packaged = tmp_path / "site" / "amplihack" / "_bundle" / "amplifier-bundle"
    write_bundle(packaged.parent, mark="one", version=__version__)
    for module in (healed, bundle_places):
        monkeypatch.setattr(module, "PACKAGED", str(packaged))
    monkeypatch.setattr(healed, "_PACKAGE", str(packaged.parents[1]))  # no checkout, which has a bundle too
    user = tmp_path / "user"
    place = CheckPlace(home=Home(user / ".amplihack", user, tmp_path), environment={"PATH": ""})
    said: list[str] = []
    chance = random.Random(seed)  # noqa: S311 - the same damage each time
    outcomes = {"mended": 0, "refused": 0}
    for _ in range(40):
        shutil.rmtree(user, ignore_errors=True)
        user.mkdir()
        assert all(check.ok for check in mend(place, said.append))
        damage(user / ".amplihack", chance)
        try:
            left = [check for check in mend(place, said.append) if not check.ok]
        except AmplihackError as error:
            assert error.what
            assert error.fix
            outcomes["refused"] += 1
            continue
        if left:  # what is no file in the place of a file of ours is the user's to look at
            assert {check.name for check in left} <= {"stamp", "lock"}
            assert all("delete it" in check.fix for check in left)
            outcomes["refused"] += 1
            continue
        bundle = user / ".amplihack" / "amplifier-bundle"
        found = {str(file.relative_to(bundle)) for file in bundle.rglob("*") if file.is_file()}
        assert found == {*good_files(), "BUNDLE.json"}
        assert all((bundle / path).read_bytes() == data for path, data in good_files("one").items())
        outcomes["mended"] += 1
    assert outcomes["mended"] > 20
