"""The wheel, as a user gets it: built, installed into a clean environment, used, updated and removed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.support.wheels import PACKAGES, build_wheel, offline, python, write_identity
from tests.support.workspace import Answer

pytestmark = pytest.mark.skipif(
    not PACKAGES.is_dir(), reason=f"there are no packages in {PACKAGES}: `make test` fetches them"
)
HEALED = "amplihack: framework assets re-staged for v{}\n"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels of two versions."""
    folder = tmp_path_factory.mktemp("built")
    build_wheel(folder, "0.1.0")
    return build_wheel(folder, "0.2.0")


def environment(folder: Path, env: dict[str, str]) -> Path:
    """Install version 0.1.0 with pip into a new environment, and return its command."""
    python(sys.executable, "-m", "venv", str(folder / "env"))
    python(str(folder / "env" / "bin" / "python"), "-m", "pip", "install", "-q", "amplihack==0.1.0", env=env)
    return folder / "env" / "bin" / "amplihack"


def uv_tool(folder: Path, env: dict[str, str]) -> Path:
    python("uv", "tool", "install", "amplihack==0.1.0", env=env)
    receipt = folder / "uv-tools" / "amplihack" / "uv-receipt.toml"
    receipt.write_text(receipt.read_text().replace("==0.1.0", ">=0.1.0"))  # as without a pin
    return folder / "bin" / "amplihack"


def pipx(folder: Path, env: dict[str, str]) -> Path:
    python("pipx", "install", "amplihack==0.1.0", env=env)
    return folder / "bin" / "amplihack"


def run(command: Path, *words: str, env: dict[str, str], cwd: Path) -> Answer:
    done = subprocess.run(
        [str(command), *words], cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def snapshot(home: Path) -> dict[str, str]:
    return {
        str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(home.rglob("*"))
        if path.is_file()
    }


def test_the_wheel_carries_the_bundle_and_every_file_of_its_list(wheels: Path) -> None:
    with zipfile.ZipFile(wheels / "amplihack-0.1.0-py3-none-any.whl") as wheel:
        prefix = "amplihack/_bundle/amplifier-bundle/"
        inside = {name.removeprefix(prefix) for name in wheel.namelist() if name.startswith(prefix)}
        said = json.loads(wheel.read(f"{prefix}BUNDLE.json"))
        for file in said["files"]:
            assert hashlib.sha256(wheel.read(prefix + file["path"])).hexdigest() == file["sha256"]
    assert inside == {"BUNDLE.json", *(file["path"] for file in said["files"])}
    assert said["product_version"] == "0.1.0"


@pytest.mark.parametrize("way", ["pip", "uv", "pipx"])
def test_it_installs_heals_updates_rolls_back_and_uninstalls(wheels: Path, tmp_path: Path, way: str) -> None:
    if way != "pip" and shutil.which(way) is None:
        pytest.skip(f"{way} is not installed: `make test-installers` gets it")
    cwd = tmp_path / "empty"
    cwd.mkdir()
    env = offline(tmp_path, wheels)
    command = {"pip": environment, "uv": uv_tool, "pipx": pipx}[way](tmp_path, env)
    home = Path(env["HOME"])
    bundle = home / ".amplihack" / "amplifier-bundle"

    def amplihack(*words: str, more: dict[str, str] | None = None) -> Answer:
        return run(command, *words, env={**env, **(more or {})}, cwd=cwd)

    def staged() -> str:
        return (bundle / "context" / "version.md").read_text()

    before = snapshot(home)

    # It heals at the first command, and at that alone.
    done = amplihack("recipe", "list")
    assert (done.exit_code, done.stderr) == (0, HEALED.format("0.1.0"))
    assert "smart-orchestrator" in done.stdout
    assert amplihack("recipe", "list").stderr == ""
    assert staged() == "version 0.1.0\n"
    assert os.access(bundle / "bin" / "multitask-orchestrator.sh", os.X_OK)
    doctor = amplihack("doctor", "--json")
    assert doctor.exit_code == 0, doctor.stdout

    # It installs on demand, and finds everything in place.
    assert "is active" in amplihack("install").stdout

    # It finds the newer version, upgrades itself with its own tool, and the new program stages its bundle.
    found = amplihack("update", "--check", "--json")
    assert found.exit_code == 0, found.stderr
    assert (found.json["current"], found.json["latest"], found.json["newer"]) == ("0.1.0", "0.2.0", True)
    assert found.json["method"] == {"pip": "pip", "uv": "uv tool", "pipx": "pipx"}[way]
    assert "upgrade" in amplihack("update", "--dry-run").stdout
    assert staged() == "version 0.1.0\n"
    done = amplihack("update", "--json")
    assert done.exit_code == 0, done.stderr
    assert (done.json["before"], done.json["version"], done.json["staged"]) == ("0.1.0", "0.2.0", True)
    assert amplihack("--version").stdout == "amplihack 0.2.0\n"
    assert staged() == "version 0.2.0\n"
    assert amplihack("recipe", "list").stderr == ""

    # It goes back, and stays there until it is told otherwise.
    assert amplihack("install", "--rollback").exit_code == 0
    assert staged() == "version 0.1.0\n"
    assert amplihack("recipe", "list").stderr == ""

    # A current program repairs what is staged.
    (bundle / "recipes" / "smart-orchestrator.yaml").write_text("importlib")
    done = amplihack("update")
    assert done.exit_code == 0, done.stderr
    assert "0.2.0 is the newest version" in done.stdout
    assert "importlib" not in (bundle / "recipes" / "smart-orchestrator.yaml").read_text()

    # It leaves the home as it was.
    assert amplihack("uninstall", "--purge").exit_code == 0
    assert snapshot(home) == before
    assert not (home / ".amplihack").exists()


def test_an_update_that_fails_leaves_the_program_and_what_is_staged(wheels: Path, tmp_path: Path) -> None:
    cwd = tmp_path / "empty"
    cwd.mkdir()
    env = offline(tmp_path, wheels)
    command = environment(tmp_path, env)
    run(command, "install", env=env, cwd=cwd)
    (cwd / "amplihack-0.3.0-py3-none-any.whl").write_bytes(b"damaged")
    done = run(command, "update", env={**env, "PIP_FIND_LINKS": str(cwd)}, cwd=cwd)
    assert done.exit_code == 1
    assert "does not tell which version is the newest" in done.stderr
    assert run(command, "recipe", "list", env=env, cwd=cwd).stderr == ""
    inside = run(command, "update", env={**env, "AMPLIHACK_SESSION_DEPTH": "1"}, cwd=cwd)
    assert inside.exit_code == 1
    assert "inside a run" in inside.stderr
    assert run(command, "--version", env=env, cwd=cwd).stdout == "amplihack 0.1.0\n"


@pytest.mark.parametrize("drift", ["changed", "missing", "more", "version"])
def test_a_bundle_that_nobody_could_stage_is_not_built(tmp_path: Path, drift: str) -> None:
    folder = tmp_path / "built"
    folder.mkdir()
    build_wheel(folder, "0.1.0")
    source = folder / "source-0.1.0"
    bundle = source / "amplifier-bundle"
    match drift:
        case "changed":
            (bundle / "bundle.md").write_text("x")
        case "missing":
            (bundle / "bundle.md").unlink()
        case "more":
            (bundle / "more.md").write_text("x")
        case "version":
            write_identity(bundle, "9.9.9")
    done = subprocess.run(
        [
            sys.executable, "-m", "pip", "wheel", "-q", "--no-index", "--no-build-isolation", "--no-deps",
            "-w", str(tmp_path), str(source),
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "make bundle" in done.stderr + done.stdout
