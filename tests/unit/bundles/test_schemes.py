from __future__ import annotations

import ast
from pathlib import Path

import pytest

import amplihack
from amplihack.bundles import schemes
from amplihack.bundles.schemes import SCHEMES, Scheme, is_address, way_of
from amplihack.bundles.uris import parse_uri, print_uri, split_namespace
from amplihack.system.sources.address import address_of


@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme_of_the_table_is_read_printed_and_fetched(name: str) -> None:
    host = "" if SCHEMES[name].transport == "file" else "localhost"
    parsed = parse_uri(f"{name}://{host}/a/b#subdirectory=c")
    assert parse_uri(print_uri(parsed)) == parsed
    assert parsed.way == way_of(name) == SCHEMES[name].way
    assert parsed.is_remote is (SCHEMES[name].transport != "file")
    if SCHEMES[name].way != "local":
        assert address_of(parsed).transport == SCHEMES[name].transport


def test_what_has_a_scheme_is_no_namespace() -> None:
    for text in ("git+ssh:x", "zip+file:x", "other://x"):
        assert is_address(text)
        assert split_namespace(text) is None
    assert split_namespace("name:x") == ("name", "x")
    assert not is_address("name:x")


def test_a_new_row_is_all_that_a_scheme_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(schemes.SCHEMES, "tar+https", Scheme("tar+https", "archive", "https"))
    parsed = parse_uri("tar+https://h/download?x=1#sha256=0")
    assert (parsed.is_zip, parsed.is_remote, parsed.query) == (True, True, "x=1")
    assert address_of(parse_uri("tar+https://h/download")).kind == "archive"
    assert print_uri(parsed) == "tar+https://h/download?x=1#sha256=0"


def test_nobody_else_spells_schemes_out() -> None:
    """A text such as "git+" in the code is a second table."""
    spelt = {"git+", "zip+", *(name for name in SCHEMES if "+" in name)}
    root = Path(amplihack.__file__).parent
    rooms = (root / "bundles", root / "system" / "sources", root.parent / "amplifier_foundation" / "sources")
    found = [
        f"{file.name}:{node.lineno}"
        for room in rooms
        for file in room.rglob("*.py")
        if file.name != "schemes.py"
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in spelt
    ]
    assert found == []
