from __future__ import annotations

import pytest

from amplihack.errors import ConditionError
from amplihack.recipes.conditions import (
    And,
    Call,
    Compare,
    Constant,
    Expression,
    Index,
    Interpolated,
    ListLiteral,
    Method,
    Name,
    Not,
    Or,
    PlaceholderNode,
    Property,
    holds,
    parse_condition,
    references,
    show,
)

A, B, C = Name("a"), Name("b"), Name("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", A),
        ("((a))", A),
        ("a or b and not c", Or((A, And((B, Not(C)))))),
        ("a && b || !c", Or((And((A, B)), Not(C)))),
        ("(a or b) or c", Or((Or((A, B)), C))),
        ("not a in b", Not(Compare("in", A, B))),
        ("a not in b", Compare("not in", A, B)),
        ("a.b['c'][0]", Index(Index(Property(A, "b"), Constant("c")), Constant(0))),
        ("a.lower()", Method(A, "lower", ())),
        ("min(a, b,)", Call("min", (A, B))),
        ("[a, 'x',]", ListLiteral((A, Constant("x")))),
        ("[]", ListLiteral(())),
        ("{{a.b}}", PlaceholderNode(("a", "b"))),
        ("'{{a.b}}'", Interpolated((PlaceholderNode(("a", "b")),))),
        ("'x{{a}}y'", Interpolated(("x", PlaceholderNode(("a",)), "y"))),
        ("'{{a[\"it\\'s\"]}}'", Interpolated((PlaceholderNode(("a", "it's")),))),
        ('{{a["}}"]}}', PlaceholderNode(("a", "}}"))),
        ("'\\{{a}}'", Constant("{{a}}")),
        ("{{ '{{' }}", Constant("{{")),
        ("'x {{ \"{{a}}\" }} y'", Constant("x {{a}} y")),
        ('\'{{ "{{" }}{{a}}{{ "}}" }}\'', Interpolated(("{{", PlaceholderNode(("a",)), "}}"))),
        ("'{{a}}\\\\{{b}}'", Interpolated((PlaceholderNode(("a",)), "\\", PlaceholderNode(("b",))))),
        ("null", Constant(None)),
        ("-5", Constant(-5)),
        ("a-b", Name("a-b")),
    ],
)
def test_a_text_becomes_a_tree(text: str, tree: Expression) -> None:
    assert parse_condition(text).tree == tree


