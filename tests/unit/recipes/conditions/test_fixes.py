"""Spellings of other languages are refused with the words of this one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplihack.errors import ConditionError
from amplihack.recipes.conditions import fixes, parse_condition
from amplihack.recipes.conditions.functions import LEAST_ARGUMENTS as FUNCTIONS
from amplihack.recipes.conditions.methods import LEAST_ARGUMENTS as METHODS


def refused(text: str) -> ConditionError:
    with pytest.raises(ConditionError) as caught:
        parse_condition(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("status = 'ok'", "use == to compare"),
        ("status === 'ok'", "write == for ==="),
        ("status !== 'ok'", "write != for !=="),
        ("a <> b", "write != for <>"),
        ("a => 1", "write >= for =>"),
        ("a =~ 'x'", "there are no patterns here"),
        ("a & b", "use `and` or &&"),
        ("a AND b", "write `and`, in small letters"),
        ("NOT a", "write `not`, in small letters"),
        ("if a", "leave `if` out"),
        ("if (a)", "write the expression alone"),
        ("unless a", "leave `unless` out and put `not` in front"),
        ("{% if a %}", "write the expression alone"),
        ("%a% == 1", "write a variable as a bare name"),
        ("typeof a == 'b'", "types cannot be asked for"),
        ("a == hello world", "write 'hello world' in quotes"),
        ("a == b between c", "write `low <= x and x <= high`"),
        ("a == 1_000", "without underscores: 1000"),
        ("a == 1,000", "without commas: 1000"),
        ("a == 0x10", "with the digits 0 to 9"),
        ("x -eq 1", "write == for -eq"),
        ("$x == 1", "write a variable as a bare name"),
        ("x is set", "write defined(x)"),
        ("x is not nil", "write x != null"),
        ("x is defined y", "join expressions with `and` or `or`"),
        ("x is", "write == for is"),
        ("x is not", "write == for is"),
        ("x is not empty", "write x: "),
        ("x is y", "write == for is"),
        ("x | default('a') == 'b'", "write default(x, 'a')"),
        ("{{ items | length }} > 0", "write len(items)"),
        ("x | shuffle", "there are no filters here"),
        ("x ?? 'a'", "write default(x, 'other')"),
        ("x?.y == 1", "write x.key"),
        ("x ? 1 : 2", "two steps"),
        ("1 < x < 3", "`… < x and x < …`"),
        ("x + 1 > 2", "there is no arithmetic here"),
        ("x == y/2 + 1", "if the text is meant, write 'y/2' in quotes; there is no arithmetic"),
        ("branch == release/2.0", "if the text is meant, write 'release/2.0' in quotes"),
        ("who in [ada@example.org, x]", "if the text is meant, write 'ada@example.org' in quotes"),
        ("url == https://example.org", "if the text is meant, write 'https://example.org' in quotes"),
        ("x == “abc”", "use straight quotes"),
        ("x ==", "say what to compare with, such as x == 'text'"),
        ("x and", "say what stands behind `and`"),
        ("and x", "begin with a value"),
        ("(a", "close the bracket with )"),
        ("x == 'a')", "leave it out: no bracket is open"),
        ("x in 'a', 'b'", "put several values into a list"),
        ("len x > 3", "put brackets around what it is asked about: len(x)"),
        ("not defined x", "defined(x)"),
        ("x := 1", "use == to compare"),
        ("x == 'it's'", 'into " quotes'),
        ("{{ x == 'a' }}", "leave the braces out, since a condition is an expression already: x == 'a'"),
        ("x[1:2]", "there are no slices"),
        ("x[1.5]", "write x['key'] or x[0]"),
        ("x.", "behind the dot"),
        ("default(x)", "write default(x, 'other')"),
        ("x.startswith()", "write x.startswith('a')"),
        ("max(x)", "write max(a, b)"),
        ("v == 1.2.3", "put quotes around it: '1.2.3'"),
        ("x contains 'a'", "write x.contains('a') or 'a' in x"),
        ("x.startsWith('a')", "write .startswith(…); allowed are contains, "),
        ("x.includes('a')", "write .contains(…)"),
        ("x.strats('a')", "allowed are"),
        ("x.lowre()", "did you mean .lower(…)?"),
        ("success()", "leave it out: a failed step ends the run"),
        ("isset(x)", "write defined(x)"),
        ("lne(x)", "did you mean len(…)?"),
        ("straße == 1", "inputs["),
        ("x == 1 # why", "comment"),
        ("x; y", "one expression"),
        ("a b", "join expressions with `and` or `or`"),
    ],
)
def test_what_other_languages_write_is_answered_in_words_of_this_one(text: str, fix: str) -> None:
    assert fix in refused(text).fix


@pytest.mark.parametrize("word", [*fixes.METHODS, *fixes.FUNCTIONS])
def test_no_word_that_works_here_is_in_the_tables_of_other_languages(word: str) -> None:
    assert not (word in fixes.METHODS and word in METHODS)
    assert not (word in fixes.FUNCTIONS and word in FUNCTIONS)


@given(st.text(alphabet="abx ='\"()[]{}|&!<>.,-+*/%?:;#$@~0123 isnotdefinedandor", max_size=30))
def test_every_refusal_says_how_to_write_it(text: str) -> None:
    try:
        parse_condition(text)
    except ConditionError as error:
        assert error.fix
