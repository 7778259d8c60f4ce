from __future__ import annotations

import pytest

from amplihack.bundles.uris import parse_uri
from amplihack.system.sources.address import address_of
from amplihack.system.sources.errors import SourceError, SourceNotFound, SourceRefused, SourceUnavailable
from amplihack.system.sources.git_errors import failure, is_missing_object

ADDRESS = address_of(parse_uri("git+https://ann:pa55word@example.org/connection-refused/not-found@main"))
URL = "https://ann:pa55word@example.org/connection-refused/not-found/"


@pytest.mark.parametrize(
    ("words", "kind", "again", "host_down"),
    [
        (f"fatal: repository '{URL}' not found", SourceNotFound, False, False),
        ("fatal: Remote branch x not found in upstream origin", SourceNotFound, False, False),
        ("fatal: '/x' does not appear to be a git repository", SourceNotFound, False, False),
        (
            f"fatal: unable to access '{URL}': Could not resolve host: example.org",
            SourceUnavailable,
            False,
            True,
        ),
        ("ssh: Could not resolve hostname h: Name or service not known", SourceUnavailable, False, True),
        (f"fatal: Authentication failed for '{URL}'", SourceUnavailable, False, False),
        (
            "fatal: could not read Username for 'https://x': terminal prompts disabled",
            SourceUnavailable,
            False,
            False,
        ),
        ("git@h: Permission denied (publickey).", SourceUnavailable, False, False),
        (
            f"fatal: unable to access '{URL}': The requested URL returned error: 403",
            SourceUnavailable,
            False,
            False,
        ),
        (
            f"fatal: unable to access '{URL}': The requested URL returned error: 502",
            SourceUnavailable,
            True,
            False,
        ),
        (
            f"fatal: unable to access '{URL}': Failed to connect to h port 1: refused",
            SourceUnavailable,
            True,
            True,
        ),
        ("fatal: early EOF\nfatal: index-pack failed", SourceUnavailable, True, False),
        ("fatal: write error: No space left on device", SourceUnavailable, False, False),
        ("fatal: could not create work tree dir 'x': Permission denied", SourceUnavailable, False, False),
        ("fatal: transport 'file' not allowed", SourceRefused, False, False),
        (
            f"fatal: unable to access '{URL}': SSL certificate problem: expired",
            SourceUnavailable,
            False,
            False,
        ),
        (
            f"fatal: unable to access '{URL}': server certificate verification failed. CAfile: none",
            SourceUnavailable,
            False,
            False,
        ),
        (
            f"fatal: unable to access '{URL}': gnutls_handshake() failed: An unexpected TLS packet",
            SourceUnavailable,
            False,
            False,
        ),
        (
            f"fatal: unable to access '{URL}': CONNECT tunnel failed, response 403",
            SourceUnavailable,
            False,
            True,
        ),
        (
            f"fatal: unable to access '{URL}': Received HTTP code 407 from proxy after CONNECT",
            SourceUnavailable,
            False,
            True,
        ),
        ("", SourceUnavailable, True, False),
    ],
)
def test_words_of_git_have_a_meaning(
    words: str, kind: type[SourceError], again: bool, host_down: bool
) -> None:
    found = failure(ADDRESS, f"Cloning into '.'...\n{words}\n")
    assert type(found) is kind
    assert (getattr(found, "again", False), getattr(found, "host_down", False)) == (again, host_down)
    assert found.what.startswith("Failed to clone git+https://***@example.org/")
    assert "pa55word" not in found.what
    assert "Cloning into" not in found.what


@pytest.mark.parametrize(
    "words",
    [
        "fatal: remote error: upload-pack: not our ref 0123",
        "error: Server does not allow request for unadvertised object 0123",
        "fatal: dumb http transport does not support shallow capabilities",
    ],
)
def test_a_server_that_gives_no_single_commit_is_recognised(words: str) -> None:
    assert is_missing_object(words)


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ("SSL certificate problem: self-signed certificate", "http.sslCAInfo"),
        ("gnutls_handshake() failed: An unexpected TLS packet was received.", "does not speak https"),
        ("CONNECT tunnel failed, response 407", "check the proxy"),
        ("Failed to connect to h port 1: refused", "check the address and the network"),
    ],
)
def test_what_to_do_is_told_by_what_happened(words: str, fix: str) -> None:
    assert fix in failure(ADDRESS, f"fatal: unable to access '{URL}': {words}\n").fix


def test_what_only_git_can_use_is_left_out() -> None:
    words = (
        "error: unable to read askpass response from 'false'\n"
        "fatal: '/x' does not appear to be a git repository\n"
        "fatal: Could not read from remote repository.\n\n"
        "Please make sure you have the correct access rights\nand the repository exists.\n"
    )
    told = failure(ADDRESS, words).what
    assert told.endswith("@main: fatal: '/x' does not appear to be a git repository")
