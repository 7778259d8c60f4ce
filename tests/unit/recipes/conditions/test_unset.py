"""Bare names in comparisons are found where they read like texts."""

from __future__ import annotations

import pytest

from amplihack.recipes.conditions import AMPLIFIER, AMPLIHACK, parse_condition
from amplihack.recipes.conditions.unset import bare_words, missing_members, text_words, unset_names
from amplihack.recipes.values import Value


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("status == ok", ["status", "ok"]),
        ("host == example.org", ["host", "example.org"]),
        ("version != v1.2", ["version", "v1.2"]),
        ("report.verdict == 'pass'", []),
        ("name.lower() == main.py", ["main.py"]),
        ("status in [ok, done]", ["status", "ok", "done"]),
        ("not ok", []),
    ],
)
def test_bare_words_are_what_an_author_may_have_meant_as_text(condition: str, words: list[str]) -> None:
    assert [word for word, _ in bare_words(parse_condition(condition).tree)] == words


def test_a_bare_word_beside_a_placeholder_is_a_text_where_variables_have_braces() -> None:
    tree = parse_condition("{{status}} == ok and state != done").tree
    assert unset_names(tree, {"status": "ok", "state": 1}, AMPLIFIER) == ("done",)
    assert unset_names(tree, {"status": None, "state": 1}, AMPLIHACK) == ("ok", "done")
    assert [tree.inner[0].inner[1].column] == list(text_words(tree, AMPLIFIER))
    assert list(text_words(tree, AMPLIHACK)) == []


@pytest.mark.parametrize(
    ("condition", "absent"),
    [
        ("report.verdct == 'pass'", ["report.verdct"]),
        ("{{report.verdct}} == 'pass'", ["report.verdct"]),
        ("'{{report.verdct}}' == 'pass'", ["report.verdct"]),
        ("report.n.x > 3 and report.zz == 1", ["report.n.x"]),
        ("report.verdict == 'pass' or report.zz == 1", []),
        ("report.zz.lower() in ['a']", ["report.zz"]),
        ("len(report.zz) == 2 or items[7] == 1", ["report.zz", "items.7"]),
        ("report.blocked", []),
        ("not report.blocked", []),
        ("prose.blocked", ["prose.blocked"]),
        ("ok and not {{prose.a.b}}", ["prose.a.b"]),
        ("report.n.blocked", ["report.n.blocked"]),
        ("blank.blocked or items[7]", []),
        ("defined(prose.blocked)", []),
        ("report.blocked == null", []),
        ("default(report.blocked, '') == ''", []),
        ("report.get('blocked') == 1", []),
        ("report.nothing.x == 1", []),
        ("unknown.x == 1", []),
    ],
)
def test_parts_that_are_compared_and_absent_are_found(condition: str, absent: list[str]) -> None:
    scope: dict[str, Value] = {"report": {"verdict": "pass", "n": 3, "nothing": None}, "items": [1]}
    scope |= {"prose": "All is well.", "ok": True, "blank": ""}
    found = missing_members(parse_condition(condition).tree, scope, AMPLIHACK)
    assert [".".join(path) for path in found] == absent
