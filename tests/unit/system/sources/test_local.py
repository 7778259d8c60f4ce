from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.source_place import Place, clean_place

from amplihack.bundles.uris import parse_uri
from amplihack.system.sources.errors import SourceError, SourceNotFound, SourceRefused
from amplihack.system.sources.local import resolve_local, source_root
from amplihack.system.sources.model import ResolvedSource


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with clean_place(tmp_path.resolve()) as place:
        yield place


def write(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    return root


def found(uri: str, *, base: Path | None = None, home: Path | None = None) -> ResolvedSource:
    return resolve_local(parse_uri(uri), base=base, home=home)


def test_paths_in_every_spelling_mean_the_same_file(tmp_path: Path) -> None:
    tmp_path = tmp_path.resolve()
    root = write(tmp_path / "repo", "bundle.md", "behaviors/my x.yaml")
    file = root / "behaviors" / "my x.yaml"
    (tmp_path / "link").symlink_to(root)
    spellings = [
        str(file),
        f"file://{file}",
        f"file://{root}/behaviors/my%20x.yaml",
        "./behaviors/my x.yaml",
        "../repo/behaviors/my x.yaml",
        "~/repo/behaviors/my x.yaml",
        f"{tmp_path}/link/behaviors/my x.yaml",
    ]
    answers = [found(text, base=root, home=tmp_path) for text in spellings]
    assert {(one.active_path, one.source_root) for one in answers} == {(file, root)}


@pytest.mark.parametrize(
    "uri", ["/nowhere/at/all", "./nope", "~/nope", "file:///nope", "/etc/passwd/x", "/a\0b"]
)
def test_what_is_not_there_is_not_found(tmp_path: Path, uri: str) -> None:
    with pytest.raises(SourceNotFound, match="not found"):
        found(uri, base=tmp_path, home=tmp_path)


def test_a_relative_path_needs_something_to_be_relative_to() -> None:
    with pytest.raises(SourceNotFound, match="nothing says what it is relative to"):
        found("./x")
    with pytest.raises(SourceNotFound, match="no home directory"):
        found("~/x")


def test_a_subdirectory_stays_inside(tmp_path: Path) -> None:
    root = write(tmp_path.resolve() / "repo", "bundle.md", "sub/bundle.md", "../secret")
    answer = found(f"{root}#subdirectory=sub")
    assert (answer.active_path, answer.source_root, answer.is_subdirectory) == (root / "sub", root, True)
    with pytest.raises(SourceRefused, match="leads out"):
        found(f"file://{root}#subdirectory=../secret")
    with pytest.raises(SourceNotFound, match="not found"):
        found(f"file://{root}#subdirectory=nope")


@pytest.mark.skipif(os.getuid() == 0, reason="root may look everywhere")
def test_a_directory_that_may_not_be_entered_is_not_called_missing(tmp_path: Path) -> None:
    closed = write(tmp_path / "closed", "x")
    closed.chmod(0)
    try:
        with pytest.raises(SourceError, match="cannot look at"):
            found(str(closed / "x"))
    finally:
        closed.chmod(0o700)


@pytest.mark.parametrize("home", ["zzz", "aaa", "repo", "repo/behaviors", ""])
def test_the_root_of_a_local_source_does_not_depend_on_how_names_sort(tmp_path: Path, home: str) -> None:
    tmp_path = tmp_path.resolve()
    root = write(tmp_path / "mmm" / "repo", "bundle.md", "behaviors/x.yaml")
    elsewhere = tmp_path / home if home in ("zzz", "aaa") else tmp_path / "mmm" / "other"
    assert source_root(root / "behaviors" / "x.yaml", home=elsewhere) == root


def test_the_search_upward_ends_at_home_and_at_the_top_of_a_checkout(tmp_path: Path) -> None:
    tmp_path = tmp_path.resolve()
    write(tmp_path, "bundle.md", "home/project/x.yaml", "checkout/.git/HEAD", "checkout/deep/x.yaml")
    assert source_root(tmp_path / "home/project/x.yaml", home=tmp_path / "home") == tmp_path / "home/project"
    assert source_root(tmp_path / "checkout/deep/x.yaml", home=None) == tmp_path / "checkout/deep"
    assert source_root(tmp_path / "home/project/x.yaml", home=tmp_path) == tmp_path


def test_a_bundle_below_another_one_has_that_as_its_root(tmp_path: Path) -> None:
    root = write(tmp_path.resolve() / "repo", ".git/HEAD", "bundle.md", "bundles/inner/bundle.yaml")
    assert source_root(root / "bundles" / "inner", home=None) == root
    assert source_root(root / "bundles" / "inner" / "bundle.yaml", home=None) == root
    assert source_root(root, home=None) == root


def test_inside_the_cache_the_root_is_the_entry(tmp_path: Path) -> None:
    cache = write(tmp_path.resolve() / "cache", "repo-1/bundles/x/bundle.md", "repo-1/bundle.md")
    assert source_root(cache / "repo-1/bundles/x", home=None, cache_roots=(cache,)) == cache / "repo-1"


@pytest.mark.asyncio
async def test_local_sources_need_no_cache_and_leave_no_trace(place: Place) -> None:
    root = write(place.folder / "repo", "bundle.md", "a/b.yaml")
    async with place.sources(base_path=root) as sources:
        answers = [await sources.resolve(uri) for uri in (".", "./a/b.yaml", f"file://{root}")]
        from_below = await sources.resolve("./b.yaml", base=root / "a")
        assert (from_below.active_path, from_below.source_root) == (root / "a/b.yaml", root)
        assert (await sources.update(str(root))).outcome == "local"
        with pytest.raises(SourceNotFound, match="is a name, not an address"):
            await sources.resolve("foundation")
    assert [one.active_path for one in answers] == [root, root / "a/b.yaml", root]
    assert {one.source_root for one in answers} == {root}
    assert not place.cache.exists()
