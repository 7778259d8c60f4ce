"""Find the variables that a script asks its shell for, as in `$name`, and which of ours it would miss."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from amplihack.errors import TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.templates.names import LARGE, PREFIX, name_part
from amplihack.recipes.templates.scripts import PREPARED
from amplihack.recipes.templates.variables import VariableIndex, inside, owners
from amplihack.recipes.values import KeyPath, Missing, Value
from amplihack.records import Record

if TYPE_CHECKING:
    from amplihack.recipes.templates.bash.places import Quoting

USED = pattern(r"(?<!\\)\$(?:([A-Za-z_]\w*)|\{[#!]?([A-Za-z_]\w*)[^{}]*\})", re.ASCII)
_RUNS_OTHERS = pattern(r"(?:^|[\s;&|(])(?:source|\.|eval|trap|mapfile -C)\s")
_TAKES_NAMES = "read|mapfile|readarray|getopts|local|declare|typeset|export|readonly|let|wait"

_OURS = pattern(rf"(?<![A-Za-z0-9_]){PREFIX}\w+", re.ASCII)
_DOLLAR = pattern(r"(?<!\\)\$(?:\{[#!]?)?\Z")  # what stands before a name that bash expands
_DEFAULT = pattern(r":?[-+]")  # what stands behind a name for which there is another value
_PRINTENV = pattern(r"\bprintenv\s+(?:[\w-]+[ \t]+)*\Z", re.ASCII)
_PRINTENV_OR = pattern(r"\bprintenv((?:[ \t]+[\w-]+)+)[^\n;|&]*(?:\|\||&&)", re.ASCII)
_IS_THERE = pattern(r"""(?:^|\s)-[nvzR]\s+["']?(?:\$\{?)?\Z""")
_ELSEWHERE = pattern(  # in programs of other languages, where these say what to do without it
    r"""(?:\b(?:environ|ENVIRON|ENV)\[["']|\bprocess\.env\.|\$ENV\{["']?)\Z"""
)
_OR_ELSE = pattern(r"\s*(?:\|\||\?\?)")
_MARK = "{{place}}"


class Asked(Record):
    """A variable of ours that a script asks for; `soft` if the script can do without it."""

    name: str  # without the prefix
    start: int
    soft: bool


def runs_others(script: str) -> bool:
    """Tell whether the script runs other scripts in its own shell, which may set any variable."""
    return _RUNS_OTHERS.search(script) is not None


def may_set(script: str, name: str) -> bool:
    """Tell whether the script may give the variable a value itself."""
    own = re.escape(name)
    ways = (
        rf"(?<![\w$]){own}(?:\[[^\]\n]*\])?\+?=",  # also behind `local` and in arithmetic
        rf"\b(?:{_TAKES_NAMES})\b[^\n;|&]*(?<![\w$]){own}\b",
        rf"\b(?:for|select|printf\s+-v)\s*{own}\b",
        rf"(?<!\w){own}\s*(?:\+\+|--|[-+*/%]=)|(?:\+\+|--){own}\b",
        rf"\{{{own}\}}[<>]|\$\{{{own}:?=",
    )
    return any(re.search(way, script) for way in ways)


def expanded(script: str, starts: Sequence[int]) -> dict[int, bool]:
    """Return which of the places bash looks at, not in single quotes nor in comments; True in arithmetic.

    A script that cannot be read has none: that is told elsewhere.
    """
    from amplihack.recipes.templates.bash.places import Quoting  # deferred, as below

    seen = (Quoting.BARE, Quoting.DOUBLE, Quoting.HEREDOC, Quoting.ARITHMETIC)
    found = quoting_at(script, starts)
    return {start: each is Quoting.ARITHMETIC for start, each in found.items() if each in seen}


def quoting_at(script: str, starts: Sequence[int]) -> dict[int, Quoting]:
    """Return how each of the places is quoted. A script that cannot be read has none."""
    # Deferred: hardly any script has a name of the recipe in it.
    from amplihack.recipes.templates.bash.read import read_fully

    ordered = sorted(set(starts))
    parts = [script[start:end] for start, end in pairwise([0, *ordered, len(script)])]
    template = _MARK.join(parts)
    marked = {start + number * len(_MARK): start for number, start in enumerate(ordered)}
    try:
        found = read_fully(template, find_placeholders(template)).places
    except TemplateError:
        return {}
    return {
        marked[place.placeholder.start]: place.quoting for place in found if place.placeholder.start in marked
    }


