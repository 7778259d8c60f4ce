"""Words that are nearly ours: passed over with a warning that names our word."""

from __future__ import annotations

import re

from amplihack.recipes.decode import decode_text
from amplihack.recipes.fields import TABLES
from amplihack.recipes.foreign_words import instead_of
from amplihack.recipes.near_words import _WORDS


def test_each_word_is_unknown_and_leads_to_one_that_is_known() -> None:
    for table, words in _WORDS.items():
        known = TABLES[table].known
        assert words.keys().isdisjoint(known)
        assert [word for word in words if instead_of(word, table, frozenset(known))] == []
        assert {named for fix in words.values() for named in re.findall(r"`(\w+):", fix)} <= known.keys()


def fixes(text: str) -> dict[str, str]:
    problems = decode_text(text).problems
    return {each.what.split("'")[-2]: each.fix for each in problems if each.code == "unknown-field"}


def test_a_recipe_is_told_our_words() -> None:
    text = "name: r\nlabels: [x]\nschema: v1\nmax_concurrent_llm: 4\nreviewers: [ann]\nsteps:\n"
    text += "  - {id: a, foreach: [1], itemVariable: x, command: ls, comand: ls, wholly_unknown: 1}\n"
    assert fixes(text) == {
        "labels": "write `tags:`",
        "schema": "write `schema_version:`",
        "max_concurrent_llm": "write it below `rate_limiting:`",
        "reviewers": "write `author:`",
        "itemVariable": "write `as:`",
        "comand": "did you mean 'command'?",
        "wholly_unknown": "remove it, or rename it to x-… to keep it as a note",
    }


def test_a_step_with_a_name_and_no_id_is_shown_the_id_to_add() -> None:
    found = decode_text(
        "name: r\nsteps:\n  - {name: Assess changes!, command: ls}\n  - command: ls\n"
    ).problems
    assert [each.fix for each in found if each.code == "no-id"] == [
        "add `id: assess-changes`",
        "add `id: what-it-does`",
    ]
