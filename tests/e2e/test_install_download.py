"""A framework bundle that is downloaded, from a server on 127.0.0.1 that behaves well or badly."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from tests.support.distribution import make_program
from tests.support.framework_bundle import PARENT, write_bundle
from tests.support.git_server import WebServer, say, serving
from tests.support.workspace import Answer, Workspace


@pytest.fixture
def server() -> Iterator[WebServer]:
    with serving(WebServer()) as server:
        yield server


@pytest.fixture
def program(workspace: Workspace) -> Workspace:
    """A program of version 0.1.0 that carries a bundle of its own."""
    make_program(workspace.path / "site", "0.1.0", mark="packaged")
    workspace.env["PYTHONPATH"] = str(workspace.path / "site")
    return workspace


@pytest.fixture
def bare(workspace: Workspace) -> Workspace:
    """A program that carries none."""
    make_program(workspace.path / "bare", "0.1.0")
    workspace.env["PYTHONPATH"] = str(workspace.path / "bare")
    return workspace


def root(workspace: Workspace) -> Path:
    return workspace.path / "home" / ".amplihack"


def staged(workspace: Workspace) -> str:
    return (root(workspace) / "amplifier-bundle" / "bundle.md").read_text()


def files(folder: Path) -> dict[str, Path]:
    return {str(file.relative_to(folder)): file for file in sorted(folder.rglob("*")) if file.is_file()}


def packed(folder: Path, kind: str, top: str = "") -> bytes:
    data = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, file in files(folder).items():
                archive.write(file, f"{top}{name}")
    else:
        with tarfile.open(fileobj=data, mode="w:gz") as tar:
            for name, file in files(folder).items():
                tar.add(file, f"{top}{name}")
    return data.getvalue()


def release(workspace: Workspace, *, version: str = "0.1.0", kind: str = "tar.gz", top: str = "") -> bytes:
    folder = workspace.path / f"release-{version}"
    write_bundle(folder, mark="downloaded", version=version)
    return packed(folder, kind, top)


def wants(server: WebServer, data: bytes, path: str = "/bundle.tar.gz") -> dict[str, str]:
    return {
        "AMPLIHACK_BUNDLE_URL": f"{server.url}{path}",
        "AMPLIHACK_BUNDLE_SHA256": hashlib.sha256(data).hexdigest(),
    }


def left_over(workspace: Workspace) -> list[str]:
    """What a download leaves in the home, which should be nothing."""
    return [str(path) for path in root(workspace).rglob(".new-*")]


def refused(done: Answer, workspace: Workspace, code: int = 1) -> None:
    assert done.exit_code == code, done.stderr
    assert not (root(workspace) / "amplifier-bundle").exists()
    assert not (root(workspace) / ".installed-version").exists()
    assert left_over(workspace) == []


@pytest.mark.parametrize("kind", ["tar.gz", "zip"])
@pytest.mark.parametrize("top", ["", "release-1/"])
def test_a_force_refresh_stages_the_configured_release(
    program: Workspace, server: WebServer, kind: str, top: str
) -> None:
    data = release(program, kind=kind, top=top)
    server.answers["/get"] = say(200, data)  # recognised by its bytes, not by its name
    done = program.run("install", "--force-refresh", env=wants(server, data, "/get"))
    assert done.exit_code == 0, done.stderr
    assert f"from download: {server.url}/get" in done.stdout
    assert "downloaded" in staged(program)
    assert left_over(program) == []
    assert server.url in program.run("install", "history").stdout


def test_the_hash_may_stand_in_the_address_or_in_the_settings_of_the_home(
    bare: Workspace, server: WebServer
) -> None:
    data = release(bare)
    server.answers["/b.tgz"] = say(200, data)
    digest = hashlib.sha256(data).hexdigest()
    done = bare.run("install", env={"AMPLIHACK_BUNDLE_URL": f"{server.url}/b.tgz#sha256={digest}"})
    assert done.exit_code == 0, done.stderr
    bare.run("uninstall", "--purge")
    said = f"install:\n  bundle_url: {server.url}/b.tgz\n  bundle_sha256: {digest}\n"
    bare.write("home/.amplihack/settings.yaml", said)
    assert bare.run("install").exit_code == 0
    assert "downloaded" in staged(bare)


def test_settings_of_a_project_never_decide_what_is_staged(bare: Workspace, server: WebServer) -> None:
    data = release(bare)
    digest = hashlib.sha256(data).hexdigest()
    bare.write(
        ".amplihack/settings.yaml", f"install: {{bundle_url: {server.url}/x, bundle_sha256: {digest}}}\n"
    )
    refused(bare.run("install"), bare, 4)
    assert server.asked == []
    assert "`install` has no effect in a project" in bare.run("doctor").stdout


def test_a_local_source_is_preferred_and_nothing_is_asked(program: Workspace, server: WebServer) -> None:
    data = release(program)
    assert program.run("install", env=wants(server, data)).exit_code == 0
    assert "packaged" in staged(program)
    assert server.asked == []


def test_self_heal_downloads_only_when_no_local_source_is_compatible(
    program: Workspace, server: WebServer
) -> None:
    data = release(program)
    server.answers["/bundle.tar.gz"] = say(200, data)
    assert program.run("recipe", "list", env=wants(server, data)).exit_code == 0
    assert server.asked == []
    program.run("uninstall", "--purge")
    packaged = Path(program.env["PYTHONPATH"]) / "amplihack" / "_bundle" / "amplifier-bundle" / PARENT
    packaged.unlink()
    done = program.run("recipe", "list", env=wants(server, data))
    assert done.exit_code == 0, done.stderr
    assert "downloaded" in staged(program)
    assert len(server.asked) == 1
    assert program.run("recipe", "list", env=wants(server, data)).stderr == ""
    assert len(server.asked) == 1


def test_a_program_that_carries_no_bundle_gets_the_one_that_is_named(
    bare: Workspace, server: WebServer
) -> None:
    data = release(bare)
    server.answers["/bundle.tar.gz"] = say(200, data)
    done = bare.run("recipe", "list", env=wants(server, data))
    assert done.stderr == "amplihack: framework assets re-staged for v0.1.0\n"
    assert "downloaded" in staged(bare)


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"AMPLIHACK_BUNDLE_URL": "https://h.invalid/x.zip"}, "without its sha256"),
        ({"AMPLIHACK_BUNDLE_URL": f"http://h.invalid/x.zip#sha256={'a' * 64}"}, "use https"),
        ({"AMPLIHACK_BUNDLE_URL": f"file:///etc/x.zip#sha256={'a' * 64}"}, "no web address"),
        ({"AMPLIHACK_BUNDLE_URL": f"git+https://h.invalid/x#sha256={'a' * 64}"}, "no web address"),
        ({"AMPLIHACK_BUNDLE_URL": f"https://h.invalid/x#sha256={'a' * 63}"}, "64 hexadecimal digits"),
    ],
)
def test_an_address_that_may_not_be_used_is_wrong_usage(
    bare: Workspace, environment: dict[str, str], told: str
) -> None:
    done = bare.run("install", env=environment)
    refused(done, bare, 2)
    assert told in done.stderr


def test_a_wrong_hash_is_told_with_both_hashes_and_nothing_is_staged(
    program: Workspace, server: WebServer
) -> None:
    data = release(program)
    server.answers["/bundle.tar.gz"] = say(200, data + b"x")
    done = program.run("install", "--force-refresh", env=wants(server, data))
    refused(done, program)
    assert hashlib.sha256(data).hexdigest() in done.stderr
    assert hashlib.sha256(data + b"x").hexdigest() in done.stderr
    assert len(server.asked) == 1


def test_a_download_that_breaks_off_is_tried_again_and_then_told(bare: Workspace, server: WebServer) -> None:
    data = release(bare)

    def cut(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data[: len(data) // 2])

    server.answers["/bundle.tar.gz"] = cut
    done = bare.run("install", env=wants(server, data))
    refused(done, bare)
    assert "broke off" in done.stderr
    assert len(server.asked) == 3


def moved(to: str) -> object:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", to)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def test_a_redirect_is_followed_where_it_may_lead_to(bare: Workspace, server: WebServer) -> None:
    data = release(bare)
    server.answers["/here"] = moved("/there")  # type: ignore[assignment]
    server.answers["/there"] = say(200, data)
    assert bare.run("install", env=wants(server, data, "/here")).exit_code == 0


@pytest.mark.parametrize(
    "target", ["http://h.invalid/x", "file:///etc/passwd", "/circle", "ftp://h.invalid/"]
)
def test_a_redirect_that_leads_elsewhere_is_refused(bare: Workspace, server: WebServer, target: str) -> None:
    server.answers["/circle"] = moved(target)  # type: ignore[assignment]
    refused(bare.run("install", env=wants(server, b"", "/circle")), bare)
    assert len(server.asked) == 1


def member(name: str, data: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        info = tarfile.TarInfo(name)
        info.size, info.type, info.linkname = len(data), kind, link
        tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (member("../../evil"), "leads out of it"),
        (member("/tmp/evil"), "leads out of it"),  # noqa: S108 - it is refused
        (member("amplifier-bundle/x", b"", tarfile.SYMTYPE, "/etc/passwd"), "leads out of it"),
        (member("amplifier-bundle/x", b"", tarfile.FIFOTYPE), "neither file nor directory"),
        (b"not an archive", "neither a zip nor a tar.gz"),
        (member("amplifier-bundle/x", b"\0" * 40_000_000), "more than 100 times its size"),
        (gzip.compress(b"\0" * 1000)[:-4], "damaged"),
        (member("readme.txt"), "there is no directory amplifier-bundle"),
    ],
    ids=["above", "absolute", "link", "pipe", "text", "bomb", "cut", "no bundle"],
)
def test_an_archive_that_is_hostile_or_no_bundle_is_refused(
    bare: Workspace, server: WebServer, data: bytes, told: str
) -> None:
    server.answers["/bundle.tar.gz"] = say(200, data)
    done = bare.run("install", env=wants(server, data))
    refused(done, bare)
    assert told in done.stderr
    assert server.url in done.stderr
    assert not (bare.path / "evil").exists()


def test_a_download_that_is_too_large_is_refused_before_it_is_read(
    bare: Workspace, server: WebServer
) -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(10**12))
        handler.end_headers()

    server.answers["/bundle.tar.gz"] = endless
    done = bare.run("install", env=wants(server, b""))
    refused(done, bare)
    assert "larger than" in done.stderr


def test_a_release_of_another_version_is_not_taken_whatever_its_hash(
    bare: Workspace, server: WebServer
) -> None:
    data = release(bare, version="9.9.9")
    server.answers["/bundle.tar.gz"] = say(200, data)
    done = bare.run("install", env=wants(server, data))
    refused(done, bare)
    assert "it is for version 9.9.9, this is 0.1.0" in done.stderr


def test_a_release_that_is_not_what_its_list_says_is_not_taken(bare: Workspace, server: WebServer) -> None:
    folder = bare.path / "release"
    bundle = write_bundle(folder, version="0.1.0")
    (bundle / "bundle.md").write_text("changed")
    data = packed(folder, "zip")
    server.answers["/bundle.zip"] = say(200, data)
    done = bare.run("install", env=wants(server, data, "/bundle.zip"))
    refused(done, bare)
    assert "changed: bundle.md" in done.stderr


def test_without_a_network_nothing_is_asked_and_the_reason_is_told(
    bare: Workspace, server: WebServer
) -> None:
    done = bare.run("install", env={**wants(server, b""), "AMPLIHACK_OFFLINE": "1"})
    refused(done, bare)
    assert "AMPLIHACK_OFFLINE is set" in done.stderr
    assert server.asked == []


def test_a_password_in_the_address_is_shown_nowhere(bare: Workspace, server: WebServer) -> None:
    data = release(bare)
    server.answers["/bundle.tar.gz"] = say(200, data)
    wanted = wants(server, data)
    wanted["AMPLIHACK_BUNDLE_URL"] = wanted["AMPLIHACK_BUNDLE_URL"].replace("://", "://ann:hunter2secret@")
    done = bare.run("install", env=wanted)
    assert done.exit_code == 0, done.stderr
    everything = b"".join(path.read_bytes() for path in root(bare).rglob("*") if path.is_file())
    assert b"hunter2secret" not in everything + done.stdout.encode() + done.stderr.encode()


def test_a_dry_run_looks_at_the_download_and_leaves_the_home_alone(
    bare: Workspace, server: WebServer
) -> None:
    data = release(bare)
    server.answers["/bundle.tar.gz"] = say(200, data)
    done = bare.run("install", "--dry-run", "--json", env=wants(server, data))
    assert (done.json["label"], done.json["source"]) == ("download", f"{server.url}/bundle.tar.gz")
    assert not root(bare).exists()
