"""Runs the quick suite on every other Python that we support and that is on this machine.

Each gets an environment of its own, `.venv-3.12` and so on, from the same folder of wheels as `.venv`. Exits
with 1 if a suite fails, and with 0, and a word about it, if there is no other Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SUPPORTED = range(11, 16)  # 3.11 to 3.15
PROJECT = Path(__file__).resolve().parent.parent
QUICK = "tests/unit"


def main() -> int:
    found = other_pythons()
    if not found:
        print("no other supported Python is on this machine: the quick suite ran on this one alone")
        return 0
    print("other Pythons on this machine: " + ", ".join(f"{name} ({path})" for name, path in found.items()))
    failed = [name for name, python in found.items() if not passes(name, python)]
    if failed:
        print(f"the quick suite fails on Python {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def other_pythons() -> dict[str, Path]:
    """Return an interpreter for each minor version but our own."""
    found: dict[str, Path] = {}
    for minor in SUPPORTED:
        name = f"3.{minor}"
        path = next((each for each in candidates(name) if works(each, name)), None)
        if path is not None and minor != sys.version_info.minor:
            found[name] = path
    return found


def candidates(name: str) -> Iterator[Path]:
    """Places where people have their Pythons: the path, pyenv, uv."""
    home = Path.home()
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        yield Path(directory) / f"python{name}"
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions"
    yield from sorted(pyenv.glob(f"{name}.*/bin/python"), reverse=True)
    yield from sorted((home / ".local/share/uv/python").glob(f"cpython-{name}.*/bin/python"), reverse=True)


def works(python: Path, name: str) -> bool:
    """Tell a Python of that version from a missing one and from a shim that leads nowhere."""
    if not python.exists():
        return False
    ask = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    answer = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False)
    return answer.returncode == 0 and answer.stdout.strip() == name


def passes(name: str, python: Path) -> bool:
    environment = PROJECT / f".venv-{name}"
    made = subprocess.run(
        ["make", f"VENV={environment.name}", f"PYTHON={python}", f"{environment.name}/.installed"],
        cwd=PROJECT,
        check=False,
    )
    if made.returncode != 0:
        return False
    print(f"Python {name}: {QUICK}", flush=True)
    pytest = [str(environment / "bin/python"), "-m", "tests.second_look", "-q", "-n", "auto"]
    return subprocess.run([*pytest, QUICK], cwd=PROJECT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
