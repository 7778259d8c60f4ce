"""`amplihack doctor`: what it sees, what it mends, and what it refuses to."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.distribution import make_program
from tests.support.framework_bundle import PARENT, good_files
from tests.support.home_damage import damage_and_mend
from tests.support.workspace import Answer, Workspace


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


@pytest.mark.parametrize("share", range(4))
def test_after_any_damage_fix_restores_a_verified_tree_or_refuses_with_the_reason(
    tmp_path: Path, share: int
) -> None:
    outcomes = damage_and_mend(tmp_path, range(share * 40, share * 40 + 40))
    assert outcomes["mended"] > 20


# what is around it -----------------------------------------------------------------------------------------


def checks(done: Answer) -> dict[str, tuple[bool, str, str]]:
    return {each["name"]: (each["ok"], each["what"], each["fix"]) for each in done.json["checks"]}


def test_a_bundle_that_the_settings_name_and_that_is_gone_is_told(workspace: Workspace) -> None:
    workspace.write("home/.amplihack/settings.yaml", "bundle:\n  added: {mine: /nowhere/mine}\n")
    done = workspace.run("doctor", "--json")
    assert done.exit_code == 1
    ok, what, fix = checks(done)["bundles"]
    assert (ok, bool(fix)) == (False, True)
    assert "/nowhere/mine" in what


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "[1]", '{"version": 2, "bundles": {}}'])
def test_a_registry_that_no_load_would_use_is_told_and_left_alone(workspace: Workspace, text: str) -> None:
    file = workspace.write("home/.amplihack/registry.json", text)
    assert checks(workspace.run("doctor", "--json"))["bundles"][0] is False
    assert file.read_text() == text


def test_what_others_can_write_to_is_told_and_fixed(workspace: Workspace) -> None:
    settings = workspace.write("home/.amplihack/settings.yaml", "")
    settings.chmod(0o666)
    ok, what, _ = checks(workspace.run("doctor", "--json"))["permissions"]
    assert not ok
    assert str(settings) in what
    workspace.run("doctor", "--fix")
    assert settings.stat().st_mode & 0o777 == 0o644
    assert checks(workspace.run("doctor", "--json"))["permissions"][0]


def test_how_the_program_was_installed_is_told(workspace: Workspace) -> None:
    ok, what, _ = checks(workspace.run("doctor", "--json"))["method"]
    assert ok
    assert "came by" in what


def test_every_check_has_its_name_and_every_failure_its_fix(workspace: Workspace) -> None:
    done = workspace.run("doctor", "--json")
    names = {each["name"].partition(".")[0] for each in done.json["checks"]}
    assert names >= {
        "home", "lock", "stamp", "bundle", "leftovers", "package", "method", "command", "agents", "settings",
        "bundles", "runs", "permissions",
    }  # fmt: skip
    assert all(set(each) == {"name", "ok", "what", "fix"} for each in done.json["checks"])
