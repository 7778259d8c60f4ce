"""Requirements are read as far as it takes to see that one is met."""

from __future__ import annotations

import pytest

from amplihack.system.modules.requirements import is_met, parse_requirement


@pytest.mark.parametrize(
    ("text", "version", "met"),
    [
        ("a", "1", True),
        ("a", None, False),
        ("a>=1.2,<2", "1.10", True),
        ("a>=1.2,<2", "2.0", False),
        ("a==1.2", "1.2.0", True),
        ("a==1.*", "1.9", True),
        ("a!=1.*", "1.9", False),
        ("a~=1.4", "1.9", True),
        ("a~=1.4", "2.0", False),
        ("a~=1.4.2", "1.4.9", True),
        ("a~=1.4.2", "1.5", False),
        ("a>1", "1.0", False),
        ("a<=1.0", "1", True),
        ("a (>=1)", "2", True),
        ("A_b.c", "1", True),
        ("a @ git+https://example.org/a", "1", True),
        ("a[extra]>=1", "2", False),
        ("a; python_version < '3.0'", "2", False),
        ("a>=1rc1", "2", False),
        ("a>=1", "2.0rc1", False),
        ("a===1", "1", False),
    ],
)
def test_what_is_met(text: str, version: str | None, met: bool) -> None:
    requirement = parse_requirement(text)
    assert requirement is not None
    assert is_met(requirement, version) is met


@pytest.mark.parametrize("text", ["", "# a comment", "-r other.txt", "--hash=x", "./path", "  "])
def test_what_is_no_requirement(text: str) -> None:
    assert parse_requirement(text) is None


def test_names_have_one_spelling_and_comments_are_cut() -> None:
    requirement = parse_requirement("Foo_Bar.baz >= 1  # why")
    assert requirement is not None
    assert (requirement.name, requirement.text) == ("foo-bar-baz", "Foo_Bar.baz >= 1")
