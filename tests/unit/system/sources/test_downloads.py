from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import os
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from tests.support.git_server import WebServer, first, say, serving
from tests.support.source_place import Place, clean_place, until

from amplihack.system.sources import FetchLimits
from amplihack.system.sources.errors import SourceError, SourceNotFound, SourceRefused, SourceUnavailable

pytestmark = pytest.mark.asyncio


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with clean_place(tmp_path) as place:
        yield place


@pytest.fixture
def server() -> Iterator[WebServer]:
    with serving(WebServer()) as server:
        yield server


def zipped(files: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def tarred(files: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return data.getvalue()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def test_a_single_file_keeps_its_name_and_needs_no_server_again(
    place: Place, server: WebServer
) -> None:
    server.answers["/team/helper.md"] = say(200, b"---\n---\nhello")
    async with place.sources() as sources:
        found = await sources.resolve(f"{server.url}/team/helper.md")
        assert await sources.resolve(f"{server.url}/team/helper.md") == found
    assert found.active_path.name == "helper.md"
    assert found.active_path.read_bytes() == b"---\n---\nhello"
    assert found.sha256 == sha256(b"---\n---\nhello")
    assert found.source_root == found.active_path.parent
    assert server.asked == ["GET /team/helper.md"]


@pytest.mark.parametrize(("name", "pack"), [("x.zip", zipped), ("x.tar.gz", tarred), ("x.tgz", tarred)])
async def test_archives_are_unpacked_and_their_only_directory_entered(
    place: Place, server: WebServer, name: str, pack: Any
) -> None:
    server.answers[f"/{name}"] = say(200, pack({"repo-main/bundle.md": "hi", "repo-main/sub/a.md": "a"}))
    server.answers[f"/flat-{name}"] = say(200, pack({"bundle.md": "flat"}))
    async with place.sources() as sources:
        found = await sources.resolve(f"{server.url}/{name}")
        inner = await sources.resolve(f"{server.url}/{name}#subdirectory=sub")
        flat = await sources.resolve(f"{server.url}/flat-{name}")
        with pytest.raises(SourceNotFound, match="there is no nope in it"):
            await sources.resolve(f"{server.url}/{name}#subdirectory=nope")
    assert (found.active_path / "bundle.md").read_text() == "hi"
    assert (inner.active_path / "a.md").read_text() == "a"
    assert inner.source_root == found.active_path
    assert (flat.active_path / "bundle.md").read_text() == "flat"
    assert len(server.asked) == 2


async def test_a_download_that_is_not_what_was_pinned_is_refused(place: Place, server: WebServer) -> None:
    body = zipped({"bundle.md": "x"})
    server.answers["/x.zip"] = server.answers["/x.md"] = say(200, body)
    async with place.sources() as sources:
        for name in ("zip+", ""):
            with pytest.raises(SourceRefused, match=f"its sha256 is {sha256(body)}"):
                await sources.resolve(f"{name}{server.url}/x.zip#sha256={'0' * 64}")
        with pytest.raises(SourceRefused, match="its sha256 is"):
            await sources.resolve(f"{server.url}/x.md#sha256={'0' * 64}")
        assert place.kept() == []
        pinned = f"zip+{server.url}/x.zip#sha256={sha256(body).upper()}"
        assert (await sources.resolve(pinned)).sha256 == sha256(body)
        assert (await sources.update(pinned)).outcome == "pinned"
        assert (await sources.status([pinned]))[0].has_update is False


async def test_an_update_asks_whether_there_is_anything_new(place: Place, server: WebServer) -> None:
    uri = f"{server.url}/x.md"

    def revalidating(body: bytes, tag: str) -> Any:
        def answer(handler: BaseHTTPRequestHandler) -> None:
            fresh = handler.headers.get("If-None-Match") != tag
            (say(200, body, ETag=tag) if fresh else say(304))(handler)

        return answer

    server.answers["/x.md"] = revalidating(b"one", '"1"')
    async with place.sources() as sources:
        found = await sources.resolve(uri)
        assert (await sources.update(uri)).outcome == "unchanged"
        assert (await sources.status([uri]))[0].has_update is False
        server.answers["/x.md"] = revalidating(b"two", '"2"')
        assert (await sources.status([uri]))[0].has_update is True
        report = await sources.update(uri)
        assert (report.outcome, report.before, report.after) == ("updated", sha256(b"one"), sha256(b"two"))
        assert found.active_path.read_bytes() == b"one"
        assert (await sources.resolve(uri)).active_path.read_bytes() == b"two"
        server.answers["/x.md"] = say(500)
        assert (await sources.update(uri)).outcome == "failed"
        assert (await sources.resolve(uri)).active_path.read_bytes() == b"two"


async def test_without_validators_an_update_compares(place: Place, server: WebServer) -> None:
    server.answers["/x.md"] = say(200, b"one")
    async with place.sources() as sources:
        await sources.resolve(f"{server.url}/x.md")
        assert (await sources.status([f"{server.url}/x.md"]))[0].has_update is None
        assert (await sources.update(f"{server.url}/x.md")).outcome == "unchanged"


async def test_redirects_are_followed_and_a_login_stays_home(place: Place, server: WebServer) -> None:
    with serving(WebServer()) as other:
        server.answers["/a.md"] = say(302, Location="/b.md")
        server.answers["/b.md"] = say(302, Location=f"{other.url}/c.md")
        other.answers["/c.md"] = say(200, b"c")
        async with place.sources() as sources:
            found = await sources.resolve(f"http://ann:pa55@127.0.0.1:{server.port}/a.md")
        assert found.active_path.read_bytes() == b"c"
        assert "Authorization" in server.headers["/a.md"]
        assert "Authorization" in server.headers["/b.md"]
        assert "Authorization" not in other.headers["/c.md"]
    assert b"pa55" not in place.bytes_on_disk()
    assert "pa55" not in str(found)


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("/a.md", "redirects in a circle"),
        ("http://example.org/x", "leads to http"),
        ("file:///etc/passwd", "not a web address"),
        ("http://[bad", "malformed"),
    ],
)
async def test_redirects_are_judged_like_the_first_address(
    place: Place, server: WebServer, location: str, message: str
) -> None:
    server.answers["/a.md"] = say(302, Location=location)
    async with place.sources() as sources:
        with pytest.raises(SourceError, match=message):
            await sources.resolve(f"{server.url}/a.md")


