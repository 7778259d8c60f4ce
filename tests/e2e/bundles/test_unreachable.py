"""Sources that cannot be had: every command says what, where and how to fix it, with the right exit code."""

from __future__ import annotations

import asyncio
import io
import socket
import ssl
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.bundle_place import repository
from tests.support.git_server import WebServer, git_backend, say, serving
from tests.support.workspace import Answer, Workspace

from amplifier_foundation import BundleDependencyError, BundleRegistry
from amplihack.system.sources.errors import SourceUnavailable

LOGIN = "ann:hunter2"
SESSION = "session: {orchestrator: loop-basic, context: context-simple}\n"
QUESTIONS = (["show"], ["why", "x"], ["graph"], ["validate"], ["lock"], ["status"])
KEY = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}  # nothing is ever asked of it


def packed() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("bundle.yaml", "bundle: {name: far}\n")
    return file.getvalue()


@contextmanager
def closed_port() -> Iterator[int]:
    """Yield a port where nobody listens, and nobody else will."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def include(workspace: Workspace, address: str) -> None:
    workspace.write("bundle.yaml", "bundle: {name: top}\nincludes: [./mid.yaml]\n")
    workspace.write("mid.yaml", f"bundle: {{name: mid}}\nincludes:\n  - bundle: '{address}'\n")


def module(workspace: Workspace, address: str) -> None:
    workspace.write("bundle.yaml", f"bundle: {{name: top}}\nincludes: [./mid.yaml]\n{SESSION}")
    workspace.write(
        "mid.yaml", f"bundle: {{name: mid}}\ntools:\n  - module: tool-q\n    source: '{address}'\n"
    )


def told(answer: Answer) -> str:
    """Return all that was said; no command may say the password."""
    said = answer.stdout + answer.stderr
    assert "hunter2" not in said
    assert "Traceback" not in said
    return said


REFUSED, MISSING, WRONG = 1, 2, 2


@pytest.mark.parametrize(
    ("path", "scheme", "code", "words"),
    [
        ("no.zip", "zip+http", MISSING, "not found (the server answers 404)"),
        ("auth.zip", "zip+http", REFUSED, "the server refuses access (401)"),
        ("bad.zip", "zip+http", WRONG, "neither a zip nor a tar.gz archive"),
        (f"good.zip#sha256={'0' * 64}", "zip+http", WRONG, "look at it, then pin the new one"),
        ("good.zip#subdirectory=no", "zip+http", MISSING, "there is no no in it"),
        ("no.yaml", "http", MISSING, "not found (the server answers 404)"),
        ("none@main", "git+http", MISSING, "none/' not found"),
        ("far@none", "git+http", MISSING, "Remote branch none not found"),
        ("far@main#subdirectory=no", "git+http", MISSING, "there is no no in it"),
    ],
)
def test_an_include_that_a_server_does_not_give_out(
    workspace: Workspace, path: str, scheme: str, code: int, words: str
) -> None:
    repository(workspace, "far", {"bundle.yaml": "bundle: {name: far}\n"})
    answers = {"/good.zip": say(200, packed()), "/bad.zip": say(200, b"none"), "/auth.zip": say(401)}
    server = WebServer(answers, otherwise=git_backend(workspace.path / "repositories"))
    with serving(server):
        include(workspace, f"{scheme}://{LOGIN}@127.0.0.1:{server.port}/{path}")
        for question in (["show"], ["validate"]):
            answer = workspace.run("bundle", *question)
            said = told(answer)
            assert answer.exit_code == code, said
            assert words in said
            assert "(included by top -> mid -> " in said
            assert "mid.yaml:3:13: " in said
            assert "fix: " in said


def test_an_include_behind_a_closed_door_is_a_failure_and_no_wrong_input(workspace: Workspace) -> None:
    with closed_port() as port:
        include(workspace, f"git+http://{LOGIN}@127.0.0.1:{port}/far@main")
        answers = [workspace.run("bundle", *question) for question in QUESTIONS]
        answers += [
            workspace.run("bundle", "update"),
            workspace.run("run", "--bundle", "./bundle.yaml", "hi"),
        ]
        shown = workspace.run("bundle", "show", "--json")
    for answer in answers:
        assert "(included by top -> mid -> git+http://***@127.0.0.1" in told(answer)
        assert "fix: check the address and the network" in told(answer)
    assert {answer.exit_code for answer in (*answers, shown)} == {1}
    told(shown)
    (error,) = shown.json["errors"] if "errors" in shown.json else [shown.json["error"]]
    assert error["where"].startswith("mid.yaml:3:13")
    assert error["fix"] == "check the address and the network"


def test_a_module_behind_a_closed_door_is_named_with_its_place_and_its_way(workspace: Workspace) -> None:
    with closed_port() as port:
        module(workspace, f"git+http://{LOGIN}@127.0.0.1:{port}/q@main")
        locked = workspace.run("bundle", "lock")
        run = workspace.run("run", "--bundle", "./bundle.yaml", "hi", env=KEY)
        status = workspace.run("bundle", "status")
        updated = workspace.run("bundle", "update")
    assert [each.exit_code for each in (locked, run, status, updated)] == [1, 1, 1, 1]
    assert told(locked).startswith("mid.yaml:4:13: a module cannot be locked: tool-q: Failed to clone ")
    assert "mid.yaml:4:13: tool-q: Failed to clone " in told(run)
    assert all("(module of top -> mid)" in told(each) for each in (locked, run))
    assert "cannot be checked: fatal: " in told(status)
    assert all("fix: check the address and the network" in told(each) for each in (status, updated))
    assert not (workspace.path / "bundle.lock").exists()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("./modules/none", "not found"),
        ("ftp://ann:hunter2@far/q", "no way to fetch ftp:// is known"),
        ("git+ext::sh -c date", "is a name, not an address"),
    ],
)
def test_a_module_that_does_not_exist_is_wrong_input_for_lock_and_run_alike(
    workspace: Workspace, source: str, words: str
) -> None:
    module(workspace, source)
    for command in (["bundle", "lock"], ["run", "--bundle", "./bundle.yaml", "hi"]):
        answer = workspace.run(*command, env=KEY)
        assert answer.exit_code == 2, answer.stderr
        assert words in told(answer)
        assert "mid.yaml:4:13: " in told(answer)


def test_a_source_of_an_unknown_kind_is_not_called_local(workspace: Workspace) -> None:
    module(workspace, "ftp://far/q")
    updated = workspace.run("bundle", "update")
    assert updated.exit_code == 1
    assert "every source is local" not in updated.stderr
    status = workspace.run("bundle", "status")
    assert (status.exit_code, status.stdout) == (
        1,
        "ftp://far/q: cannot be checked: no way to fetch ftp:// is known\n",
    )


def test_what_is_wrong_for_good_counts_before_what_may_work_tomorrow(workspace: Workspace) -> None:
    with closed_port() as port:
        include(workspace, f"zip+http://127.0.0.1:{port}/far.zip")
        workspace.write("bundle.yaml", "bundle: {name: top}\nincludes: [./mid.yaml, ./none.yaml]\n")
        assert workspace.run("bundle", "show").exit_code == 2
        assert workspace.run("bundle", "validate").exit_code == 2


def test_without_git_there_is_nothing_to_fetch_an_include_with(workspace: Workspace) -> None:
    include(workspace, "git+https://127.0.0.1/far@main")
    for question in (["show"], ["validate"], ["graph"]):
        answer = workspace.run("bundle", *question, env={"PATH": str(workspace.path)})
        assert answer.exit_code == 4
        assert "fix: install git" in told(answer)


@contextmanager
def distrusted_server(folder: Path) -> Iterator[int]:
    """Yield the port of an https server whose certificate nobody knows."""
    key, known = str(folder / "key.pem"), str(folder / "certificate.pem")
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run(["openssl", *made, "-keyout", key, "-out", known], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(known, key)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def shake_hands() -> None:
            while True:
                try:
                    client, _ = listening.accept()
                except OSError:
                    return  # the test is over
                with client:
                    try:
                        context.wrap_socket(client, server_side=True).close()
                    except OSError:
                        continue  # which is what the clients of this test do

        thread = threading.Thread(target=shake_hands)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize("address", ["git+https://localhost:{}/far@main", "zip+https://localhost:{}/far.zip"])
def test_a_certificate_that_is_not_trusted_is_a_failure_on_the_way(
    workspace: Workspace, address: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with distrusted_server(tmp_path_factory.mktemp("tls")) as port:
        include(workspace, address.format(port))
        asked = workspace.run("bundle", "show", address.format(port))
        shown = workspace.run("bundle", "show")
    assert (asked.exit_code, shown.exit_code) == (1, 1)
    assert "certificate" in asked.stderr
    assert "name an authority of your own that is to be trusted" in asked.stderr


@pytest.mark.parametrize("address", ["git+https://localhost:{}/far@main", "zip+https://localhost:{}/far.zip"])
def test_a_server_that_does_not_speak_https_is_not_asked_again(workspace: Workspace, address: str) -> None:
    with serving(WebServer()) as server:
        answer = workspace.run("bundle", "show", address.format(server.port))
    assert answer.exit_code == 1
    assert "fix: check the address: what answers there does not speak https" in answer.stderr


@pytest.mark.parametrize("address", ["git+https://far.invalid/x@main", "zip+https://far.invalid/x.zip"])
def test_a_proxy_that_refuses_is_told_without_its_login(workspace: Workspace, address: str) -> None:
    with serving(WebServer()) as server, closed_port() as nobody:
        for port in (server.port, nobody):
            proxy = {"https_proxy": f"http://{LOGIN}@127.0.0.1:{port}"}
            answer = workspace.run("bundle", "show", address, env=proxy)
            assert answer.exit_code == 1
            assert str(port) in told(answer) or port == server.port
            assert "check the proxy" in told(answer) or address.startswith("git")
            assert "fix: " in told(answer)


def test_the_error_of_a_program_has_its_cause_and_its_code(workspace: Workspace) -> None:
    with closed_port() as port:
        include(workspace, f"zip+http://127.0.0.1:{port}/far.zip")
        registry = BundleRegistry(home=workspace.path / "home", strict=True)
        with pytest.raises(BundleDependencyError, match=r"mid\.yaml:3:13") as caught:
            asyncio.run(registry.load(str(workspace.path / "bundle.yaml")))
    assert caught.value.exit_code == 1
    assert type(caught.value.__cause__) is SourceUnavailable
