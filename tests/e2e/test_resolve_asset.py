from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.distribution import make_program
from tests.support.framework_bundle import HELPER, write_bundle
from tests.support.workspace import Workspace

RESOLVE = "resolve-bundle-asset"


@pytest.fixture
def program(workspace: Workspace) -> Workspace:
    make_program(workspace.path / "site", "0.1.0", mark="one")
    workspace.env["PYTHONPATH"] = str(workspace.path / "site")
    return workspace


def test_the_helper_is_the_native_wrapper_of_what_is_staged_and_stdout_is_the_path_alone(
    program: Workspace,
) -> None:
    done = program.run(RESOLVE, "helper-path")
    assert done.exit_code == 0
    path = Path(done.stdout.removesuffix("\n"))
    assert path.is_absolute()
    assert path.is_relative_to(program.path / "home" / ".amplihack" / "generations")
    assert str(path).endswith(f"amplifier-bundle/{HELPER}")
    assert "re-staged" in done.stderr


def test_without_staging_the_bundle_of_the_program_is_used(program: Workspace) -> None:
    done = program.run(RESOLVE, "helper-path", env={"AMPLIHACK_SKIP_AUTO_INSTALL": "1"})
    assert done.stdout.startswith(str(program.path / "site"))


@pytest.mark.parametrize(
    ("asset", "code"),
    [
        ("hooks-dir", 1),
        ("nonsense", 1),
        ("amplifier-bundle/nowhere", 1),
        ("../x", 2),
        ("/etc/passwd", 2),
        ("", 2),
    ],
)
def test_an_asset_that_cannot_be_given_has_its_exit_code(program: Workspace, asset: str, code: int) -> None:
    done = program.run(RESOLVE, asset)
    assert (done.exit_code, done.stdout) == (code, "")
    assert "ERROR: " in done.stderr
    if asset == "hooks-dir":
        assert "AMPLIHACK_HOME" in done.stderr


def test_a_link_that_leads_out_of_the_bundle_is_not_followed(program: Workspace) -> None:
    program.run("install")
    (program.path / "home" / ".amplihack" / "amplifier-bundle" / "out").symlink_to("/etc")
    done = program.run(RESOLVE, "amplifier-bundle/out/passwd")
    assert (done.exit_code, done.stdout) == (1, "")


def test_the_current_directory_counts_only_if_it_is_allowed(workspace: Workspace) -> None:
    make_program(workspace.path / "bare", "0.1.0")
    workspace.env["PYTHONPATH"] = str(workspace.path / "bare")
    write_bundle(workspace.path)
    assert workspace.run(RESOLVE, "helper-path").exit_code == 1
    done = workspace.run(RESOLVE, "helper-path", env={"AMPLIHACK_ALLOW_CWD_ASSETS": "1"})
    assert done.stdout == f"{workspace.path}/amplifier-bundle/{HELPER}\n"