async def test_a_chain_of_redirects_ends(place: Place, server: WebServer) -> None:
    def onward(handler: BaseHTTPRequestHandler) -> None:
        say(302, Location=f"{handler.path}x")(handler)

    server.otherwise = onward
    async with place.sources() as sources:
        with pytest.raises(SourceRefused, match="more than 5 redirects"):
            await sources.resolve(f"{server.url}/a.md")


async def test_http_to_another_machine_has_to_be_allowed(place: Place) -> None:
    uris = ("http://example.invalid/a.md", "zip+http://example.invalid/a.zip")
    async with place.sources() as sources:
        for uri in uris:
            with pytest.raises(SourceRefused, match="http is not protected"):
                await sources.resolve(uri)
    async with place.sources(allow_http=True) as sources:
        for uri in uris:
            with pytest.raises(SourceUnavailable, match="Could not resolve host"):
                await sources.resolve(uri)


def without_length(body: bytes) -> Any:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


@pytest.mark.parametrize(
    "answer", [say(200, b"x", Content_Length=str(10**15)), without_length(b"x" * 2_000_000)]
)
async def test_what_is_too_large_is_refused_before_or_while_it_comes(
    place: Place, server: WebServer, answer: Any
) -> None:
    server.answers["/x.md"] = answer
    async with place.sources(limits=FetchLimits(download_bytes=1_000_000, pauses=())) as sources:
        with pytest.raises(SourceRefused, match="larger than 1000000 bytes"):
            await sources.resolve(f"{server.url}/x.md")
    assert place.kept() == []


async def test_what_comes_packed_though_nobody_asked_is_refused(place: Place, server: WebServer) -> None:
    server.answers["/x.md"] = say(200, gzip.compress(b"x"), Content_Encoding="gzip")
    server.answers["/x.tar.gz"] = say(200, tarred({"bundle.md": "x"}), Content_Encoding="x-gzip")
    async with place.sources() as sources:
        with pytest.raises(SourceRefused, match="sends it as gzip"):
            await sources.resolve(f"{server.url}/x.md")
        assert ((await sources.resolve(f"{server.url}/x.tar.gz")).active_path / "bundle.md").exists()


