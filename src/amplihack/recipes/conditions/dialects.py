"""Tell whether the rules of the two dialects can give a condition different answers."""

from __future__ import annotations

from amplihack.recipes.conditions.rules import AMPLIFIER, number_in
from amplihack.recipes.conditions.tree import And, Call, Compare, Constant, Expression, Method, Not, Or


def depends_on_dialect(tree: Expression) -> bool:
    """Tell whether the answer of a condition can depend on the dialect; some of these never do."""
    match tree:
        case And(operands) | Or(operands):
            return any(map(depends_on_dialect, operands))
        case Not(operand):
            return depends_on_dialect(operand)
        case Compare(_, left, right):
            return not (_same_for_all(left) or _same_for_all(right))
        case Constant(value):
            return isinstance(value, str) and value != "" and value.lower() in AMPLIFIER.false_words
        case Call() | Method():
            return False  # nearly all give true, false or a number
        case _:
            return True


def _same_for_all(side: Expression) -> bool:
    """Tell whether a side is a constant that both dialects compare alike with anything."""
    if not isinstance(side, Constant):
        return False
    text = side.value
    return not isinstance(text, str) or (number_in(text) is None and not text.startswith(("[", "{")))
