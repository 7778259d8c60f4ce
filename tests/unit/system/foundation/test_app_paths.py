from __future__ import annotations

from pathlib import Path

import pytest

from amplihack.system.foundation.app_paths import (
    amplifier_home,
    find_bundle_root,
    find_files,
    normalize_path,
)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [(None, "user/.amplifier"), ("", "user/.amplifier"), ("~/a", "user/a"), ("x/../b", "b")],
)
def test_the_home_is_the_setting_or_lies_in_the_users(
    tmp_path: Path, setting: str | None, expected: str
) -> None:
    environment = {"HOME": str(tmp_path / "user")}
    if setting is not None:
        environment["AMPLIFIER_HOME"] = setting
    assert amplifier_home(environment, tmp_path) == tmp_path.resolve() / expected


def test_paths_become_absolute_with_links_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    real = (tmp_path / "real").resolve()
    assert normalize_path("link/x", relative_to=tmp_path) == real / "x"
    assert normalize_path(tmp_path / "link") == real
    assert normalize_path("file.txt") == Path.cwd().resolve() / "file.txt"
    assert normalize_path("~/x") == Path.home().resolve() / "x"


@pytest.mark.asyncio
async def test_files_are_found_below_a_directory_or_in_it_alone(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", "in/c.md", "in/x.txt", "dir.md/y.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert await find_files(tmp_path, "*.md") == [tmp_path / "a.md", tmp_path / "b.md", tmp_path / "in/c.md"]
    assert await find_files(tmp_path, "**/c.md") == [tmp_path / "in/c.md"]
    assert await find_files(tmp_path, "*.md", recursive=False) == [tmp_path / "a.md", tmp_path / "b.md"]
    assert await find_files(tmp_path / "missing", "*") == []


@pytest.mark.parametrize("name", ["bundle.md", "bundle.yaml", "bundle.yml"])
@pytest.mark.asyncio
async def test_the_nearest_bundle_above_is_the_root(tmp_path: Path, name: str) -> None:
    deep = tmp_path / "root" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "root" / name).touch()
    (deep / "file.txt").touch()
    root = (tmp_path / "root").resolve()
    assert await find_bundle_root(deep) == root
    assert await find_bundle_root(deep / "file.txt") == root
    assert await find_bundle_root(tmp_path / "root") == root


@pytest.mark.asyncio
async def test_without_a_bundle_there_is_no_root(tmp_path: Path) -> None:
    assert await find_bundle_root(tmp_path) is None