async def test_a_length_that_is_not_kept_is_a_failure(place: Place, server: WebServer) -> None:
    server.answers["/x.md"] = first(1, say(200, b"half", Content_Length="1000"), say(200, b"whole"))
    async with place.sources() as sources:
        found = await sources.resolve(f"{server.url}/x.md")
    assert found.active_path.read_bytes() == b"whole"
    assert len(server.asked) == 2


async def test_a_server_that_drips_is_given_up_on(place: Place, server: WebServer) -> None:
    over = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not over.wait(0.02):
            try:
                handler.wfile.write(b".")
            except OSError:
                over.set()

    server.answers["/x.md"] = drip
    async with place.sources(limits=FetchLimits(http_seconds=0.5)) as sources:
        with pytest.raises(SourceUnavailable, match=r"did not finish within 0\.5 seconds"):
            await sources.resolve(f"{server.url}/x.md")
    assert await asyncio.to_thread(over.wait, 60)  # the connection was cut
    assert server.asked == ["GET /x.md"]  # and not tried again


async def test_one_who_gives_up_cuts_the_connection(place: Place, server: WebServer) -> None:
    gone = threading.Event()

    def hang(handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(1)
        gone.set()

    server.answers["/x.md"] = hang
    async with place.sources() as sources:
        waiting = asyncio.create_task(sources.resolve(f"{server.url}/x.md"))
        await until(lambda: server.asked)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert place.incoming() == []
    assert await asyncio.to_thread(gone.wait, 60)


@pytest.mark.parametrize(
    ("status", "error", "asked"),
    [
        (404, SourceNotFound, 1),
        (410, SourceNotFound, 1),
        (403, SourceUnavailable, 1),
        (503, SourceUnavailable, 3),
    ],
)
async def test_answers_that_may_pass_are_waited_out(
    place: Place, server: WebServer, status: int, error: type[Exception], asked: int
) -> None:
    server.answers["/x.md"] = say(status)
    async with place.sources() as sources:
        with pytest.raises(error, match=str(status)):
            await sources.resolve(f"{server.url}/x.md")
    assert len(server.asked) == asked


@pytest.mark.parametrize(
    "body",
    [b"", b"plain text", gzip.compress(b"x" * 5000), zipped({"a": "b" * 900})[:-30]],
    ids=["nothing", "text", "a single file", "a torn zip"],  # not the bytes: they hold the time of day
)
async def test_what_is_not_an_archive_is_refused(place: Place, server: WebServer, body: bytes) -> None:
    server.answers["/x.zip"] = say(200, body)
    async with place.sources() as sources:
        with pytest.raises(SourceRefused, match=r"/x\.zip: "):
            await sources.resolve(f"{server.url}/x.zip")
    assert place.kept() == []


async def test_a_local_archive_is_unpacked_again_when_it_changes(place: Place) -> None:
    archive = place.folder / "x.zip"
    archive.write_bytes(zipped({"bundle.md": "one"}))
    uri = f"zip+file://{archive}"
    async with place.sources(offline=True) as sources:
        found = await sources.resolve(uri)
        assert (found.active_path / "bundle.md").read_text() == "one"
        archive.write_bytes(zipped({"bundle.md": "two!"}))
        os.utime(archive, ns=(1, 1))
        assert (await sources.status([uri]))[0].has_update is True
        assert ((await sources.resolve(uri)).active_path / "bundle.md").read_text() == "two!"
        archive.write_bytes(zipped({"bundle.md": "three"}))
        assert (await sources.update(uri)).outcome == "updated"
        third = await sources.resolve(uri)
        assert (third.active_path / "bundle.md").read_text() == "three"
        archive.write_bytes(b"broken")
        assert (await sources.update(uri)).outcome == "failed"
        assert (third.active_path / "bundle.md").read_text() == "three"
        assert (found.active_path / "bundle.md").read_text() == "one"
        archive.unlink()
        assert ((await sources.resolve(uri)).active_path / "bundle.md").read_text() == "three"
        with pytest.raises(SourceNotFound, match="not found"):
            await sources.resolve(f"zip+file://{archive}.other")


async def test_a_single_file_has_no_subdirectories(place: Place, server: WebServer) -> None:
    server.answers["/x.md"] = say(200, b"x")
    async with place.sources() as sources:
        with pytest.raises(SourceNotFound, match="it is a single file"):
            await sources.resolve(f"{server.url}/x.md#subdirectory=y")
