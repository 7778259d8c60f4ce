"""What holds for every condition: it ends in a verdict or a ConditionError, and printing loses nothing."""

from __future__ import annotations

import string

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from amplihack.errors import ConditionError
from amplihack.recipes.conditions import (
    AMPLIFIER,
    AMPLIHACK,
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
    Rules,
    evaluate,
    holds,
    parse_condition,
    references,
    show,
)
from amplihack.recipes.conditions.used_variables import mentions_variables
from amplihack.recipes.values import Value

RULES = st.sampled_from([AMPLIHACK, AMPLIFIER])
WORDS = {"and", "or", "not", "in", "true", "True", "false", "False", "none", "None", "null"}
names = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,5}(-[A-Za-z][a-z0-9]{0,3})?", fullmatch=True).filter(
    lambda name: name not in WORDS and not name.endswith("__")
)
keys = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9_]{0,5}[a-z0-9])?", fullmatch=True)
any_keys = st.text(st.characters(exclude_characters="\"'\n\\{}"), max_size=6).filter(
    lambda key: not (key.startswith("__") or key.endswith("__"))
)
paths = st.builds(
    lambda first, rest: (first, *rest),
    names.filter(lambda n: n != "else"),
    st.lists(keys | any_keys, max_size=3),
)
placeholders = st.builds(PlaceholderNode, paths)
constants = st.builds(
    Constant,
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
    | st.text("{}'\"\\$xn. ", max_size=12),
)
texts = st.text(min_size=1, max_size=6).filter(lambda text: not text.endswith("$"))
interpolated = st.builds(
    lambda before, middle, after: Interpolated((*before, *middle, *after)),
    st.lists(texts, max_size=1),
    st.lists(placeholders, min_size=1, max_size=2),
    st.lists(texts, max_size=1),
)


def _compound(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    index_constants = st.builds(Constant, st.integers() | any_keys)
    return st.one_of(
        st.builds(And, several),
        st.builds(Or, several),
        st.builds(Not, inner),
        st.builds(Compare, st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in"]), inner, inner),
        st.builds(ListLiteral, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Call, st.sampled_from(["min", "str", "default", "any", "defined"]), several),
        st.builds(Method, inner, st.sampled_from(["strip", "get", "contains", "join"]), several),
        st.builds(Property, inner, keys),
        st.builds(Index, inner, index_constants | names.map(Name) | placeholders | interpolated),
    )


leaves: st.SearchStrategy[Expression] = constants | names.map(Name) | placeholders | interpolated
trees = st.recursive(leaves, _compound, max_leaves=12)
values: st.SearchStrategy[Value] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
scopes = st.dictionaries(st.sampled_from("abcx"), values)
FRAGMENTS = [
    *["a", "b", "x", "not", "in", "and", "or", "&&", "||", "!", "==", "!=", "<", ">=", "(", ")", "[", "]"],
    *[",", ".", "'", '"', "'s'", "5", "-1", ".5", "1e9", "{{a}}", "{{", "}}", "'{{b}}'", "\\", "$", "null"],
    *[
        "int(",
        "float(",
        "str(",
        "len(",
        "min(",
        "max(",
        "any(",
        "default(",
        "defined(",
        ".lower()",
        ".split('')",
    ],
    *[".join(", ".get(", ".contains(", ".find(", ".replace(", "__", "é", "\n", "\ud800"],
]
expressions = st.text() | st.text(string.printable) | st.lists(st.sampled_from(FRAGMENTS)).map(" ".join)
expressions |= st.lists(st.sampled_from(FRAGMENTS)).map("".join) | trees.map(show)


@settings(deadline=None)  # the machine may be busy
@given(expressions, scopes, RULES)
@example("not " * 2048, {}, AMPLIHACK)
@example("[" * 8192, {}, AMPLIHACK)
@example("a" + ".a" * 4000, {}, AMPLIHACK)
@example(" or ".join(["a"] * 1600), {}, AMPLIFIER)
@example("9" * 8000, {}, AMPLIHACK)
@example("x == '" + "9" * 8000 + "'", {"x": 1}, AMPLIHACK)
@example("int('" + "9" * 8000 + "')", {}, AMPLIHACK)
@example("{{" * 4000, {}, AMPLIHACK)
@example("{{a|" + "}}" * 2000, {}, AMPLIHACK)
def test_any_text_is_a_verdict_or_a_condition_error(text: str, scope: dict[str, Value], rules: Rules) -> None:
    try:
        verdict = holds(parse_condition(text), scope, rules)
    except ConditionError as error:
        assert error.what
        assert 0 <= error.column <= len(text)
    else:
        assert isinstance(verdict, bool)


@settings(deadline=None)  # the machine may be busy
@given(trees)
def test_printing_then_parsing_changes_nothing(tree: Expression) -> None:
    again = parse_condition(show(tree)).tree
    assert again == tree
    assert show(again) == show(tree)  # to Python `1`, `1.0` and `true` are equal, in print they are not


@given(trees)
def test_a_tree_mentions_variables_where_it_has_references(tree: Expression) -> None:
    assert mentions_variables(tree) == bool(references(tree))


@settings(deadline=None)  # the machine may be busy
@given(expressions)
def test_what_was_parsed_prints_as_something_that_parses_alike(text: str) -> None:
    try:
        tree = parse_condition(text).tree
    except ConditionError:
        assume(False)
    assert parse_condition(show(tree)).tree == tree


@settings(deadline=None)  # the machine may be busy
@given(
    st.text() | st.sampled_from(["' or true or '", "') or ('1' == '1", "{{a}}", "\\", "true", "x' or 'x"]),
    RULES,
)
def test_a_value_in_quotes_is_only_ever_text(hostile: str, rules: Rules) -> None:
    scope: dict[str, Value] = {"value": hostile, "a": True}
    assert evaluate(parse_condition("'{{value}}'").tree, scope, rules) == hostile
    assert evaluate(parse_condition("{{value}}").tree, scope, rules) == hostile
    assert evaluate(parse_condition("'<{{value}}>'").tree, scope, rules) == f"<{hostile}>"
    assert holds(parse_condition("'<{{value}}>' == 'expected'"), scope, rules) is False


@settings(deadline=None)  # the machine may be busy
@given(trees, scopes, scopes, RULES)
def test_only_the_variables_that_are_mentioned_matter(
    tree: Expression, scope: dict[str, Value], others: dict[str, Value], rules: Rules
) -> None:
    mentioned = {reference.path[0] for reference in references(tree)}
    noise = {name: value for name, value in others.items() if name not in mentioned}
    assert _outcome(tree, scope, rules) == _outcome(
        tree, {k: v for k, v in scope.items() if k in mentioned} | noise, rules
    )


def _outcome(tree: Expression, scope: dict[str, Value], rules: Rules) -> str:
    try:
        return repr(evaluate(tree, scope, rules))
    except ConditionError as error:
        return f"{error.what} at {error.column}"