@pytest.mark.parametrize(
    ("text", "kind"), [("5", int), ("5.0", float), ("5.", float), ("5e0", float), ("9007199254740993", int)]
)
def test_a_number_is_whole_unless_it_has_a_point_or_an_exponent(text: str, kind: type) -> None:
    tree = parse_condition(text).tree
    assert isinstance(tree, Constant)
    assert type(tree.value) is kind


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 0, "Parse error: unexpected end of expression"),
        (" \t\n", 3, "Parse error: unexpected end of expression"),
        ("a ==", 4, "Parse error: unexpected end of expression"),
        ("a and", 5, "Parse error: unexpected end of expression"),
        ("not", 3, "Parse error: unexpected end of expression"),
        ("a b c", 2, "Parse error: unexpected token: b at position 2"),
        ("a == 5 == 1", 7, "Parse error: unexpected token: == at position 7"),
        ("a)", 1, "Parse error: unexpected token: ) at position 1"),
        ("s 'junk' (", 2, "Parse error: unexpected token: 'junk' at position 2"),
        ("a -3", 2, "Parse error: unexpected token: -3 at position 2"),
        ("a-3", 1, "Parse error: unexpected token: -3 at position 1"),
        ("5abc", 1, "Parse error: unexpected token: abc at position 1"),
        ("0x10", 1, "Parse error: unexpected token: x10 at position 1"),
        ("== ['a']", 0, "Parse error: unexpected token: == at position 0"),
        ("a == not b", 5, "Parse error: unexpected token: not at position 5"),
        ("a ! in b", 2, "Parse error: unexpected token: ! at position 2"),
        ("not in b", 4, "Parse error: unexpected token: in at position 4"),
        ("true(1)", 4, "Parse error: unexpected token: ( at position 4"),
        ("[,]", 1, "Parse error: unexpected token: , at position 1"),
        ("['a',,]", 5, "Parse error: unexpected token: , at position 5"),
        ("min(,)", 4, "Parse error: unexpected token: , at position 4"),
        ("x in ['a' 'b']", 10, "Parse error: expected ']' at position 10"),
        ("x in ['a'", 9, "Parse error: expected ']' at position 9"),
        ("len(a == b)", 6, "Parse error: expected ')' at position 6"),
        ("((a)", 4, "Parse error: expected ')' at position 4"),
        ("a.", 2, "Parse error: expected method name after '.' at position 2"),
        ("a.'b'", 2, "Parse error: expected method name after '.' at position 2"),
        ("a[]", 2, "Parse error: expected string key or numeric index inside brackets at position 2"),
        ("a[1.5]", 2, "Parse error: expected string key or numeric index inside brackets at position 2"),
        ("a[true]", 2, "Parse error: expected string key or numeric index inside brackets at position 2"),
        ("a[0", 3, "Parse error: expected ']' at position 3"),
        ("a == 'b", 5, "Parse error: unterminated string at position 5"),
        ("a == 'b\\'", 5, "Parse error: unterminated string at position 5"),
        ("1.2.3", 0, "Parse error: invalid number: 1.2.3"),
        ("1e400", 0, "Parse error: invalid number: 1e400"),
        ("a & b", 2, "Parse error: unexpected character: '&' at position 2"),
        ("a | b", 2, "Parse error: unexpected character: '|' at position 2"),
        ("a = b", 2, "Parse error: unexpected character: '=' at position 2"),
        ("a + b", 2, "Parse error: unexpected character: '+' at position 2"),
        ("a % b", 2, "Parse error: unexpected character: '%' at position 2"),
        ("a - b", 2, "Parse error: unexpected character: '-' at position 2"),
        ("{a}", 0, "Parse error: unexpected character: '{' at position 0"),
        ("é", 0, "Parse error: unexpected character: 'é' at position 0"),
        ("a == {{b|upper}}", 5, "Parse error: '{{b|upper}}' is not a placeholder at position 5"),
        ("{{.b}}", 0, "Parse error: '{{.b}}' is not a placeholder at position 0"),
        ("{{#if b}}", 0, "Parse error: '{{#if b}}' is not a placeholder at position 0"),
        ("{{}}", 0, "Parse error: '{{}}' is not a placeholder at position 0"),
        ("{{b", 0, "Parse error: '{{' is never closed at position 0"),
        ("foo(1) == 2", 0, "Unsafe expression: function 'foo' is not allowed"),
        ("eval('1') or true", 0, "Unsafe expression: function 'eval' is not allowed"),
        ("true or foo()", 8, "Unsafe expression: function 'foo' is not allowed"),
        ("a.format('x')", 2, "Unsafe expression: method '.format()' is not allowed"),
        ("__import__('os')", 0, "Unsafe expression: dunder name '__import__' is not allowed"),
        ("__class__", 0, "Unsafe expression: dunder name '__class__' is not allowed"),
        ("a.__dict__", 2, "Unsafe expression: dunder name '__dict__' is not allowed"),
        ("a['__dict__']", 2, "Unsafe expression: dunder name '__dict__' is not allowed"),
        ("{{a.__dict__}}", 0, "Unsafe expression: dunder name '__dict__' is not allowed"),
        ("'x{{__a__}}'", 2, "Unsafe expression: dunder name '__a__' is not allowed"),
    ],
)
def test_a_mistake_is_named_with_its_column(text: str, column: int, message: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parse_condition(text)
    assert (caught.value.what, caught.value.column) == (message, column)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("a = b", "=="),
        ("a & b", "and"),
        ("a b", "join expressions with `and` or `or`"),
        ("{{b|upper}}", "no filters"),
        ("{{.b}}", "{{b}}"),
        ("{{#if b}}", "no blocks"),
        ("{{else}}", "no blocks"),
        ("{{b c}}", "{{name}}"),
        ("foo(1)", "len"),
        ("a.foo()", "startswith"),
        ("'a", "close it with '"),
    ],
)
def test_a_mistake_says_how_to_mend_it(text: str, fix: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parse_condition(text)
    assert fix in caught.value.fix


def test_double_underscores_inside_a_name_are_harmless() -> None:
    assert holds(parse_condition("my__var == 1"), {"my__var": 1}) is True


@pytest.mark.parametrize("levels", [30, 32])
def test_brackets_may_nest(levels: int) -> None:
    assert holds(parse_condition("(" * levels + "a" + ")" * levels), {"a": 1}) is True


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("(", ")"), ("[", "]"), ("len(", ")"), ("not (", ")"), ("a[", "]"), ("a.get(", ")")],
)
def test_brackets_nested_too_deeply_are_refused(opening: str, closing: str) -> None:
    with pytest.raises(ConditionError, match=r"too deeply nested \(max 32 levels\)"):
        parse_condition(opening * 33 + "a" + closing * 33)


@pytest.mark.parametrize(
    "text", ["not " * 2000 + "a", "a" + ".b" * 4000, "a" + "[0]" * 2700, "!" * 8000 + "a"]
)
def test_other_nesting_is_bounded_too(text: str) -> None:
    with pytest.raises(ConditionError, match="too deeply nested"):
        parse_condition(text)


def test_the_longest_condition_fits_and_one_byte_more_does_not() -> None:
    longest = f"'{'é' * 4094}' "
    longest += " " * (8192 - len(longest.encode()))
    assert holds(parse_condition(longest), {}) is True
    with pytest.raises(ConditionError) as caught:
        parse_condition(longest + " ")
    assert caught.value.what == "Parse error: condition expression too long (8193 bytes, max 8192)"


def test_a_long_literal_is_fine() -> None:
    assert holds(parse_condition(f"x == '{'y' * 3000}'"), {"x": "y" * 3000}) is True


@pytest.mark.parametrize(
    "text", ["not " * 159 + "a", "a" + ".b" * 159, "a or b and not (" * 32 + "a" + ") == 1" * 31 + ")"]
)
def test_the_deepest_conditions_can_be_used_like_any_other(text: str) -> None:
    tree = parse_condition(text).tree
    assert parse_condition(show(tree)).tree == tree
    assert hash(tree) == hash(parse_condition(text).tree)
    assert isinstance(holds(parse_condition(text), {}), bool)
    assert references(tree)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a is defined", "defined(a)"),
        ("a is not defined", "not defined(a)"),
        ("not a is defined", "not defined(a)"),
        ("a.b[0] is defined and 'x' in str(a)", "defined(a.b[0]) and 'x' in str(a)"),
        ("{{a}} is defined or b", "defined({{a}}) or b"),
        ("a is none", "a == null"),
        ("(a is not None) and a is not null", "(a != null) and a != null"),
    ],
)
def test_a_test_by_is_means_what_it_says(written: str, meant: str) -> None:
    assert parse_condition(written).tree == parse_condition(meant).tree
