from __future__ import annotations

import pytest

from amplihack.bundles.uris import (
    ParsedURI,
    canonical,
    describe_cross_platform_path_mismatch,
    escapes,
    parse_uri,
    shown,
    split_namespace,
    strip_uri_drive_prefix,
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("git+https://h/org/repo@v1#subdirectory=p/q", ("git+https", "h", "/org/repo", "v1", "p/q")),
        ("git+https://h/org/repo@feat/x", ("git+https", "h", "/org/repo", "feat/x", "")),
        ("git+https://h/org/repo", ("git+https", "h", "/org/repo", "main", "")),
        ("git+ssh://git@h/o/r@v1", ("git+ssh", "git@h", "/o/r", "v1", "")),
        ("git+file:///dir@ref", ("git+file", "", "/dir", "ref", "")),
        ("git+file:///d@x/dir@ref", ("git+file", "", "/d@x/dir", "ref", "")),
        ("zip+https://h/a.zip#subdirectory=p", ("zip+https", "h", "/a.zip", "", "p")),
        ("zip+file:///a@1.zip", ("zip+file", "", "/a@1.zip", "", "")),
        ("file:///p#subdirectory=q", ("file", "", "/p", "", "q")),
        ("/abs", ("file", "", "/abs", "", "")),
        ("./rel", ("file", "", "./rel", "", "")),
        ("../rel#subdirectory=q", ("file", "", "../rel", "", "q")),
        ("~/x", ("file", "", "~/x", "", "")),
        ("C:\\x", ("file", "", "C:\\x", "", "")),
        ("C:/x", ("file", "", "C:/x", "", "")),
        ("\\\\srv\\share", ("file", "", "\\\\srv\\share", "", "")),
        ("https://h/p#subdirectory=q", ("https", "h", "/p", "", "q")),
        ("name", ("", "", "name", "", "")),
        ("name/sub/dir", ("", "", "name", "", "sub/dir")),
    ],
)
def test_every_kind_of_address_is_read(text: str, parts: tuple[str, str, str, str, str]) -> None:
    assert parse_uri(text) == ParsedURI(*parts)


def test_a_query_and_pins_are_kept() -> None:
    parsed = parse_uri(f"git+https://h/o/r@v1?depth=1#subdirectory=p&commit={'a' * 40}")
    assert (parsed.query, parsed.ref, parsed.commit) == ("depth=1", "v1", "a" * 40)
    assert parsed.is_pinned
    assert parse_uri(f"https://h/a.yaml#sha256={'b' * 64}").sha256 == "b" * 64
    assert parse_uri("git+https://h/o/r?x=1@v2").ref == "v2"


def test_a_hash_sign_that_says_nothing_belongs_to_the_path() -> None:
    assert parse_uri("/dir/#1/bundle.md").path == "/dir/#1/bundle.md"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("git+https://H/o/r.git", "git+https://h/o/r@main"),
        ("file:///a/./b/../c", "/a/c"),
        ("git+https://h/o/r@main#subdirectory=/p/", "git+https://h/o/r#subdirectory=p"),
    ],
)
def test_one_place_has_one_canonical_address(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)


def test_a_relative_address_becomes_canonical_with_its_base() -> None:
    assert canonical("./x/../y.md", base="/w/b") == "file:///w/b/y.md"


def test_secrets_are_masked_and_ssh_users_stay() -> None:
    assert shown("clone git+https://me:pw@h/o/r failed") == "clone git+https://***@h/o/r failed"
    assert shown("https://h/x?access_token=abc&y=1") == "https://h/x?access_token=***&y=1"
    assert shown("git+ssh://git@h/o/r") == "git+ssh://git@h/o/r"
    assert shown("git+ssh://git:pw@h/o/r") == "git+ssh://***@h/o/r"


def test_a_namespace_is_not_taken_for_an_address_or_a_drive() -> None:
    assert split_namespace("recipes:behaviors/x") == ("recipes", "behaviors/x")
    for text in ("git+https://h/x", "C:\\x", "C:/x", "./a:b", "plain", "a/b:c", ":x"):
        assert split_namespace(text) is None


def test_foreign_paths_are_explained() -> None:
    said = describe_cross_platform_path_mismatch("/C:/x", "Linux")
    assert said is not None
    assert "Windows-style absolute path" in said
    assert "cannot exist on Linux" in said
    posix = describe_cross_platform_path_mismatch("/home/x", "Windows")
    assert posix is not None
    assert "POSIX-style absolute path" in posix
    for fine in ("//srv/share", "./x", "/home/x"):
        assert describe_cross_platform_path_mismatch(fine, "Linux") is None
    assert strip_uri_drive_prefix("/C:/x") == "C:/x"


def test_a_path_that_climbs_out_is_known() -> None:
    assert escapes("../x")
    assert escapes("a/../../x")
    assert not escapes("a/../b")
    assert not escapes("a..b")
