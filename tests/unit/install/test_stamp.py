"""Stamps: every version has one that can be read back, and two versions share one only if they are equal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from amplihack.install.stamp import parse_stamp, stamp_of
from amplihack.version import __version__

# The pattern of the documents, word for word.
DOCUMENTED = re.compile(r"^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.\-]+)?$", re.ASCII)

NUMBERS = st.integers(0, 12).map(str)
RELEASES = st.lists(NUMBERS, min_size=1, max_size=5).map(".".join)
SEPARATORS = st.sampled_from(["", ".", "-", "_"])
LOCALS = st.lists(
    st.sampled_from(["5", "07", "a", "b", "rc", "post", "dev", "local", "release", "gab12"]), max_size=3
)


@st.composite
def versions(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(["", "", "v", "1!", "0!"])) + draw(RELEASES)
    if draw(st.booleans()):
        word = draw(st.sampled_from(["a", "b", "rc", "alpha", "beta", "c", "pre", "preview", "RC"]))
        text += draw(SEPARATORS) + word + draw(SEPARATORS) + draw(NUMBERS)
    post = draw(st.sampled_from(["", "", "post", "rev", "r", "-"]))
    if post:
        text += f"-{draw(NUMBERS)}" if post == "-" else draw(SEPARATORS) + post + draw(NUMBERS)
    if draw(st.booleans()):
        text += draw(SEPARATORS) + "dev" + draw(NUMBERS)
    local = draw(LOCALS)
    return text + (f"+{draw(st.sampled_from('.-_')).join(local)}" if local else "")


@given(versions())
def test_every_version_maps_to_a_stamp_that_fits_and_is_read_back(version: str) -> None:
    stamp = stamp_of(version)
    assert DOCUMENTED.match(stamp)
    assert parse_stamp(stamp.encode()) == stamp
    assert stamp_of(version) == stamp


@given(versions(), versions())
def test_two_versions_share_a_stamp_only_if_they_are_equal(one: str, other: str) -> None:
    assert (stamp_of(one) == stamp_of(other)) == (Version(one) == Version(other))


@given(versions())
def test_a_version_and_its_normal_form_share_a_stamp(version: str) -> None:
    assert stamp_of(str(Version(version))) == stamp_of(version)


@pytest.mark.parametrize(
    ("version", "stamp"),
    [
        ("0.8.111", "0.8.111"),
        ("1.2", "1.2.0"),
        ("1.2.0rc1", "1.2.0-rc.1"),
        ("0.9.0-rc1", "0.9.0-rc.1"),
        ("1.2.0.dev3", "1.2.0-dev.3"),
        ("1.2.0.post1", "1.2.0-post.1"),
        ("1.2.0.dev3+gabc", "1.2.0-dev.3.gabc"),
        ("1.2.0+gabc", "1.2.0+gabc"),
        ("1.2.3.4", "1.2.3-release.4"),
        ("1.2.3.4+5", "1.2.3-release.4.local.5"),
        ("1!2.0", "2.0.0-epoch.1"),
    ],
)
def test_stamps_look_like_this(version: str, stamp: str) -> None:
    assert stamp_of(version) == stamp


def test_our_own_version_has_a_stamp() -> None:
    assert parse_stamp(stamp_of(__version__).encode())


@pytest.mark.parametrize("version", ["9" * 5000, "1.0+" + "a" * 400, "1." + "2." * 300 + "3"])
def test_an_absurdly_long_version_has_a_stamp_that_can_be_read_back(version: str) -> None:
    stamp = stamp_of(version)
    assert parse_stamp(stamp.encode()) == stamp
    assert stamp != stamp_of(f"{version}1")


@pytest.mark.parametrize("text", ["", "abc", "1.2.x", "1.2.3 4", "١.٢.٣", "1..2", "-1"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a version"):
        stamp_of(text)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"1.2",
        b"v1.2.3",
        b"1.2.3-",
        b"1.2.3 4",
        b"1.2.3\n1.2.3",
        b"\xff",
        "١.٢.٣".encode(),
        b"1.2.3_4",
        b"1" * 300,
    ],
)
def test_what_is_no_stamp_counts_as_none(data: bytes) -> None:
    assert parse_stamp(data) is None


@pytest.mark.parametrize("data", [b"1.2.3", b" 1.2.3\n", b"1.2.3\r\n"])
def test_blanks_around_a_stamp_are_allowed(data: bytes) -> None:
    assert parse_stamp(data) == "1.2.3"
