from __future__ import annotations

import pytest

from amplihack.bundles.uris import parse_uri
from amplihack.system.files import short_hash
from amplihack.system.sources.address import Address, address_of, is_loopback
from amplihack.system.sources.errors import SourceError, SourceRefused
from amplihack.system.sources.fetching import file_name
from amplihack.system.sources.hosts import proxy_for
from amplihack.system.sources.model import is_pinned

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def address(uri: str) -> Address:
    return address_of(parse_uri(uri))


def test_the_name_of_a_pointer_is_readable_and_depends_on_address_and_ref() -> None:
    one = address("git+https://github.com/org/repo@main")
    assert one.pointer == f"repo-{short_hash(b'https://github.com/org/repo@main')}"
    names = {
        address(f"git+https://github.com/org/repo{rest}").pointer
        for rest in (
            "",
            "@main",
            "@dev",
            "@HEAD",
            f"@{COMMIT}",
            f"@main#commit={COMMIT}",
            "?a=b",
            "#subdirectory=x",
        )
    }
    assert len(names) == 5  # the default ref, a subdirectory and a locked commit add none of their own


def test_one_version_has_one_entry_whichever_ref_led_to_it() -> None:
    refs = ("", "@dev", f"@{COMMIT}", f"@main#commit={COMMIT.upper()}")
    found = [address(f"git+https://github.com/org/repo{ref}") for ref in refs]
    assert len({one.entry(COMMIT) for one in found}) == 1
    assert [one.version for one in found] == [None, None, COMMIT, COMMIT]
    assert found[0].entry(COMMIT).endswith(f"@{COMMIT}")
    assert address("git+https://github.com/other/repo").entry(COMMIT) != found[0].entry(COMMIT)


def test_what_is_unpacked_and_what_is_not_are_kept_apart() -> None:
    plain, packed = address("https://h/x"), address("zip+https://h/x")
    pinned = address(f"https://h/x#sha256={'0' * 64}")
    assert len({plain.pointer, packed.pointer, pinned.pointer}) == 3
    assert plain.entry("1") == pinned.entry("1") != packed.entry("1")


def test_who_logs_in_makes_no_difference_to_the_cache() -> None:
    plain = address("git+https://github.com/org/repo")
    secret = address("git+https://ann:pa55@github.com/org/repo")
    assert (secret.name, secret.pointer) == (plain.name, plain.pointer)
    assert secret.url == plain.url
    assert "pa55" not in repr(secret)


@pytest.mark.parametrize(
    ("uri", "kind", "stem"),
    [
        ("https://h/a/b.md", "file", "b"),
        ("https://h/a/b.zip", "archive", "b"),
        ("https://h/a/b.tar.gz", "archive", "b"),
        ("https://h/a/b.TGZ", "archive", "b"),
        ("zip+https://h/download", "archive", "download"),
        ("zip+file:///a/b.zip", "archive", "b"),
        ("https://h/", "file", "source"),
        ("https://h/../..", "file", "source"),
        ("https://h/a%2f..%2fb c.md".replace(" ", ""), "file", "a_2f.._2fbc"),
        ("git+ssh://git@h/o/r@v1", "git", "r"),
    ],
)
def test_kinds_and_names(uri: str, kind: str, stem: str) -> None:
    found = address(uri)
    assert (found.kind, found.name.rpartition("-")[0]) == (kind, stem)


def test_an_ssh_account_is_kept_and_its_password_is_not() -> None:
    found = address("git+ssh://git:pa55@h:2222/o/r@v1")
    assert found.url == "ssh://git@h:2222/o/r"
    assert (found.host, found.port) == ("h", 2222)


@pytest.mark.parametrize(
    "uri",
    [
        "https://h/x#sha256=abc",
        f"git+https://h/x#sha256={'0' * 64}",
        "git+https://h/x@-x",
        "git+https://h/x@a b",
        "git+https://h/x@a.lock",
        "git+https://h/x@a//b",
        "git+https://h/x@a^1",
        "git+https://h/x@.a",
        "git+https://h:port/x",
        "https://h/x\r\nHost: y",
        "http://192.0.2.1/x",
        "ftp://h/x",
    ],
)
def test_what_cannot_be_meant_is_refused(uri: str) -> None:
    with pytest.raises(SourceError):
        address(uri)


def test_a_refusal_does_not_repeat_a_password() -> None:
    with pytest.raises(SourceRefused) as caught:
        address("git+https://ann:pa55@[h/x")
    assert "pa55" not in f"{caught.value.what}{caught.value.uri}"
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("ref", ["main", "feature/a-b", "v1.2.3", "release@2", "x#y", "ünï", "a.b"])
def test_names_that_git_accepts_are_accepted(ref: str) -> None:
    assert address(f"git+https://h/x@{ref}".replace("#", "%23")).ref == ref.replace("#", "%23")


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("LocalHost", True),
        ("10.0.0.1", False),
        ("h", False),
    ],
)
def test_this_machine_is_recognised(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("ref", "pinned"), [(COMMIT, True), ("v1", True), ("v", False), ("main", False), ("1.0", False)]
)
def test_refs_that_are_not_expected_to_move(ref: str, pinned: bool) -> None:
    assert is_pinned(ref) is pinned


def test_proxies_come_from_the_environment_given() -> None:
    environment = {
        "https_proxy": "http://proxy:3128",
        "HTTP_PROXY": "http://evil",
        "no_proxy": ".corp, exact",
    }
    assert proxy_for("https", "example.org", environment) == "http://proxy:3128"
    assert proxy_for("http", "example.org", environment) is None
    for host in ("a.corp", "exact", "127.0.0.1", "localhost"):
        assert proxy_for("https", host, environment) is None
    assert proxy_for("https", "inexact", environment) == "http://proxy:3128"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/a/b.md", "b.md"),
        ("/", "file"),
        ("/.hidden.md", "hidden.md"),
        ("/a/..", "file"),
        ("/a/%00b c.md", "_00b_c.md"),
    ],
)
def test_a_downloaded_file_gets_a_harmless_name(path: str, name: str) -> None:
    assert file_name(path) == name
