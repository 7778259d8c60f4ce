from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.support.tool_stage import mounted

pytestmark = pytest.mark.asyncio

ENGINES = [
    False,
    pytest.param(True, marks=pytest.mark.skipif(shutil.which("rg") is None, reason="no ripgrep here")),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    here = tmp_path / "here"
    (here / "src").mkdir(parents=True)
    (here / "node_modules").mkdir()
    (here / "src" / "a.py").write_text("one\ntwo needle\nthree\n")
    (here / "src" / "b.txt").write_text("a Needle: with a colon\n")
    (here / "node_modules" / "c.py").write_text("needle\n")
    (here / ".hidden.py").write_text("needle\n")
    (here / "data.bin").write_bytes(b"\0\0needle")
    (tmp_path / "outside.py").write_text("needle outside\n")
    (here / "link.py").symlink_to(tmp_path / "outside.py")
    (here / "up").symlink_to(tmp_path)
    return here


@pytest.mark.parametrize("ripgrep", ENGINES)
async def test_lines_are_found_with_their_place(project: Path, ripgrep: bool) -> None:
    async with mounted("tool-search", project, config={"ripgrep": ripgrep}) as tools:
        assert await tools.call("grep", pattern="needle") == {
            "matches": 1,
            "results": ["src/a.py:2:two needle"],
        }
        both = await tools.call("grep", pattern="NEEDLE", ignore_case=True)
        assert both["results"] == ["src/a.py:2:two needle", "src/b.txt:1:a Needle: with a colon"]
        assert (await tools.call("grep", pattern="needle", glob="*.txt"))["matches"] == 0
        assert (await tools.call("grep", pattern="two", path="src/a.py"))["results"] == [
            "src/a.py:2:two needle"
        ]
        around = await tools.call("grep", pattern="two", context=1)
        assert around["results"] == ["src/a.py:1-one", "src/a.py:2:two needle", "src/a.py:3-three"]
        assert (await tools.call("grep", pattern="e", files_only=True))["results"] == [
            "src/a.py",
            "src/b.txt",
        ]
        hidden = await tools.call("grep", pattern="needle", hidden=True)
        assert hidden["results"] == [".hidden.py:1:needle", "src/a.py:2:two needle"]


@pytest.mark.parametrize("ripgrep", ENGINES)
async def test_only_a_newline_ends_a_line(tmp_path: Path, ripgrep: bool) -> None:
    (tmp_path / "odd.txt").write_bytes("one\x0c\x0b\x1c\u2028\x85\ntwo needle\n".encode())
    (tmp_path / "empty.txt").touch()
    async with mounted("tool-search", tmp_path, config={"ripgrep": ripgrep}) as tools:
        assert (await tools.call("grep", pattern="needle$"))["results"] == ["odd.txt:2:two needle"]
        assert (await tools.call("grep", pattern="^$"))["matches"] == 0


@pytest.mark.parametrize("ripgrep", ENGINES)
async def test_nothing_outside_is_searched(project: Path, ripgrep: bool) -> None:
    async with mounted("tool-search", project, config={"ripgrep": ripgrep}) as tools:
        for path in ("..", "/etc", "up", "link.py", "src/../../outside.py", "up/outside.py"):
            assert "outside what may be used" in await tools.fails("grep", pattern="needle", path=path)
            assert await tools.fails("glob", pattern="*", path=path)
        assert "outside" not in str(await tools.call("grep", pattern="outside"))
        assert (await tools.call("glob", pattern="*.py"))["files"] == ["src/a.py"]


@pytest.mark.parametrize("ripgrep", ENGINES)
async def test_a_pattern_is_never_an_option(project: Path, ripgrep: bool) -> None:
    async with mounted("tool-search", project, config={"ripgrep": ripgrep}) as tools:
        found = await tools.call("grep", pattern="--pre=/bin/sh", glob="--files")
        assert found["matches"] == 0


@pytest.mark.parametrize("ripgrep", ENGINES)
async def test_what_git_ignores_and_the_settings_deny_is_left_out(project: Path, ripgrep: bool) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)  # noqa: ASYNC221
    (project / ".gitignore").write_text("build/\n")
    for name in ("build", "keys"):
        (project / name).mkdir()
        (project / name / "x.py").write_text("needle\n")
    config: dict[str, Any] = {"ripgrep": ripgrep, "denied_read_paths": ["keys"]}
    async with mounted("tool-search", project, config=config) as tools:
        assert (await tools.call("grep", pattern="needle"))["results"] == ["src/a.py:2:two needle"]
        assert (await tools.call("glob", pattern="*.py"))["files"] == ["src/a.py"]
        assert "denied" in await tools.fails("grep", pattern="needle", path="keys")


@pytest.mark.parametrize("ripgrep", ENGINES)
async def test_results_come_in_parts(project: Path, ripgrep: bool) -> None:
    (project / "many.txt").write_text("".join(f"hit {n}\n" for n in range(5)))
    async with mounted("tool-search", project, config={"ripgrep": ripgrep, "max_results": 2}) as tools:
        first = await tools.call("grep", pattern="^hit")
        assert first["results"] == ["many.txt:1:hit 0", "many.txt:2:hit 1"]
        assert "use offset 2" in first["note"]
        last = await tools.call("grep", pattern="^hit", offset=4)
        assert last["results"] == ["many.txt:5:hit 4"]
        assert "note" not in last


@pytest.mark.parametrize("ripgrep", ENGINES)
async def test_a_wrong_pattern_is_told(project: Path, ripgrep: bool) -> None:
    async with mounted("tool-search", project, config={"ripgrep": ripgrep}) as tools:
        assert await tools.fails("grep", pattern="(")


async def test_a_pattern_that_takes_forever_ends(project: Path) -> None:
    (project / "trap.txt").write_text("a" * 60 + "!\n")
    async with mounted("tool-search", project, config={"ripgrep": False, "timeout": 1}) as tools:
        assert "did not end within 1 seconds" in await tools.fails("grep", pattern="(a+)+$")


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("*.py", ["src/a.py"]),
        ("src/*", ["src/a.py", "src/b.txt"]),
        ("**/*.txt", ["src/b.txt"]),
        ("src/**", ["src/a.py", "src/b.txt"]),
        ("nothing", []),
    ],
)
async def test_files_are_found_by_name(project: Path, pattern: str, files: list[str]) -> None:
    async with mounted("tool-search", project) as tools:
        assert (await tools.call("glob", pattern=pattern))["files"] == files


@pytest.mark.parametrize("ripgrep", ENGINES)
async def test_names_with_newlines_and_what_is_no_file(tmp_path: Path, ripgrep: bool) -> None:
    (tmp_path / "two\nlines.txt").write_bytes(b"before\r\nneedle\r\n")
    (tmp_path / "z.txt").write_text("needle\n" + "x\n" * 9 + "needle\n")
    os.mkfifo(tmp_path / "pipe")
    async with mounted("tool-search", tmp_path, config={"ripgrep": ripgrep}) as tools:
        found = await tools.call("grep", pattern="needle", context=1)
        assert found["results"][:2] == ["two\nlines.txt:1-before", "two\nlines.txt:2:needle"]
        assert found["results"][2:] == ["z.txt:1:needle", "z.txt:2-x", "z.txt:10-x", "z.txt:11:needle"]
        listed = await tools.call("grep", pattern="needle", files_only=True)
        assert listed["results"] == ["two\nlines.txt", "z.txt"]
        assert (await tools.call("glob", pattern="*.txt"))["files"] == ["two\nlines.txt", "z.txt"]
        assert "neither a file" in await tools.fails("grep", pattern="x", path="pipe")
