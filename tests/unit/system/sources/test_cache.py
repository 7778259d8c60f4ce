from __future__ import annotations

import errno
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from amplihack.bundles.uris import parse_uri
from amplihack.errors import AmplihackError
from amplihack.system.locks import locked
from amplihack.system.sources.address import Address, address_of
from amplihack.system.sources.cache import Cache, explained
from amplihack.system.sources.cleaning import clean, entries_of
from amplihack.system.sources.errors import SourceNotFound, SourceUnavailable
from amplihack.system.sources.metadata import METADATA, Metadata, read_metadata, write_metadata

GIT = Metadata(cached_at="2026-01-01T00:00:00+00:00", ref="main", commit="c" * 40, git_url="https://h/r")
LATER = replace(GIT, commit="d" * 40)


def source(name: str = "a", ref: str = "main") -> Address:
    return address_of(parse_uri(f"git+https://h/{name}@{ref}"))


def fetched(cache: Cache, address: Address, metadata: Metadata = GIT, text: str = "text") -> Path:
    """A finished directory that is no entry yet."""
    path = cache.aside(address.pointer)
    (path / ".git").mkdir(parents=True)
    (path / ".git" / "HEAD").write_text(f"{metadata.commit}\n")
    (path / "file").write_text(text)
    return path


def entry(cache: Cache, address: Address, metadata: Metadata = GIT, text: str = "text") -> Path:
    found = cache.publish(address, fetched(cache, address, metadata, text), metadata)
    return cache.path(found)


def stored(root: Path, *addresses: Address) -> list[Path]:
    """Entries that nobody uses."""
    cache = Cache(root)
    paths = [entry(cache, address) for address in addresses]
    cache.release()
    return paths


def test_metadata_survives_being_written(tmp_path: Path) -> None:
    write_metadata(tmp_path / METADATA, GIT)
    assert read_metadata(tmp_path / METADATA) == GIT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"commit": 7}',
        '{"sha256": "x", "inside": "../.."}',
        '{"sha256": "x", "inside": "/"}',
        "\xff",
    ],
)
def test_metadata_that_cannot_be_right_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / METADATA).write_bytes(text.encode("latin-1"))
    assert read_metadata(tmp_path / METADATA) is None


def test_unknown_and_odd_metadata_is_left_out(tmp_path: Path) -> None:
    (tmp_path / METADATA).write_text('{"commit": "c", "ref": 7, "new": "x", "origin_size": "big"}')
    assert read_metadata(tmp_path / METADATA) == Metadata(commit="c")


