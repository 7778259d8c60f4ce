"""Parse tokens into a tree, with one small function for each rule of the grammar."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar, cast

from amplihack.errors import ConditionError
from amplihack.recipes.conditions import literals
from amplihack.recipes.conditions.functions import LEAST_ARGUMENTS as FUNCTIONS
from amplihack.recipes.conditions.methods import LEAST_ARGUMENTS as METHODS
from amplihack.recipes.conditions.tokens import Token, tokenize
from amplihack.recipes.conditions.tree import (
    And,
    Call,
    Compare,
    Condition,
    Constant,
    Expression,
    Index,
    ListLiteral,
    Method,
    Name,
    Not,
    Operator,
    Or,
    Property,
    height,
)
from amplihack.records import Record

_T = TypeVar("_T")
MOST_BYTES: Final = 8192
MOST_BRACKETS: Final = 32
MOST_LEVELS: Final = 160  # keeps every walk over a tree far from Python's own recursion limit

_LITERALS: Final = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "none": None,
    "None": None,
    "null": None,
}
_COMPARISONS: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "in"})
_STARTS: Final = frozenset({"name", "number", "string", "placeholder", "(", "["})


def parse_condition(text: str) -> Condition:
    """Parse the text of a condition. Raises ConditionError with the column of the first mistake."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        raise ConditionError(
            f"Parse error: condition expression too long ({size} bytes, max {MOST_BYTES})",
            fix="compute the answer in a bash step and test its output",
        )
    tokens = tokenize(text)
    reader = _Reader(tokens, tokens[0].kind)
    tree = _or(reader)
    if reader.kind != "end":
        raise reader.left_over()
    # A tree has no more levels than tokens.
    if len(tokens) > MOST_LEVELS and height(tree) > MOST_LEVELS:
        raise _too_deep(MOST_LEVELS, tree.column)
    return Condition(text, tree)


class _Reader(Record, frozen=False, eq=False):
    """The position of the parser in the tokens, and the number of brackets that are open there."""

    tokens: tuple[Token, ...]
    kind: str  # of the next token
    position: int = 0
    brackets: int = 0

    @property
    def column(self) -> int:
        return self.tokens[self.position].column

    def take(self) -> Token:
        """Return the next token, which is not the end, and move past it."""
        token = self.tokens[self.position]
        self.position += 1
        self.kind = self.tokens[self.position].kind
        return token

    def accept(self, kind: str) -> bool:
        if self.kind != kind:
            return False
        self.take()
        return True

    def left_over(self) -> ConditionError:
        """Return the error for words behind a whole expression."""
        from amplihack.recipes.conditions.fixes import for_rest  # deferred, as below: most are right

        words = [token.text for token in self.tokens]
        return self.unexpected(fix=for_rest(words[self.position - 1 :], words[: self.position - 1]))

    def misplaced(self) -> ConditionError:
        """Return the error for a word where a value should stand, or for none at all."""
        from amplihack.recipes.conditions.fixes import for_missing, for_rest

        before = self.tokens[self.position - 1].text if self.position else ""
        is_operator = before == "<" and self.kind == ">"
        return self.unexpected(fix=for_rest([before, ">"]) if is_operator else for_missing(before))

    def unexpected(self, wanted: str = "", *, fix: str = "") -> ConditionError:
        token = self.tokens[self.position]
        what = f"unexpected token: {token.text} at position {token.column}"
        if token.kind == "end":
            what = "unexpected end of expression"
        if wanted:
            what = f"expected {wanted} at position {token.column}"
        return ConditionError(f"Parse error: {what}", column=token.column, fix=fix)

    def inside(self, rule: Callable[[_Reader], _T], closing: str) -> _T:
        """Parse by a rule what stands between an opening bracket, already taken, and its closing one."""
        self.brackets += 1
        if self.brackets > MOST_BRACKETS:
            raise _too_deep(MOST_BRACKETS, self.tokens[self.position - 1].column)
        found = rule(self)
        if not self.accept(closing):
            from amplihack.recipes.conditions.fixes import for_closing

            raise self.unexpected(f"'{closing}'", fix=for_closing(closing))
        self.brackets -= 1
        return found


def _too_deep(most: int, column: int) -> ConditionError:
    return ConditionError(
        f"Parse error: expression too deeply nested (max {most} levels)",
        column=column,
        fix="compute a part of it in a bash step",
    )


def _or(reader: _Reader) -> Expression:
    """and { "or" and }"""
    return _chain(reader, "or", _and, Or)


def _and(reader: _Reader) -> Expression:
    """not { "and" not }"""
    return _chain(reader, "and", _not, And)


def _chain(
    reader: _Reader, word: str, operand: Callable[[_Reader], Expression], node: type[And | Or]
) -> Expression:
    column, operands = reader.column, [operand(reader)]
    while reader.accept(word):
        operands.append(operand(reader))
    return node(tuple(operands), column) if len(operands) > 1 else operands[0]


def _not(reader: _Reader) -> Expression:
    """{ "not" } compare"""
    columns = []
    while reader.kind == "not":
        columns.append(reader.take().column)
    tree = _compare(reader)
    for column in reversed(columns):
        tree = Not(tree, column)
    return tree