@lru_cache(maxsize=PREPARED)  # the rounds of a loop run one script
def asked_of_ours(script: str) -> tuple[Asked, ...]:
    """Return the variables of ours that a script asks for and does not set, each where it does so first."""
    mentions = [each for found in _OURS.finditer(script) if (each := _mention(script, found))]
    if not mentions:
        return ()
    looked_at = expanded(script, [each.start for each in mentions if not each.by_program])
    copes = {each.name for each in mentions if each.copes} | _printed_or_else(script)
    others, result = runs_others(script), dict[str, Asked]()
    for each in mentions:
        arithmetic = looked_at.get(each.start)
        if not (each.by_program or arithmetic or (each.dollar and arithmetic is not None)):
            continue
        if each.name not in result and not may_set(script, each.name):
            soft = others or each.name in copes
            result[each.name] = Asked(each.name.removeprefix(PREFIX), each.start, soft)
    return tuple(result.values())


class _Mention(Record):
    name: str
    start: int  # with the dollar sign
    dollar: bool
    by_program: bool
    copes: bool  # the script says what to do where there is no such variable, or asks whether there is


def _mention(script: str, found: re.Match[str]) -> _Mention | None:
    """Return what the text around a name tells about it; None if it is the name of something else."""
    before, behind = script[max(0, found.start() - 24) : found.start()], script[found.end() : found.end() + 8]
    dollar = _DOLLAR.search(before)
    if dollar is None and before.endswith(("$", "{", "\\")):
        return None
    default = dollar and dollar[0].startswith("${") and _DEFAULT.match(behind)
    or_else = before.endswith(".env.") and _OR_ELSE.match(behind)
    return _Mention(
        found[0],
        found.start() - len(dollar[0] if dollar else ""),
        dollar=dollar is not None,
        by_program=bool(_ELSEWHERE.search(before) or _PRINTENV.search(script[: found.start()][-200:])),
        copes=bool(default or or_else or _IS_THERE.search(before)),
    )


def _printed_or_else(script: str) -> set[str]:
    """Return the names that `printenv` is asked for where something follows if it has none."""
    return {name for found in _PRINTENV_OR.finditer(script) for name in found[1].split()}


def lacking(script: str, scope: Mapping[str, Value], given: Collection[str]) -> tuple[str, ...]:
    """Return the variables of ours that bash would expand to nothing; `given` come from elsewhere."""
    if PREFIX not in script:
        return ()
    absent = {found[0] for found in _OURS.finditer(script)} - set(given)
    if all(name.removeprefix(PREFIX) in scope for name in absent):
        return ()
    index = VariableIndex()
    index.learn(scope)
    return tuple(
        f"{PREFIX}{each.name}"
        for each in asked_of_ours(script)
        if not each.soft and f"{PREFIX}{each.name}" in absent and _is_lacking(index, scope, each.name)
    )


def _is_lacking(index: VariableIndex, scope: Mapping[str, Value], name: str) -> bool:
    names = (name, name.removesuffix(LARGE))
    return all(isinstance(index.find(scope, f"{PREFIX}{each}"), Missing) for each in names)


def by_shell_name(names: Iterable[str]) -> dict[str, str]:
    """Return the variables of a recipe by what they are called in a shell, without the prefix."""
    return {name_part(each): each for each in names}


def meant_path(name: str, known: Mapping[str, str], values: Mapping[str, Value]) -> KeyPath | None:
    """Return the variable of a recipe that a name without its prefix stands for; None if there is none.

    A member that the value of a map does not have is a part of the path, as it is written.
    """
    for own in (name, name.removesuffix(LARGE)):
        for owner in owners(own):
            if owner in known:
                return _with_member(known[owner], own, values)
    return None


def _with_member(key: str, name: str, values: Mapping[str, Value]) -> KeyPath:
    value = values.get(key)
    if not isinstance(value, Mapping) or not isinstance(inside(name_part(key), value, name), Missing):
        return (key,)
    return key, *name.removeprefix(f"{name_part(key)}__").split("__")
