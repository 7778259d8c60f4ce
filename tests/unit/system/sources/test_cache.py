from __future__ import annotations

import errno
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from amplihack.errors import AmplihackError
from amplihack.system.locks import LockError, locked, try_lock
from amplihack.system.sources import leases
from amplihack.system.sources.cache import Cache, explained
from amplihack.system.sources.errors import SourceNotFound, SourceUnavailable
from amplihack.system.sources.leases import in_use, is_read_only
from amplihack.system.sources.metadata import METADATA, Metadata, read_metadata, write_metadata

GIT = Metadata(cached_at="2026-01-01T00:00:00+00:00", ref="main", commit="c" * 40, git_url="https://h/r")


def entry(cache: Cache, name: str, text: str = "text") -> Path:
    path = cache.root / name
    path.mkdir(parents=True)
    (path / "file").write_text(text)
    write_metadata(path, GIT)
    return path


def take(cache: Cache, name: str) -> Metadata | None:
    return cache.take(name, lambda *_: True)


def test_metadata_survives_being_written(tmp_path: Path) -> None:
    write_metadata(tmp_path, GIT)
    assert read_metadata(tmp_path) == GIT


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
    assert read_metadata(tmp_path) is None


def test_unknown_and_odd_metadata_is_left_out(tmp_path: Path) -> None:
    (tmp_path / METADATA).write_text('{"commit": "c", "ref": 7, "new": "x", "origin_size": "big"}')
    assert read_metadata(tmp_path) == Metadata(commit="c")


def test_an_entry_is_in_use_until_its_user_lets_go(tmp_path: Path) -> None:
    user, cleaner = Cache(tmp_path), Cache(tmp_path)
    entry(user, "a-1")
    entry(user, "b-1")
    assert take(user, "a-1") == GIT
    assert take(user, "missing") is None
    assert [one.in_use for one in cleaner.entries()] == [True, False]
    assert [one.name for one in cleaner.clean().removed] == ["b-1"]
    user.lease.release()
    assert [one.name for one in cleaner.clean().removed] == ["a-1"]
    assert cleaner.entries() == ()


def test_users_in_many_threads_share_one_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slowly = partial(time.sleep, 0.005)
    monkeypatch.setattr(leases, "try_lock", lambda path: (slowly(), try_lock(path))[1])  # a slow disk
    cache, names = Cache(tmp_path), [f"entry-{number}" for number in range(40)]
    for name in names:
        entry(cache, name)
    ready = threading.Barrier(8)

    def work(mine: list[str]) -> None:
        ready.wait(60)
        for name in mine:
            assert take(cache, name)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, [names[start::8] for start in range(8)]))
    assert len(list((tmp_path / ".leases").iterdir())) == 1
    assert all(one.in_use for one in cache.entries())
    cache.lease.release()


def test_what_a_dead_process_had_moved_aside_is_used_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    aside = tmp_path / ".incoming" / "a-1.old"
    aside.parent.mkdir()
    entry(cache, "a-1").rename(aside)
    with locked(tmp_path / ".locks" / "a-1"):
        assert take(cache, "a-1") is None  # somebody is between the two steps
    assert take(cache, "a-1") == GIT
    assert not aside.exists()
    cache.lease.release()


def test_a_lease_of_a_dead_process_counts_for_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    entry(cache, "a-1")
    (tmp_path / ".leases").mkdir()
    (tmp_path / ".leases" / "123-dead").write_text("a-1\n")
    assert [one.in_use for one in cache.entries()] == [False]
    assert list((tmp_path / ".leases").iterdir()) == []


def test_what_is_not_ours_is_neither_listed_nor_removed(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    (tmp_path / "registry.json").touch()
    assert cache.entries() == ()
    assert cache.clean().removed == ()
    assert (tmp_path / "other" / "file").exists()


def test_sizes_are_those_of_the_files(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    path = entry(cache, "a-1", "x" * 1000)
    (path / "loop").symlink_to(".")
    metadata = (path / METADATA).stat().st_size
    assert [one.size for one in cache.entries()] == [1000 + metadata + len(".")]
    assert cache.clean(dry_run=True).freed == 1000 + metadata + len(".")
    assert path.exists()


def test_what_died_halfway_is_listed_and_removed_unless_it_is_alive(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    half = tmp_path / ".incoming" / "a-1.0123"
    half.mkdir(parents=True)
    assert [(one.name, one.complete) for one in cache.entries()] == [("a-1", False)]
    with locked(tmp_path / ".locks" / "a-1"):
        assert cache.clean().removed == ()
        assert half.exists()
    assert len(cache.clean().removed) == 1
    assert not half.exists()


def test_an_entry_that_somebody_uses_is_not_replaced_unless_forced(tmp_path: Path) -> None:
    user, writer = Cache(tmp_path), Cache(tmp_path)
    place = entry(user, "a-1", "old")
    new = entry(user, ".incoming/a-1.new", "new")
    take(user, "a-1")
    assert not writer.publish("a-1", new, GIT, force=False)
    assert (place / "file").read_text() == "old"
    assert writer.publish("a-1", new, GIT)
    assert (place / "file").read_text() == "new"
    assert in_use(tmp_path / ".leases", except_by=user.lease.path) == {"a-1"}
    for cache in (user, writer):
        cache.lease.release()


def test_a_cache_that_may_only_be_read_can_still_be_used() -> None:
    for number, read_only in ((errno.EROFS, True), (errno.EACCES, True), (errno.ENOSPC, False)):
        error = LockError("no lock")
        error.__cause__ = OSError(number, "no")
        assert is_read_only(error) is read_only


def test_errors_of_the_machine_become_errors_of_the_source() -> None:
    for error in (OSError(28, "No space left on device"), AmplihackError("No space left on device")):
        wanted = "cannot keep x: No space left on device"
        with pytest.raises(SourceUnavailable, match=wanted), explained("cannot keep x"):
            raise error
    with pytest.raises(SourceNotFound, match=r"^gone$"), explained("cannot keep x"):
        raise SourceNotFound("gone")
