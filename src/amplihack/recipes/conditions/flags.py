"""Find variables that a condition tests as they are, and those whose text says no and holds all the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from amplihack.recipes.conditions.rules import AMPLIFIER, Rules
from amplihack.recipes.conditions.tree import (
    And,
    Call,
    Expression,
    Interpolated,
    Name,
    Not,
    Or,
    PlaceholderNode,
)
from amplihack.recipes.values import Value

_NO: Final = AMPLIFIER.false_words | {"no", "off"}
_LONGEST = max(map(len, _NO))


def tested_names(tree: Expression) -> Iterator[tuple[str, int]]:
    """Yield the names, with their columns, of which a condition asks only whether they hold."""
    match tree:
        case Name(name) | PlaceholderNode((name,)) | Interpolated((PlaceholderNode((name,)),)):
            yield name, tree.column
        case Not(operand) | Call("bool", (operand,)):
            yield from tested_names(operand)
        case And(operands) | Or(operands):
            for operand in operands:
                yield from tested_names(operand)
        case _:
            return


def texts_that_say_no(
    tree: Expression, scope: Mapping[str, Value], rules: Rules
) -> Iterator[tuple[str, str]]:
    """Yield each name that is tested as it is and whose text, such as "false", holds under these rules."""
    for name, _ in tested_names(tree):
        value = scope.get(name)
        if isinstance(value, str) and 0 < len(value) <= _LONGEST and value.lower() in _NO - rules.false_words:
            yield name, value
