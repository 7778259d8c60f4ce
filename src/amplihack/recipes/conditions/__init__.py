"""Define the condition language: text -> tokens -> tree -> value, each step in a file of its own.

or      = and { ("or" | "||") and }
and     = not { ("and" | "&&") not }
not     = ("not" | "!") not | compare
compare = primary [ ("==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not" "in") primary ]
primary = atom { "." method "(" items ")" | "." key | "[" primary "]" }
atom    = string | number | name | placeholder | function "(" items ")" | "(" or ")" | "[" items "]"
items   = [ primary { "," primary } [ "," ] ]

A placeholder is a value wherever it stands: what it holds is never read as part of the expression.
"""

from amplihack.recipes.conditions.evaluate import evaluate, holds
from amplihack.recipes.conditions.parse import parse_condition
from amplihack.recipes.conditions.rules import AMPLIFIER, AMPLIHACK, Rules
from amplihack.recipes.conditions.show import show
from amplihack.recipes.conditions.tree import (
    And,
    Call,
    Compare,
    Condition,
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
)
from amplihack.recipes.conditions.used_variables import VariableReference, known, references

__all__ = [
    "AMPLIFIER",
    "AMPLIHACK",
    "And",
    "Call",
    "Compare",
    "Condition",
    "Constant",
    "Expression",
    "Index",
    "Interpolated",
    "ListLiteral",
    "Method",
    "Name",
    "Not",
    "Or",
    "PlaceholderNode",
    "Property",
    "Rules",
    "VariableReference",
    "evaluate",
    "holds",
    "known",
    "parse_condition",
    "references",
    "show",
]