def test_a_version_is_named_by_its_content_and_its_source_points_to_it(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    place = entry(cache, source())
    assert place.name == f"{source().name}@{'c' * 40}"
    assert cache.take(source()) == replace(GIT, entry=place.name)
    assert cache.take(source(ref="other")) is None
    cache.release()


def test_a_pin_finds_the_version_whoever_fetched_it(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    place = entry(cache, source())
    found = cache.take(source(ref="c" * 40))
    assert found is not None
    assert cache.path(found) == place
    assert cache.take(source(ref="e" * 40)) is None
    cache.release()


def test_an_update_adds_a_version_and_leaves_the_old_one_alone(tmp_path: Path) -> None:
    user, writer = Cache(tmp_path), Cache(tmp_path)
    old = entry(user, source(), text="old")
    new = entry(writer, source(), LATER, text="new")
    assert ((old / "file").read_text(), (new / "file").read_text()) == ("old", "new")
    found = user.take(source())
    assert found is not None
    assert found.version == LATER.version
    for cache in (user, writer):
        cache.release()


def test_of_two_who_fetched_the_same_the_second_uses_what_is_there(tmp_path: Path) -> None:
    one, other = Cache(tmp_path), Cache(tmp_path)
    place = entry(one, source(), text="first")
    late = fetched(other, source(ref="dev"), text="second")
    found = other.publish(source(ref="dev"), late, GIT)
    assert other.path(found) == place
    assert (place / "file").read_text() == "first"
    assert late.exists()  # for its owner to discard
    one.release()
    assert clean(Cache(tmp_path), keep=()).kept != ()  # the second one uses it too
    other.release()


@pytest.mark.parametrize("damage", [METADATA, ".git/HEAD"])
def test_a_damaged_version_is_noticed_and_made_anew(tmp_path: Path, damage: str) -> None:
    cache = Cache(tmp_path)
    place = entry(cache, source(), text="damaged")
    (place / damage).unlink()
    assert cache.take(source()) is None
    assert entry(cache, source(), text="whole") == place
    assert (place / "file").read_text() == "whole"
    assert cache.take(source()) is not None
    assert list(cache.incoming.iterdir()) == []
    cache.release()


def test_an_entry_is_in_use_until_its_user_lets_go(tmp_path: Path) -> None:
    stored(tmp_path, source("a"), source("b"))
    user, cleaner = Cache(tmp_path), Cache(tmp_path)
    assert user.take(source("a")) is not None
    assert user.take(source("missing")) is None
    assert [one.in_use for one in entries_of(cleaner)] == [True, False]
    assert [one.name for one in clean(cleaner).removed] == [source("b").entry("c" * 40)]
    assert [path.name for path in cleaner.pointers.iterdir()] == [source("a").pointer]
    user.release()
    assert [one.name for one in clean(cleaner).removed] == [source("a").entry("c" * 40)]
    assert entries_of(cleaner) == ()
    assert list(cleaner.pointers.iterdir()) == []


def test_users_in_many_threads_share_one_lock_for_each_entry(tmp_path: Path) -> None:
    stored(tmp_path, *(source(f"s{number}") for number in range(10)))
    cache, ready = Cache(tmp_path), threading.Barrier(8)
    before = len(list(Path("/dev/fd").iterdir()))

    def work(_: int) -> None:
        ready.wait(60)
        for number in range(10):
            assert cache.take(source(f"s{number}")) is not None

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(list(Path("/dev/fd").iterdir())) == before + 10
    assert all(one.in_use for one in entries_of(cache))
    cache.release()
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_taking_what_is_stored_writes_nothing(tmp_path: Path) -> None:
    """So a cache on a disk that may only be read can be used."""
    stored(tmp_path, source())
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    reader = Cache(tmp_path)
    assert reader.take(source()) is not None
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    reader.release()


def test_a_pointer_that_leads_nowhere_is_as_good_as_none(tmp_path: Path) -> None:
    (place,) = stored(tmp_path, source())
    place.rename(tmp_path / "moved")
    assert Cache(tmp_path).take(source()) is None
    (Cache(tmp_path).pointers / source().pointer).write_text('{"commit": "../..", "entry": "../.."}')
    assert Cache(tmp_path).take(source()) is None


def test_what_is_kept_is_what_its_source_means_now(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    old, new = entry(cache, source(), text="old"), entry(cache, source(), LATER, text="new")
    cache.release()
    report = clean(cache, keep=[source()])
    assert ([one.path for one in report.removed], [one.path for one in report.kept]) == ([old], [new])
    assert clean(cache, keep=[source(ref="d" * 40)]).removed == ()
    assert new.exists()


def test_a_crash_before_the_pointer_leaves_a_version_that_the_next_fetch_uses(tmp_path: Path) -> None:
    (place,) = stored(tmp_path, source())
    cache = Cache(tmp_path)
    (cache.pointers / source().pointer).unlink()
    assert cache.take(source()) is None
    assert entry(cache, source(), text="again") == place
    assert (place / "file").read_text() == "text"
    assert cache.take(source()) is not None
    cache.release()


def test_a_pointer_that_is_being_written_is_left_to_its_writer(tmp_path: Path) -> None:
    stored(tmp_path, source())
    half = Cache(tmp_path).pointers / ".new-half"
    half.write_text("{")
    clean(Cache(tmp_path), keep=[source()])
    assert half.exists()


def test_a_cache_of_an_earlier_version_is_ignored_and_removed(tmp_path: Path) -> None:
    former = tmp_path / source().pointer
    former.mkdir()
    write_metadata(former / METADATA, GIT)
    (tmp_path / ".gate").touch()
    (tmp_path / ".leases").mkdir()
    (tmp_path / ".leases" / "123-dead").write_text(f"{former.name}\n")
    cache = Cache(tmp_path)
    assert cache.take(source()) is None
    assert [one.path for one in clean(cache, keep=[source()], dry_run=True).removed] == [former]
    assert former.exists()
    assert [one.path for one in clean(cache, keep=[source()]).removed] == [former]
    assert sorted(path.name for path in tmp_path.iterdir() if path.name not in (".incoming", ".locks")) == []


def test_what_is_not_ours_is_neither_listed_nor_removed(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    (tmp_path / "registry.json").touch()
    assert entries_of(cache) == ()
    assert clean(cache).removed == ()
    assert (tmp_path / "other" / "file").exists()


def test_sizes_are_those_of_the_files(tmp_path: Path) -> None:
    (path,) = stored(tmp_path, source())
    (path / "large").write_text("x" * 1000)
    (path / "loop").symlink_to(".")
    files = [file for file in path.rglob("*") if file.is_file() and not file.is_symlink()]
    size = sum(file.stat().st_size for file in files) + len(".")
    assert size > 1000
    assert [one.size for one in entries_of(Cache(tmp_path))] == [size]
    assert clean(Cache(tmp_path), dry_run=True).freed == size
    assert path.exists()


def test_what_died_halfway_is_listed_and_removed_unless_it_is_alive(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    half = tmp_path / ".incoming" / "a-1.0123"
    half.mkdir(parents=True)
    assert [(one.name, one.complete) for one in entries_of(cache)] == [("a-1", False)]
    with locked(tmp_path / ".locks" / "a-1"):
        assert clean(cache).removed == ()
        assert half.exists()
    assert len(clean(cache, dry_run=True).removed) == 1
    assert half.exists()
    assert len(clean(cache).removed) == 1
    assert not half.exists()


def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path)
    old = entry(cache, source(), text="old")
    new = fetched(cache, source(), LATER, text="new")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SourceUnavailable, match="No space left on device"):
        cache.publish(source(), new, LATER)
    found = cache.take(source())
    assert found is not None
    assert cache.path(found) == old
    cache.release()


def test_errors_of_the_machine_become_errors_of_the_source() -> None:
    for error in (OSError(28, "No space left on device"), AmplihackError("No space left on device")):
        wanted = "cannot keep x: No space left on device"
        with pytest.raises(SourceUnavailable, match=wanted), explained("cannot keep x"):
            raise error
    with pytest.raises(SourceNotFound, match=r"^gone$"), explained("cannot keep x"):
        raise SourceNotFound("gone")
