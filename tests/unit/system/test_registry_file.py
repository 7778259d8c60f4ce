from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from amplihack.errors import AmplihackError
from amplihack.system.registry_file import change_entries, read_entries, read_registered, remember


def test_names_are_remembered_beside_what_is_known(tmp_path: Path) -> None:
    remember(tmp_path, {"a": "git+https://h/a@main"})
    remember(tmp_path, {"b": "git+https://h/b@main"})
    assert read_registered(tmp_path) == {"a": "git+https://h/a@main", "b": "git+https://h/b@main"}


def test_nothing_is_written_when_nothing_is_new(tmp_path: Path) -> None:
    remember(tmp_path, {"a": "x"})
    before = (tmp_path / "registry.json").stat().st_mtime_ns
    remember(tmp_path, {"a": "x"})
    remember(tmp_path, {})
    assert (tmp_path / "registry.json").stat().st_mtime_ns == before


def test_other_fields_of_an_entry_stay(tmp_path: Path) -> None:
    change_entries(tmp_path, {"a": {"name": "a", "uri": "old", "version": "1"}})
    remember(tmp_path, {"a": "new"})
    assert read_entries(tmp_path)["a"] == {"name": "a", "uri": "new", "version": "1"}
    change_entries(tmp_path, {"a": {"uri": "whole"}}, whole=True)
    assert read_entries(tmp_path) == {"a": {"uri": "whole"}}
    change_entries(tmp_path, {}, ["a", "never-there"])
    assert read_entries(tmp_path) == {}


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: remember(tmp_path, {f"b{each}": "x"}), range(24)))
    assert read_registered(tmp_path).keys() == {f"b{each}" for each in range(24)}


def test_a_file_that_makes_no_sense_is_kept_aside_and_told(tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text("{")
    told: list[str] = []
    assert read_entries(tmp_path, told.append) == {}
    assert len(told) == 1
    assert (tmp_path / "registry.json.unreadable").read_text() == "{"


def test_entries_of_another_shape_are_passed_over(tmp_path: Path) -> None:
    data = {"version": 1, "bundles": {"a": {"uri": "x"}, "b": 3, "c": {"uri": 7}, "d": {}}}
    (tmp_path / "registry.json").write_text(json.dumps(data))
    assert read_registered(tmp_path) == {"a": "x"}


def test_a_home_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AmplihackError, match="cannot make"):
        remember(tmp_path / "file" / "home", {"a": "x"})
