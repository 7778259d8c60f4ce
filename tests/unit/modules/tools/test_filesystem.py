from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest
from tests.support.tool_stage import mounted

from amplihack.bundles.mentions import MentionScope
from amplihack.bundles.model import Bundle
from amplihack.modules.tools.filesystem import editing
from amplihack.system.session_mentions import SessionMentions

pytestmark = pytest.mark.asyncio


async def test_a_file_is_read_with_numbers_and_in_parts(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    async with mounted("tool-filesystem", tmp_path, config={"max_lines": 4}) as tools:
        first = await tools.call("read_file", file_path="long.txt")
        assert first["content"].splitlines()[0] == "     1\tline 1"
        assert first["total_lines"] == 10
        assert first["note"] == "lines 1 to 4 of 10: the rest with offset 5"
        last = await tools.call("read_file", file_path="long.txt", offset=9)
        assert last["content"] == "     9\tline 9\n    10\tline 10"
        assert "note" not in last
        assert "has 10 lines" in await tools.fails("read_file", file_path="long.txt", offset=11)


async def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    text = "one\x0cstill\x0b one\x1c\u2028\x85\ntwo\r\nthree"
    (tmp_path / "odd.txt").write_bytes(text.encode())
    async with mounted("tool-filesystem", tmp_path) as tools:
        read = await tools.call("read_file", file_path="odd.txt")
    assert read["total_lines"] == 3
    assert read["content"].split("\n")[1:] == ["     2\ttwo", "     3\tthree"]


async def test_a_directory_is_listed(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "a.txt").touch()
    async with mounted("tool-filesystem", tmp_path) as tools:
        assert (await tools.call("read_file", file_path="."))["entries"] == ["a.txt", "src/"]


async def test_a_picture_is_shown_and_other_bytes_are_refused(tmp_path: Path) -> None:
    dot = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    (tmp_path / "dot.png").write_bytes(dot)
    (tmp_path / "program").write_bytes(b"\x7fELF\0\0")
    async with mounted("tool-filesystem", tmp_path) as tools:
        result = await tools.coordinator.get("tools")["read_file"].execute({"file_path": "dot.png"})
        assert result.content[1].source["media_type"] == "image/png"
        assert "no text" in await tools.fails("read_file", file_path="program")


async def test_long_lines_and_large_files_are_cut_and_told(tmp_path: Path) -> None:
    (tmp_path / "wide.txt").write_text("x" * 5_000)
    (tmp_path / "large.txt").write_text("y" * 2_000)
    async with mounted("tool-filesystem", tmp_path, config={"max_file_bytes": 6_000}) as tools:
        found = await tools.call("read_file", file_path="wide.txt")
        assert "1 lines were longer" in found["note"]
        assert len(found["content"]) < 2_100
    async with mounted("tool-filesystem", tmp_path, config={"max_file_bytes": 1_000}) as tools:
        assert "larger than 1000 bytes" in await tools.fails("read_file", file_path="large.txt")


async def test_a_file_is_written_with_its_directories(tmp_path: Path) -> None:
    async with mounted("tool-filesystem", tmp_path) as tools:
        await tools.call("write_file", file_path="a/b/c.txt", content="hello\n")
        assert (tmp_path / "a/b/c.txt").read_text() == "hello\n"
        assert "no regular file" in await tools.fails("write_file", file_path="a/b", content="x")


async def test_an_edit_shows_its_change(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("a = 1\nb = 2\n")
    async with mounted("tool-filesystem", tmp_path) as tools:
        done = await tools.call("edit_file", file_path="x.py", old_string="b = 2", new_string="b = 3")
        assert (tmp_path / "x.py").read_text() == "a = 1\nb = 3\n"
        assert "-b = 2\n+b = 3" in done["diff"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("nope", "x", "does not occur"),
        ("= ", "x", "occurs 2 times"),
        ("", "x", "is empty"),
        ("a = 1", "a = 1", "are the same"),
    ],
)
async def test_an_edit_that_is_not_clear_changes_nothing(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    (tmp_path / "x.py").write_text("a = 1\nb = 2\n")
    async with mounted("tool-filesystem", tmp_path) as tools:
        assert said in await tools.fails("edit_file", file_path="x.py", old_string=old, new_string=new)
        assert (tmp_path / "x.py").read_text() == "a = 1\nb = 2\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\n", b"one\r\n2\r\nlines\r\n"),
        (b"\xef\xbb\xbftwo\n", b"\xef\xbb\xbf2\nlines\n"),
        (b"caf\xe9 two\n", b"caf\xe9 2\nlines\n"),
    ],
)
async def test_an_edit_keeps_line_ends_and_encoding(tmp_path: Path, before: bytes, after: bytes) -> None:
    (tmp_path / "x").write_bytes(before)
    async with mounted("tool-filesystem", tmp_path) as tools:
        await tools.call("edit_file", file_path="x", old_string="two", new_string="2\nlines")
        assert (tmp_path / "x").read_bytes() == after