def _compare(reader: _Reader) -> Expression:
    """primary [ operator primary | "is" [ "not" ] ( "defined" | "none" ) ]"""
    column, left = reader.column, _primary(reader)
    if reader.kind == "name" and reader.tokens[reader.position].text == "is":
        return _tested(reader, left, column)
    operator = _operator(reader)
    return Compare(operator, left, _primary(reader), column) if operator else left


def _tested(reader: _Reader, left: Expression, column: int) -> Expression:
    """Return what `x is defined` and its like mean; any other word behind `is` is left over."""
    negated = reader.tokens[reader.position + 1].text == "not"
    test = reader.tokens[reader.position + 1 + negated]
    is_null = test.text in _LITERALS and _LITERALS[test.text] is None
    if test.kind != "name" or not (is_null or test.text == "defined"):
        return left
    for _ in range(2 + negated):
        reader.take()
    if is_null:
        return Compare("!=" if negated else "==", left, Constant(None, test.column), column)
    asked = Call("defined", (left,), column)
    return Not(asked, column) if negated else asked


def _operator(reader: _Reader) -> Operator | None:
    if reader.kind in _COMPARISONS:
        return cast("Operator", reader.take().kind)
    if reader.tokens[reader.position].text == "not" and reader.tokens[reader.position + 1].kind == "in":
        reader.take()
        reader.take()
        return "not in"
    return None


def _primary(reader: _Reader) -> Expression:
    """atom { "." key | "." method "(" items ")" | "[" primary "]" }"""
    tree = _atom(reader)
    while reader.kind in (".", "["):
        tree = _dotted(reader, tree) if reader.take().kind == "." else _indexed(reader, tree)
    return tree


def _dotted(reader: _Reader, base: Expression) -> Expression:
    if reader.kind != "key":
        raise reader.unexpected("method name after '.'", fix="write a key or a method behind the dot: x.key")
    key = reader.take()
    literals.safe_name(key.text, key.column)
    if not reader.accept("("):
        return Property(base, key.text, base.column)
    if key.text not in METHODS:
        raise _no_method(key)
    arguments = reader.inside(_arguments, ")")
    _check_count(f".{key.text}()", len(arguments), METHODS[key.text], key.column)
    return Method(base, key.text, arguments, key.column)


def _indexed(reader: _Reader, base: Expression) -> Expression:
    if reader.kind not in _STARTS:
        raise _expected_index(reader.column)
    index = reader.inside(_primary, "]")
    match index:
        case Constant(str() as key):
            literals.safe_name(key, index.column)
        case Constant(bool() | float() | None) | ListLiteral():
            raise _expected_index(index.column)
    return Index(base, index, base.column)


def _expected_index(column: int) -> ConditionError:
    return ConditionError(
        f"Parse error: expected string key or numeric index inside brackets at position {column}",
        column=column,
        fix="write x['key'] or x[0]",
    )


def _atom(reader: _Reader) -> Expression:
    if reader.kind not in _STARTS:
        raise reader.misplaced()
    token = reader.take()
    match token.kind:
        case "string":
            return literals.quoted(token)
        case "number":
            return literals.number(token)
        case "placeholder":
            return literals.placeholder(token)
        case "(":
            return reader.inside(_or, ")")
        case "[":
            return ListLiteral(reader.inside(_list, "]"), token.column)
        case _:
            return _name(reader, token)


def _name(reader: _Reader, token: Token) -> Expression:
    if token.text in _LITERALS:
        return Constant(_LITERALS[token.text], token.column)
    literals.safe_name(token.text, token.column)
    if not reader.accept("("):
        return Name(token.text, token.column)
    if token.text not in FUNCTIONS:
        raise _no_function(token)
    arguments = reader.inside(_arguments, ")")
    _check_count(f"{token.text}()", len(arguments), FUNCTIONS[token.text], token.column)
    return Call(token.text, arguments, token.column)


def _arguments(reader: _Reader) -> tuple[Expression, ...]:
    return _items(reader, ")")


def _list(reader: _Reader) -> tuple[Expression, ...]:
    return _items(reader, "]")


def _items(reader: _Reader, closing: str) -> tuple[Expression, ...]:
    """[ primary { "," primary } [ "," ] ]"""
    items: list[Expression] = []
    while reader.kind != closing:
        items.append(_primary(reader))
        if not reader.accept(","):
            break
    return tuple(items)


def _no_method(name: Token) -> ConditionError:
    from amplihack.recipes.conditions.fixes import for_method

    return _unsafe(f"method '.{name.text}()'", name.column, for_method(name.text, METHODS))


def _no_function(name: Token) -> ConditionError:
    from amplihack.recipes.conditions.fixes import for_function

    return _unsafe(f"function '{name.text}'", name.column, for_function(name.text, FUNCTIONS))


def _unsafe(what: str, column: int, fix: str) -> ConditionError:
    return ConditionError(f"Unsafe expression: {what} is not allowed", column=column, fix=fix)


def _check_count(name: str, given: int, least: int, column: int) -> None:
    if given < least:
        from amplihack.recipes.conditions.fixes import for_count

        plural = "" if least == 1 else "s"
        what = f"Parse error: {name} needs at least {least} argument{plural}"
        raise ConditionError(what, column=column, fix=for_count(name))
