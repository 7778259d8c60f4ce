"""Packages that need no network: wheels made by hand, and projects that build themselves."""

from __future__ import annotations

import zipfile
from pathlib import Path

# A build backend in the project's own directory; it takes as long as it is told to.
BACKEND = """
import os, time, zipfile
from pathlib import Path

NAME, VERSION, SECONDS, REQUIRES = {name!r}, "0.1.0", {seconds!r}, {requires!r}
MEETING, COUNT = {meeting!r}, {count!r}
INFO = f"{{NAME.replace('-', '_')}}-{{VERSION}}.dist-info"


def _meet():
    # Wait until as many builds as should run at once do so.
    (Path(MEETING) / NAME).touch()
    end = time.monotonic() + 60
    while len(os.listdir(MEETING)) < COUNT:
        if time.monotonic() > end:
            raise RuntimeError(f"{{NAME}} was built alone")
        time.sleep(0.02)


def _wheel(directory, files):
    time.sleep(SECONDS)
    if MEETING:
        _meet()
    name = f"{{NAME.replace('-', '_')}}-{{VERSION}}-py3-none-any.whl"
    required = "".join(f"Requires-Dist: {{each}}\\n" for each in REQUIRES)
    named = f"Name: {{NAME}}\\nVersion: {{VERSION}}\\n"
    files[f"{{INFO}}/METADATA"] = f"Metadata-Version: 2.1\\n{{named}}{{required}}"
    tags = "Root-Is-Purelib: true\\nTag: py3-none-any\\n"
    files[f"{{INFO}}/WHEEL"] = f"Wheel-Version: 1.0\\nGenerator: test\\n{{tags}}"
    record = "".join(f"{{each}},,\\n" for each in files) + f"{{INFO}}/RECORD,,\\n"
    with zipfile.ZipFile(Path(directory) / name, "w") as archive:
        for path, text in {{**files, f"{{INFO}}/RECORD": record}}.items():
            archive.writestr(path, text)
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, {{f"_{{NAME.replace('-', '_')}}.pth": str(Path.cwd()) + "\\n"}})


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, {{f"{{NAME.replace('-', '_')}}_marker.py": "x = 1\\n"}})


def get_requires_for_build_editable(config_settings=None):
    return []


def get_requires_for_build_wheel(config_settings=None):
    return []
"""

SELF_BUILDING = """\
[project]
name = "{name}"
version = "0.1.0"
dynamic = ["dependencies"]

[project.entry-points."amplifier.modules"]
{entry} = "amplifier_module_{package}:mount"

[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


def write_wheel(directory: Path, name: str, version: str = "1.0", code: str = "VALUE = 1\n") -> Path:
    """Write a wheel with one module; returns the file."""
    directory.mkdir(parents=True, exist_ok=True)
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    files = {
        f"{module}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{each},,\n" for each in files) + f"{info}/RECORD,,\n"
    path = directory / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name_inside, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name_inside, text)
    return path


def make_self_building(
    directory: Path,
    module: str,
    *,
    seconds: float = 0.0,
    requires: tuple[str, ...] = (),
    meeting: tuple[Path, int] | None = None,
) -> None:
    """Turn the package of a module into one that only a build knows the requirements of.

    With a `meeting`, a directory and a number, the build fails unless that many run at the same time.
    """
    package, name = module.replace("-", "_"), f"amplifier-module-{module}"
    text = SELF_BUILDING.format(name=name, entry=module, package=package)
    (directory / "pyproject.toml").write_text(text)
    place, count = (str(meeting[0]), meeting[1]) if meeting else ("", 0)
    backend = BACKEND.format(name=name, seconds=seconds, requires=list(requires), meeting=place, count=count)
    (directory / "backend.py").write_text(backend)