@pytest.mark.parametrize("path", ["../out.txt", "/etc/passwd", "link.txt", "folder/out.txt", "~/x", "@a:b"])
async def test_nothing_outside_is_read_written_or_edited(tmp_path: Path, path: str) -> None:
    here, out = tmp_path / "here", tmp_path / "out.txt"
    here.mkdir()
    out.write_text("secret")
    (here / "link.txt").symlink_to(out)
    (here / "folder").symlink_to(tmp_path)
    async with mounted("tool-filesystem", here) as tools:
        assert "secret" not in await tools.fails("read_file", file_path=path)
        await tools.fails("write_file", file_path=path, content="x")
        await tools.fails("edit_file", file_path=path, old_string="secret", new_string="x")
        assert out.read_text() == "secret"


async def test_reading_and_writing_have_boundaries_of_their_own(tmp_path: Path) -> None:
    here, library = tmp_path / "here", tmp_path / "library"
    here.mkdir()
    library.mkdir()
    (library / "a.txt").write_text("known")
    (here / ".env").write_text("KEY=1")
    config: dict[str, Any] = {
        "allowed_read_paths": [".", str(library)],
        "denied_read_paths": [".env"],
        "denied_write_paths": ["locked"],
    }
    async with mounted("tool-filesystem", here, config=config) as tools:
        assert "known" in (await tools.call("read_file", file_path=str(library / "a.txt")))["content"]
        assert "allowed_write_paths" in await tools.fails(
            "write_file", file_path=str(library / "a.txt"), content="x"
        )
        assert "denied" in await tools.fails("read_file", file_path=".env")
        assert "denied" in await tools.fails("write_file", file_path=".env", content="")
        assert "denied" in await tools.fails("write_file", file_path="locked/a.txt", content="")


async def test_a_mention_may_be_read_wherever_it_leads(tmp_path: Path) -> None:
    here, note = tmp_path / "here", tmp_path / "bundle" / "note.md"
    here.mkdir()
    note.parent.mkdir()
    note.write_text("from the bundle")

    class Resolver:
        def resolve(self, mention: str) -> Path | None:
            return note if mention == "@bundle:note.md" else None

    async with mounted("tool-filesystem", here, capabilities={"mention_resolver": Resolver()}) as tools:
        assert "from the bundle" in (await tools.call("read_file", file_path="@bundle:note.md"))["content"]
        await tools.fails("write_file", file_path="@bundle:note.md", content="x")
        assert "leads to nothing" in await tools.fails("read_file", file_path="@other:x")


@pytest.mark.parametrize(
    "path",
    [
        "@../out.txt",
        "@link.txt",
        "@folder/out.txt",
        "@~/out.txt",
        "@user:out.txt",
        "@{out}",
        "@./x/../../out.txt",
    ],
)
async def test_a_mention_that_names_no_bundle_leads_no_further_than_a_path(tmp_path: Path, path: str) -> None:
    here, out = tmp_path / "here", tmp_path / "out.txt"
    here.mkdir()
    out.write_text("secret")
    (here / "link.txt").symlink_to(out)
    (here / "folder").symlink_to(tmp_path)
    (here / "in.txt").write_text("known")
    scope = MentionScope(bases=(str(here),), home=str(tmp_path), user=str(tmp_path))
    mentions = SessionMentions(lambda: Bundle(name="b"), scope)
    async with mounted("tool-filesystem", here, capabilities={"mention_resolver": mentions}) as tools:
        assert "secret" not in await tools.fails("read_file", file_path=path.format(out=out))
        assert "known" in (await tools.call("read_file", file_path="@in.txt"))["content"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "'file_path' is missing"),
        ({"file_path": 3}, "'file_path' must be of the type string"),
        ({"file_path": "x", "ofset": 1}, "there is no 'ofset' (did you mean 'offset'?)"),
        ({"file_path": "x", "offset": 0}, "'offset' must be at least 1"),
        ({"file_path": "x", "offset": True}, "'offset' must be of the type integer"),
        ({"file_path": "missing.txt"}, "does not exist"),
    ],
)
async def test_wrong_arguments_are_a_result(tmp_path: Path, given: dict[str, Any], said: str) -> None:
    async with mounted("tool-filesystem", tmp_path) as tools:
        assert said in await tools.fails("read_file", **given)


async def test_edits_of_one_file_side_by_side_are_all_there(tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_text("".join(f"line {number};\n" for number in range(20)))
    async with mounted("tool-filesystem", tmp_path) as tools, asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(
                tools.call(
                    "edit_file",
                    file_path="list.txt",
                    old_string=f"line {number};",
                    new_string=f"done {number};",
                )
            )
    assert file.read_text() == "".join(f"done {number};\n" for number in range(20))


async def test_an_edit_takes_in_what_another_program_wrote_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "shared.txt"
    file.write_text("one\n")
    whole, others = editing._as_before, iter(["two\n", "three\n"])

    def slowly(before: bytes, after: str) -> bytes:
        if line := next(others, ""):  # another program appends while the edit is made
            with file.open("a") as appended:
                appended.write(line)
        return whole(before, after)

    monkeypatch.setattr(editing, "_as_before", slowly)
    async with mounted("tool-filesystem", tmp_path) as tools:
        await tools.call("edit_file", file_path="shared.txt", old_string="one", new_string="ONE")
    assert file.read_text() == "ONE\ntwo\nthree\n"
