from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from amplihack.errors import DocumentError, NotFound
from amplihack.system.recipe_manifest import MANIFEST, ManifestChange, check_upstream_changes, update_manifest


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_the_manifest_maps_yaml_stems_to_short_hashes(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("name: b")
    (tmp_path / "a.yaml").write_text("name: a")
    (tmp_path / "c.yml").write_text("name: c")
    path = update_manifest(tmp_path)
    assert path == tmp_path / "_recipe_manifest.json"
    expected = {"a": digest("name: a"), "b": digest("name: b")}
    assert path.read_text() == json.dumps(expected, indent=2) + "\n"


def test_nothing_changed_right_after_writing(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: a")
    update_manifest(tmp_path)
    assert check_upstream_changes(tmp_path) == ()


def test_changes_are_new_modified_or_deleted(tmp_path: Path) -> None:
    for name in ("gone", "kept", "other"):
        (tmp_path / f"{name}.yaml").write_text(name)
    update_manifest(tmp_path)
    (tmp_path / "gone.yaml").unlink()
    (tmp_path / "other.yaml").write_text("changed")
    (tmp_path / "fresh.yaml").write_text("fresh")
    assert check_upstream_changes(tmp_path) == (
        ManifestChange("fresh", "new", digest("fresh"), ""),
        ManifestChange("gone", "deleted", "", digest("gone")),
        ManifestChange("other", "modified", digest("changed"), digest("other")),
    )


def test_without_a_manifest_every_file_is_new(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a")
    assert [change.status for change in check_upstream_changes(tmp_path)] == ["new"]


def test_without_a_directory_nothing_changed() -> None:
    assert check_upstream_changes(None) == ()


def test_a_missing_directory_is_not_found(tmp_path: Path) -> None:
    for work in (update_manifest, check_upstream_changes):
        with pytest.raises(NotFound, match="Recipe directory not found"):
            work(tmp_path / "missing")


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', "[" * 100_000, "\udcff"])
def test_a_damaged_manifest_is_an_error_and_not_an_empty_one(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DocumentError, match="recipe manifest") as caught:
        check_upstream_changes(tmp_path)
    assert caught.value.fix
