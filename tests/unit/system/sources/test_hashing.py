from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from amplihack.system.sources import content_hash
from amplihack.system.sources.errors import SourceError, SourceNotFound
from amplihack.system.sources.metadata import METADATA


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "a").mkdir(parents=True)
    (root / "a" / "x.md").write_text("x")
    (root / "b.md").write_text("b")
    (root / "link").symlink_to("b.md")
    return root


def test_a_copy_elsewhere_has_the_same_hash(tree: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(tree, tmp_path / "copy", symlinks=True)
    os.utime(copy / "b.md", (1, 1))
    (copy / "empty").mkdir()
    assert content_hash(copy) == content_hash(tree)
    assert len(content_hash(tree)) == 64


def test_git_and_our_own_metadata_do_not_count(tree: Path) -> None:
    before = content_hash(tree)
    (tree / ".git").mkdir()
    (tree / ".git" / "HEAD").write_text("x")
    (tree / METADATA).write_text("{}")
    (tree / "a" / ".git").write_text("gitdir: elsewhere")
    assert content_hash(tree) == before


def test_names_to_ignore_do_not_count(tree: Path) -> None:
    before = content_hash(tree)
    (tree / "a" / "__pycache__").mkdir()
    (tree / "a" / "__pycache__" / "x.pyc").write_text("x")
    assert content_hash(tree) != before
    assert content_hash(tree, ignore=["__pycache__"]) == before


@pytest.mark.parametrize("change", ["content", "name", "mode", "target", "kind", "new", "gone", "moved"])
def test_every_real_change_changes_the_hash(tree: Path, change: str) -> None:
    before = content_hash(tree)
    match change:
        case "content":
            (tree / "b.md").write_text("c")
        case "name":
            (tree / "b.md").rename(tree / "c.md")
        case "mode":
            (tree / "b.md").chmod(0o755)
        case "target":
            (tree / "link").unlink()
            (tree / "link").symlink_to("a")
        case "kind":
            (tree / "link").unlink()
            (tree / "link").write_text("b.md")
        case "new":
            (tree / "z").touch()
        case "gone":
            (tree / "b.md").unlink()
        case "moved":
            (tree / "a" / "x.md").rename(tree / "a.x.md")
    assert content_hash(tree) != before


def test_links_are_not_followed(tree: Path) -> None:
    (tree / "loop").symlink_to(".")
    (tree / "dangling").symlink_to("/nowhere")
    assert content_hash(tree) == content_hash(tree)


def test_a_single_file_can_be_hashed(tree: Path) -> None:
    assert content_hash(tree / "b.md") != content_hash(tree / "a" / "x.md")


def test_what_is_not_there_or_not_a_file_is_explained(tree: Path) -> None:
    with pytest.raises(SourceNotFound, match="is not there"):
        content_hash(tree / "nope")
    os.mkfifo(tree / "pipe")
    with pytest.raises(SourceError, match="neither a file nor a directory"):
        content_hash(tree)


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(tree: Path) -> None:
    (tree / "b.md").chmod(0)
    with pytest.raises(SourceError, match=r"b\.md: Permission denied"):
        content_hash(tree)
