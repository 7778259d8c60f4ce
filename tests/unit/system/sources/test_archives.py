from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from amplihack.system.sources.archives import safe_parts, top_of, unpack
from amplihack.system.sources.errors import SourceRefused
from amplihack.system.sources.metadata import METADATA
from amplihack.system.sources.model import FetchLimits
from amplihack.system.sources.threads import Stop, Stopped

SMALL = FetchLimits(unpacked_bytes=1_000_000, unpacked_entries=20, unpacked_ratio=10, ratio_floor=10_000)
Fill: TypeAlias = Callable[[tarfile.TarFile], None]


def unpacked(archive: Path, *, limits: FetchLimits = SMALL) -> Path:
    into = archive.parent / "out"
    unpack(archive, into, limits, stop=Stop(), uri="zip+file:///x")
    return into


def make_zip(path: Path, *members: tuple[str | zipfile.ZipInfo, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members:
            archive.writestr(name, text)
    return path


def make_tar(path: Path, fill: Fill) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        fill(archive)
    return path


def tar_member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def zip_link(name: str, target: str) -> tuple[zipfile.ZipInfo, str]:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info, target


NAMES = ["../x", "a/../../x", "/etc/x", "..", "a\\..\\x", "C:\\x", "c:x", "a/\0b"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_leads_out_is_refused(name: str) -> None:
    with pytest.raises(SourceRefused, match="leads out"):
        safe_parts(name)


@pytest.mark.parametrize("name", [METADATA, METADATA.upper(), f"./{METADATA}/x"])
def test_our_own_names_are_reserved(name: str) -> None:
    with pytest.raises(SourceRefused, match="reserved"):
        safe_parts(name)


@pytest.mark.parametrize("name", ["../x", "/etc/x"])
def test_traversal_is_refused_in_both_formats(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceRefused, match=r"zip\+file:///x: .* leads out"):
        unpacked(make_zip(tmp_path / "x.zip", (name, "x")))
    (tmp_path / "out").rmdir()
    with pytest.raises(SourceRefused, match="leads out"):
        unpacked(make_tar(tmp_path / "x.tgz", lambda tar: tar.addfile(tar_member(name))))


def test_files_keep_their_content_and_whether_they_can_be_run(tmp_path: Path) -> None:
    script = zipfile.ZipInfo("bin/run")
    script.external_attr = (stat.S_IFREG | stat.S_ISUID | 0o777) << 16
    out = unpacked(make_zip(tmp_path / "x.zip", ("a/", ""), ("a/b.md", "text"), (script, "#!/bin/sh")))
    assert (out / "a/b.md").read_text() == "text"
    assert stat.S_IMODE((out / "a/b.md").stat().st_mode) & 0o111 == 0
    assert stat.S_IMODE((out / "bin/run").stat().st_mode) & 0o7111 == 0o111


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "a/../../outside", "d/../../x"])
def test_links_that_lead_out_are_refused(tmp_path: Path, target: str) -> None:
    with pytest.raises(SourceRefused, match="leads out"):
        unpacked(make_zip(tmp_path / "x.zip", ("a/f", ""), zip_link("l", target)))
    with pytest.raises(SourceRefused, match="leads out"):
        (tmp_path / "again").mkdir()
        link = tar_member("l", tarfile.SYMTYPE, target)
        unpacked(make_tar(tmp_path / "again" / "x.tgz", lambda tar: tar.addfile(link)))


def test_links_that_lead_out_by_way_of_each_other_are_refused(tmp_path: Path) -> None:
    links = (zip_link("sub/d", ".."), zip_link("e", "sub/d/../../x"))
    with pytest.raises(SourceRefused, match="leads out"):
        unpacked(make_zip(tmp_path / "x.zip", ("sub/f", ""), *links))


def test_links_inside_are_kept(tmp_path: Path) -> None:
    out = unpacked(make_zip(tmp_path / "x.zip", ("a/f", "text"), zip_link("b/l", "../a/f")))
    assert (out / "b/l").is_symlink()
    assert (out / "b/l").read_text() == "text"


def test_without_the_filter_of_later_pythons_nothing_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(tarfile, "data_filter")
    with pytest.raises(SourceRefused, match="cannot unpack it safely"):
        unpacked(make_zip(tmp_path / "x.zip", ("a", "x")))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", [stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_pipes_devices_and_sockets_are_refused_in_a_zip_too(tmp_path: Path, kind: int) -> None:
    odd = zipfile.ZipInfo("x")
    odd.create_system, odd.external_attr = 3, (kind | 0o644) << 16
    with pytest.raises(SourceRefused, match="neither file nor directory nor link"):
        unpacked(make_zip(tmp_path / "x.zip", (odd, "")))


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    with pytest.raises(SourceRefused, match="below something that is not a directory"):
        unpacked(make_zip(tmp_path / "x.zip", ("e/f", ""), zip_link("d", "e"), ("d/f", "x")))


def test_a_hard_link_is_a_copy_of_what_came_before_it(tmp_path: Path) -> None:
    def fill(tar: tarfile.TarFile) -> None:
        info = tar_member("a")
        info.size = 4
        tar.addfile(info, io.BytesIO(b"text"))
        tar.addfile(tar_member("b", tarfile.LNKTYPE, "a"))

    out = unpacked(make_tar(tmp_path / "x.tgz", fill))
    assert (out / "b").read_text() == "text"
    assert (out / "b").stat().st_nlink == 1


@pytest.mark.parametrize("target", ["nothing", "../x", "/etc/passwd"])
def test_a_hard_link_to_anything_else_is_refused(tmp_path: Path, target: str) -> None:
    with pytest.raises(SourceRefused, match=r"does not hold|leads out"):
        link = tar_member("b", tarfile.LNKTYPE, target)
        unpacked(make_tar(tmp_path / "x.tgz", lambda tar: tar.addfile(link)))


@pytest.mark.parametrize("kind", [tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE])
def test_pipes_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(SourceRefused, match="neither file nor directory nor link"):
        unpacked(make_tar(tmp_path / "x.tgz", lambda tar: tar.addfile(tar_member("x", kind))))


@pytest.mark.parametrize("second", ["a", "./a", "a/b", "a//"])
def test_two_entries_for_one_place_are_refused(tmp_path: Path, second: str) -> None:
    def fill(tar: tarfile.TarFile) -> None:
        tar.addfile(tar_member("a"))
        tar.addfile(tar_member(second))

    with pytest.raises(SourceRefused, match=r"twice|below something"):
        unpacked(make_tar(tmp_path / "x.tgz", fill))


def test_too_many_entries_are_refused(tmp_path: Path) -> None:
    members = [(f"f{number}", "") for number in range(21)]
    with pytest.raises(SourceRefused, match="more than 20 entries"):
        unpacked(make_zip(tmp_path / "x.zip", *members))


def test_too_many_bytes_are_refused_in_both_formats(tmp_path: Path) -> None:
    limits = FetchLimits(unpacked_bytes=1_000_000, ratio_floor=10**9)
    with pytest.raises(SourceRefused, match="larger than 1000000 bytes"):
        unpacked(make_zip(tmp_path / "x.zip", ("a", "x" * 600_000), ("b", "x" * 600_000)), limits=limits)
    (tmp_path / "tar").mkdir()

    def fill(tar: tarfile.TarFile) -> None:
        info = tar_member("a")
        info.size = 2_000_000
        tar.addfile(info, io.BytesIO(b"x" * 2_000_000))

    with pytest.raises(SourceRefused, match="larger than 1000000 bytes"):
        unpacked(make_tar(tmp_path / "tar" / "x.tgz", fill), limits=limits)


def test_headers_count_as_bytes(tmp_path: Path) -> None:
    def fill(tar: tarfile.TarFile) -> None:
        info = tar_member("a")
        info.pax_headers = {"comment": "x" * 3_000_000}
        tar.addfile(info)

    limits = FetchLimits(unpacked_bytes=100_000, unpacked_entries=10)
    with pytest.raises(SourceRefused, match="too large"):
        unpacked(make_tar(tmp_path / "x.tgz", fill), limits=limits)


def test_a_bomb_is_recognised_by_its_ratio(tmp_path: Path) -> None:
    with pytest.raises(SourceRefused, match="more than 10 times its size"):
        unpacked(make_zip(tmp_path / "x.zip", ("a", "0" * 500_000)))


def test_an_encrypted_entry_is_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "x.zip", ("a", "text"))
    data = bytearray(archive.read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1
    archive.write_bytes(data)
    with pytest.raises(SourceRefused, match="encrypted"):
        unpacked(archive)


@pytest.mark.parametrize("keep", [0.3, 0.7, 0.95])
def test_a_truncated_archive_is_refused(tmp_path: Path, keep: float) -> None:
    whole = make_tar(tmp_path / "x.tgz", lambda tar: tar.add(__file__, "bundle.md"))
    data = whole.read_bytes()
    whole.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(SourceRefused, match="damaged"):
        unpacked(whole)


def test_a_wrong_checksum_inside_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "x.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("a", "original")
    archive.write_bytes(archive.read_bytes().replace(b"original", b"modified"))
    with pytest.raises(SourceRefused, match="damaged"):
        unpacked(archive)


def test_an_empty_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceRefused, match="empty"):
        unpacked(make_zip(tmp_path / "x.zip"))


def test_unpacking_stops_when_it_is_no_longer_wanted(tmp_path: Path) -> None:
    stop = Stop()
    stop.ask()
    with pytest.raises(Stopped):
        unpack(make_zip(tmp_path / "x.zip", ("a", "x")), tmp_path / "out", SMALL, stop=stop, uri="x")


@pytest.mark.parametrize(
    ("files", "top"),
    [
        (["repo/bundle.md"], "repo"),
        (["bundle.yaml"], ""),
        (["repo/x", "other/x"], ""),
        (["repo/x", METADATA], "repo"),
        (["file"], ""),
    ],
)
def test_one_directory_that_holds_everything_is_entered(tmp_path: Path, files: list[str], top: str) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert top_of(tmp_path) == top
