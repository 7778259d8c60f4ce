from __future__ import annotations

from pathlib import Path

import pytest

from amplihack.system.sources import publish as publishing
from amplihack.system.sources.publish import exchange, publish, recover, remove_tree


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("new", "place"):
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "inner" / "which").write_text(name)
    return tmp_path / "new", tmp_path / "place"


def which(path: Path) -> str:
    return (path / "inner" / "which").read_text()


def test_an_empty_place_is_taken(two: tuple[Path, Path]) -> None:
    new, place = two
    remove_tree(place)
    publish(new, place)
    assert which(place) == "new"
    assert not new.exists()


@pytest.mark.parametrize("in_one_step", [True, False])
def test_what_was_there_is_handed_back(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, in_one_step: bool
) -> None:
    new, place = two
    if not in_one_step:
        monkeypatch.setattr(publishing, "exchange", lambda *_: False)
    publish(new, place)
    assert (which(place), which(new)) == ("new", "place")
    assert sorted(path.name for path in new.parent.iterdir()) == ["new", "place"]


def test_names_are_swapped_here_in_one_step(two: tuple[Path, Path]) -> None:
    new, place = two
    assert exchange(new, place)
    assert (which(place), which(new)) == ("new", "place")


def test_swapping_with_nothing_is_an_error(two: tuple[Path, Path]) -> None:
    with pytest.raises(FileNotFoundError):
        exchange(two[0], two[1].parent / "nothing")
    assert which(two[0]) == "new"


def test_a_replacement_that_died_halfway_is_undone(tmp_path: Path, two: tuple[Path, Path]) -> None:
    _, place = two
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    place.rename(incoming / "place.old")
    recover(place, incoming)
    assert which(place) == "place"
    recover(place, incoming)
    assert which(place) == "place"


def test_read_only_directories_are_removed_too(two: tuple[Path, Path]) -> None:
    new, _ = two
    (new / "inner" / "which").chmod(0o400)
    (new / "inner").chmod(0o500)
    new.chmod(0o500)
    remove_tree(new)
    assert not new.exists()
    remove_tree(new)


def test_links_are_removed_and_not_followed(two: tuple[Path, Path], tmp_path: Path) -> None:
    new, place = two
    (new / "link").symlink_to(place)
    remove_tree(new)
    (tmp_path / "link").symlink_to(place)
    remove_tree(tmp_path / "link")
    assert which(place) == "place"
