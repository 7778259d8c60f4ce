"""Define what guards need while a script runs: patterns, tables and functions, on one line before it.

The functions run in processes of their own, and use what a script cannot have changed: builtins by their own
names, variables that are called like nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable

from amplihack.recipes.templates.bash.number_guards import GUARDS, KIND, LEFT, RUN, STOP, TARGET, Guard
from amplihack.recipes.templates.bash.variable_attributes import EXPANDED_VARIABLES, INTEGERS

# What a command printed is passed on if nothing is left of it without what is harmless.
_PRINTED = (
    'AMPLIHACK_PRINTED(){ IFS= builtin read -rd "" AMPLIHACK_TEXT||[[ . ]];'
    "if [[ ${AMPLIHACK_TEXT//${!2}} ]];then AMPLIHACK_TEXT=@;builtin printf "
    '"amplihack: line %s: AMPLIHACK_STOP: what a command printed is %s\\n" "$1" "$3" >&2;fi;'
    'builtin printf %s "$AMPLIHACK_TEXT";};'
)
# What has one of these keys is harmless, or must be asked for. The values are empty.
_TABLE = (
    "declare -rA AMPLIHACK_NUMBERS=([.]= [kind i]= [first ]= [first command]= [first builtin]=)||exit 127;"
)
_ATTRIBUTES = 'AMPLIHACK_ATTRIBUTES(){ builtin set +u;builtin printf %s "${!1@a}";};'
_FIRST = (
    "AMPLIHACK_FIRST(){ builtin shopt -u nocasematch;"
    "while [[ ${1-} == @(command|builtin|-p|--) ]];do builtin shift;done;"
    'builtin printf %s "${1-}";};'
)
# A subscript of an array that may be associative: if it is not, all that stands there must hold numbers.
_SUBSCRIPT = (
    "AMPLIHACK_SUBSCRIPT(){ builtin set +u;builtin shopt -u nocasematch;AMPLIHACK_NAME=$1[*];"
    "if [[ ${!1@a}${!AMPLIHACK_NAME@a} == *A* ]];then builtin return;fi;"
    "while [[ $AMPLIHACK_KEY =~ [A-Za-z_][A-Za-z_0-9]* ]];do AMPLIHACK_NAME=${BASH_REMATCH[0]};"
    "if [[ ${!AMPLIHACK_NAME//$AMPLIHACK_NOT_A_NUMBER} ]];then builtin break;fi;"
    "AMPLIHACK_KEY=${AMPLIHACK_KEY/$AMPLIHACK_NAME/ };done;"
    "if [[ ${AMPLIHACK_KEY//$AMPLIHACK_NOT_A_NUMBER} ]];then builtin printf @;fi;};"
)
# Commands of bash that evaluate their words, and what is harmless there; some do with an option that names.
_NUMERIC = "let eval source . trap alias bind complete compgen fc declare typeset local"
_TEXTUAL = "readonly export unset read mapfile readarray getopts"

_NAMING = ("printf", "test", "\\[", "wait")


def preamble(text: str, *, exported: bool, integers: Iterable[str] = ()) -> str:
    """Return the definitions that guards in a text need, on one line; `exported` for shells it starts."""
    functions = "".join(_functions(text, exported=exported))
    used = [guard for guard in GUARDS if guard.name in text + functions]
    definitions = "".join(f"readonly {guard.name}='{guard.harmless}';" for guard in used)
    if exported:
        definitions += "".join(f"export {guard.name};" for guard in used)
    if used or RUN in text or TARGET in text:
        definitions += f"readonly {STOP}=;{LEFT}=;"
    if KIND in text:
        definitions += f"readonly {KIND}=i;"
    if "AMPLIHACK_NUMBERS[" in text:
        definitions += _TABLE
    if RUN in text:
        definitions += _run_table()
    if TARGET in text:
        definitions += _target_table(integers)
    return definitions + functions


def _functions(text: str, *, exported: bool) -> Iterable[str]:
    if "AMPLIHACK_SUBSCRIPT" in text:
        yield _SUBSCRIPT + "export -f AMPLIHACK_SUBSCRIPT;" * exported
    if "AMPLIHACK_ATTRIBUTES" in text:
        yield _ATTRIBUTES
    if "AMPLIHACK_FIRST" in text:
        yield _FIRST
    if "AMPLIHACK_PRINTED" in text:
        yield _PRINTED


def _run_table() -> str:
    numeric = [f"[.{name}]='{Guard.NUMBER.harmless}'" for name in _NUMERIC.split()]
    textual = [f"[.{name}]='[!$`[<>]'" for name in _TEXTUAL.split()]
    textual += [f"[d.{name}]='[!-]*'" for name in _NAMING]
    textual += [f"[v.{name}]='[!$`[<>]'" for name in _NAMING]
    return f"declare -rA {RUN}=({' '.join((*numeric, *textual))})||exit 127;"


def _target_table(integers: Iterable[str]) -> str:
    numeric = [f"[.{name}]='{Guard.NUMBER.harmless}'" for name in sorted(integers)]
    numeric += [f"[w.{name}]='[!$`[]'" for name in sorted(set(integers).difference(INTEGERS))]
    numeric += [f"[w.{name}]=" for name in INTEGERS]  # nothing is harmless
    expanded = [f"[{kind}.{name}]='[!$`]'" for kind in ("", "w") for name in sorted(EXPANDED_VARIABLES)]
    return f"declare -rA {TARGET}=({' '.join((*numeric, *expanded))})||exit 127;"
