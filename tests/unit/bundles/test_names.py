from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from amplihack.bundles.names import WELL_KNOWN, KnownNames, NameTable
from amplihack.bundles.ports import Namespace
from amplihack.bundles.settings import Settings, added_bundles, anchor_settings, decode_settings
from amplihack.bundles.tree import to_plain
from amplihack.system.bundle_files import BundleFiles


def settings(text: str) -> Settings:
    return decode_settings(text, "/p/settings.yaml")


def known(
    said: Settings, folders: tuple[Path, ...] = (), registered: Mapping[str, str] | None = None
) -> KnownNames:
    return KnownNames(
        files=BundleFiles(),
        added=added_bundles(said),
        registered=registered or {},
        folders=tuple(map(str, folders)),
        well_known=WELL_KNOWN,
    )


def test_the_first_source_that_has_a_name_wins(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("")
    (tmp_path / "foundation.md").write_text("")
    added = settings("bundle: {added: {one: git+https://h/one@main}}")
    assert known(added, (tmp_path,), {"one": "x"}).lookup("one") == known(added).lookup("one")
    registered = known(Settings(), (tmp_path,), {"one": "x"}).lookup("one")
    assert registered is not None
    assert (registered.uri, registered.source) == ("x", "registry")
    in_folder = known(Settings(), (tmp_path,)).lookup("foundation")
    assert in_folder is not None
    assert in_folder.uri == f"file://{tmp_path}/foundation.md"
    well_known = known(Settings()).lookup("foundation")
    assert well_known is not None
    assert well_known.uri == WELL_KNOWN["foundation"]


def test_a_name_of_this_load_comes_before_all_others() -> None:
    names = NameTable(known(Settings(), registered={"a": "elsewhere"}))
    assert names.namespace("a") == Namespace("elsewhere")
    names.learn("a", Namespace("file:///here", "/here"), "file:///here/bundle.md")
    assert names.namespace("a") == Namespace("file:///here", "/here")
    assert names.bundle("a") == "file:///here/bundle.md"


def test_only_names_of_this_load_count_while_more_may_come() -> None:
    names = NameTable(known(Settings(), registered={"a": "elsewhere"}), wide=False)
    assert names.namespace("a") is None


def test_the_first_to_claim_a_name_keeps_it() -> None:
    names = NameTable(known(Settings()))
    first = Namespace("file:///one", "/one")
    assert names.learn("a", first) is None
    assert names.learn("a", Namespace("file:///two", "/two"), "file:///two/x.md") == first
    assert names.bundle("a") is None


def test_folders_that_are_not_there_have_no_names(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("")
    names = {each.name for each in known(Settings(), (tmp_path, tmp_path / "nowhere")).every()}
    assert names == set(WELL_KNOWN)
    assert known(Settings(), (tmp_path,)).lookup("..") is None


def test_relative_paths_of_settings_start_where_the_settings_belong_to() -> None:
    made = anchor_settings(
        settings(
            "bundle: {active: ./a, added: {x: ../b, y: git+https://h/y@main}, app: [./c.md]}\n"
            "modules: {tools: [{module: t, source: ./t, config: {path: ./stays}}]}\n"
            "overrides: {o: {source: ./o, config: {path: ./stays}}}\n"
            "sources: {modules: {m: ./m}}\n"
        ),
        "/p",
    )
    assert to_plain(made.rest) == {
        "bundle": {"active": "/p/a", "added": {"x": "/b", "y": "git+https://h/y@main"}, "app": ["/p/c.md"]},
        "overrides": {"o": {"source": "/p/o", "config": {"path": "./stays"}}},
        "sources": {"modules": {"m": "/p/m"}},
    }
    assert to_plain(made.modules["tools"])["t"] == {
        "module": "t",
        "source": "/p/t",
        "config": {"path": "./stays"},
    }
