"""Nothing outside is reached, by no spelling, no link, and no change at the wrong moment."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from amplihack.errors import AmplihackError, NotFound
from amplihack.system.fence import Fence, OutsideFence


@pytest.fixture
def place(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    (inside / "deep").mkdir(parents=True)
    (inside / "note.txt").write_text("inside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    return inside


def fence(place: Path, **more: object) -> Fence:
    return Fence(allowed=(place,), **more)  # type: ignore[arg-type]


def read(fence: Fence, path: Path) -> str:
    with fence.reading(path) as file:
        return file.read().decode()


@pytest.mark.parametrize(
    "spelling",
    [
        "../outside/secret.txt",
        "deep/../../outside/secret.txt",
        "./.././outside/./secret.txt",
        "/etc/passwd",
        "/proc/self/root/etc/passwd",
        "/proc/self/environ",
        "/dev/fd/0",
        "//etc/passwd",
        "deep/../../../../../../../../etc/passwd",
    ],
)
def test_no_spelling_leads_outside(place: Path, spelling: str) -> None:
    with pytest.raises((OutsideFence, NotFound)):
        read(fence(place), place / spelling)
    with pytest.raises((OutsideFence, NotFound)):
        fence(place).write(place / spelling, b"x")
    assert (place.parent / "outside" / "secret.txt").read_text() == "secret"


@pytest.mark.parametrize(
    "target", ["../outside/secret.txt", "{outside}/secret.txt", "deep/../../outside/secret.txt", "second"]
)
def test_no_link_leads_outside(place: Path, target: str) -> None:
    outside = place.parent / "outside"
    (place / "second").symlink_to(outside / "secret.txt")
    (place / "link").symlink_to(target.format(outside=outside))
    with pytest.raises(OutsideFence):
        read(fence(place), place / "link")
    with pytest.raises(OutsideFence):
        fence(place).write(place / "link", b"x")
    assert (outside / "secret.txt").read_text() == "secret"


def test_no_linked_directory_leads_outside(place: Path) -> None:
    (place / "folder").symlink_to(place.parent / "outside")
    for path in (place / "folder" / "secret.txt", place / "deep" / ".." / "folder" / "secret.txt"):
        with pytest.raises(OutsideFence):
            read(fence(place), path)
    with pytest.raises(OutsideFence):
        fence(place).write(place / "folder" / "new.txt", b"x")
    with pytest.raises(OutsideFence):
        fence(place).write(place / "folder" / "new" / "new.txt", b"x")
    with pytest.raises(OutsideFence):
        fence(place).list(place / "folder")
    assert sorted(os.listdir(place.parent / "outside")) == ["secret.txt"]  # noqa: PTH208


def test_links_inside_are_followed(place: Path) -> None:
    (place / "deep" / "up").symlink_to("../note.txt")
    (place / "whole").symlink_to(place / "deep")
    assert read(fence(place), place / "whole" / "up") == "inside"
    fence(place).write(place / "whole" / "up", b"changed")
    assert (place / "note.txt").read_text() == "changed"
    assert (place / "deep" / "up").is_symlink()


def test_two_dots_behind_a_link_mean_what_the_system_means(place: Path) -> None:
    (place / "deep" / "deeper").mkdir()
    (place / "short").symlink_to("deep/deeper")
    (place / "deep" / "here.txt").write_text("deep")
    assert read(fence(place), place / "short" / ".." / "here.txt") == "deep"


def test_a_circle_of_links_ends(place: Path) -> None:
    (place / "a").symlink_to("b")
    (place / "b").symlink_to("a")
    with pytest.raises(NotFound, match="circle"):
        read(fence(place), place / "a")


def test_what_is_denied_is_denied_by_every_name(place: Path) -> None:
    (place / "keys").mkdir()
    (place / "keys" / "id").write_text("secret")
    (place / "alias").symlink_to("keys")
    denying = fence(place, denied=(place / "keys",))
    for path in (place / "keys" / "id", place / "alias" / "id", place / "deep/../keys/id"):
        with pytest.raises(OutsideFence, match="denied"):
            read(denying, path)
    with pytest.raises(OutsideFence, match="denied"):
        fence(place, denied=(place / "note.txt",)).write(place / "note.txt", b"x")
    with pytest.raises(OutsideFence, match="denied"):
        fence(place, denied=(place / "later",)).write(place / "later" / "x", b"x")


def test_one_file_may_be_allowed_by_itself(place: Path) -> None:
    only = Fence(allowed=(place / "note.txt",))
    assert read(only, place / "note.txt") == "inside"
    with pytest.raises(OutsideFence):
        only.write(place / "other.txt", b"x")


def test_pipes_and_devices_are_not_opened(place: Path) -> None:
    os.mkfifo(place / "pipe")
    with pytest.raises(AmplihackError, match="no regular file"):
        read(fence(place), place / "pipe")
    with pytest.raises(AmplihackError, match="no regular file"):
        fence(place).write(place / "pipe", b"x")


@pytest.mark.parametrize("name", ["a\0b", "x" * 300])
def test_names_that_no_system_has_are_refused(place: Path, name: str) -> None:
    with pytest.raises((AmplihackError, OSError)):
        read(fence(place), place / name)


def test_a_file_keeps_its_mode_and_a_new_one_gets_that_of_new_files(place: Path) -> None:
    (place / "note.txt").chmod(0o640)
    fence(place).write(place / "note.txt", b"x")
    assert (place / "note.txt").stat().st_mode & 0o777 == 0o640
    fence(place).write(place / "a" / "b" / "new.txt", b"x")
    (place / "plain").touch()
    assert (place / "a/b/new.txt").stat().st_mode == (place / "plain").stat().st_mode


def test_a_directory_that_turns_into_a_link_and_back_never_leads_outside(place: Path) -> None:
    """The classic race: checked as a directory, used as a link."""
    outside = place.parent / "outside"
    (outside / "note.txt").write_text("secret")
    (place / "real").mkdir()
    (place / "real" / "note.txt").write_text("inside")
    (place / "link").symlink_to(outside)
    flip, stop = place / "flip", threading.Event()
    (place / "real").rename(flip)

    def put(name: str) -> None:
        while True:
            try:
                (place / name).rename(flip)
            except OSError:  # a write has just made a directory in the gap
                shutil.rmtree(flip, ignore_errors=True)
            else:
                return

    def swap() -> None:
        while not stop.is_set():
            flip.rename(place / "real")
            put("link")
            flip.rename(place / "link")
            put("real")

    thread = threading.Thread(target=swap)
    thread.start()
    seen, written = set(), 0
    try:
        for _ in range(3_000):
            try:
                seen.add(read(fence(place), flip / "note.txt"))
                fence(place).write(flip / "new.txt", b"x")
                written += 1
            except (AmplihackError, OSError):
                continue
    finally:
        stop.set()
        thread.join()
    assert "secret" not in seen
    assert not (outside / "new.txt").exists()
    assert written


def test_a_link_in_a_circle_does_not_hide_the_rest_of_a_directory(place: Path) -> None:
    (place / "first").symlink_to("second")
    (place / "second").symlink_to("first")
    assert {"first", "second"} <= set(fence(place).list(place))
