from __future__ import annotations

import pytest

from amplihack.recipes.conditions import parse_condition, show


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("((a))", "a"),
        ("a&&b||!c", "a and b or not c"),
        ("(a or b) and c", "(a or b) and c"),
        ("not (a == b)", "not a == b"),
        ("(not a) == b", "(not a) == b"),
        ("not (a and b)", "not (a and b)"),
        ("(a and b) and c", "(a and b) and c"),
        ('a  not   in ["x",]', "a not in ['x']"),
        ("a.b['c'][-1]", "a.b['c'][-1]"),
        ("(5).lower()", "5 .lower()"),
        ("(a == b).lower()", "(a == b).lower()"),
        ("None == True", "null == true"),
        ("1e3", "1000.0"),
        ("'it\\'s\\n\\\\'", "'it\\'s\\n\\\\'"),
        ("'\\{{x}}'", "'\\{\\{x}}'"),
        ("{{ a['b'][0][\"c d\"] }}", '{{a.b.0["c d"]}}'),
        ("\"<{{a['c d']}}>\"", "'<{{a[\"c d\"]}}>'"),
        ('"{{a[\'say \\"hi\\"\']}}"', '"{{a[\'say \\"hi\\"\']}}"'),
    ],
)
def test_a_tree_is_shown_in_its_plainest_form(text: str, shown: str) -> None:
    tree = parse_condition(text).tree
    assert show(tree) == shown
    assert parse_condition(shown).tree == tree
