"""The shell variables that a scope stands for, found without spelling all of them out at every step.

Values are never changed in place: one that is the same object as at the step before is the same value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import TypeAlias

from amplihack.patterns import pattern
from amplihack.recipes.templates.names import CONTEXT_FILE, LARGE, PREFIX, name_part, unfit, variable_name
from amplihack.recipes.templates.reserved import is_reserved
from amplihack.recipes.templates.scripts import PREPARED
from amplihack.recipes.tracked_variables import Follower
from amplihack.recipes.values import MISSING, Missing, Value, to_text
from amplihack.records import Record

SMALL = 8 * 1024  # bytes; what a script does not mention goes along only up to this size
_MOST = 1_000  # variables that are favoured, at most
_DEEPEST = 16
_SCALARS = frozenset({type(None), bool, int, float, str})
_IDENTIFIER = pattern(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NAMES = pattern(r"\b(?:RECIPE_VAR_\w+|[A-Z_][A-Z0-9_]*)\b", re.ASCII)
_FAVOURED = pattern(r"task_description|repo_path|existing_branch|should_\w*", re.IGNORECASE)

Variable: TypeAlias = tuple[str, bytes, str]  # name, `NAME=value`, why it is unfit


def shell_variables(scope: Mapping[str, Value]) -> dict[str, str]:
    """Return every variable that a scope stands for: `RECIPE_VAR_*`, flattened members, upper-case aliases.

    The plain names come before the aliases. Where two variables share a name, the first counts; an alias
    gives way to a variable that has its name as it is.
    """
    variables: dict[str, str] = {}
    for key, value in scope.items():
        for name, each in _flattened(variable_name((key,)), value):
            variables.setdefault(name, to_text(each))
    for key in sorted(scope, key=lambda key: key != alias_name(key)):
        if _is_scalar(scope[key]) and (alias := alias_name(key)):
            variables.setdefault(alias, to_text(scope[key]))
    return variables


@lru_cache(maxsize=PREPARED)  # the rounds of a loop run one script
def mentioned_names(source: str) -> tuple[str, ...]:
    """Return the words of a script that can be the name of a variable of ours."""
    words = dict.fromkeys(_IDENTIFIER.findall(source))
    return tuple(word for word in words if word.startswith(PREFIX) or word == word.upper())


def own_variables(script: str, scope: Mapping[str, Value]) -> frozenset[str]:
    """Return the variables that a script names and that hold values of the run, or lead to them."""
    names = may_be_own(script)
    others = {name for name in names if not name.startswith(PREFIX) and name != CONTEXT_FILE}
    stems = {name: name.removesuffix(LARGE) for name in others}
    keys = [key for name in others for key in (name, name.lower()) if key in scope]
    keys += [key for stem in stems.values() for key in (stem, stem.lower()) if key in scope]
    if len(keys) < len(others) and (letters := "".join(scope)) != letters.lower():  # `myVar` is called MYVAR
        keys += [key for key in scope if not key.islower() and not key.isupper()]
    aliases = {alias_name(key) for key in keys if _is_scalar(scope[key])}
    return (
        frozenset(names)
        .difference(others)
        .union(name for name in others if name in aliases or stems[name] in aliases)
    )


@lru_cache(maxsize=PREPARED)  # the rounds of a loop run one script
def may_be_own(script: str) -> tuple[str, ...]:
    """Return the names in a script under which values of a run may be passed to it."""
    names = dict.fromkeys(_NAMES.findall(script))
    return tuple(
        name for name in names if name == CONTEXT_FILE or name.startswith(PREFIX) or not is_reserved(name)
    )


@lru_cache(maxsize=16_384)  # the same names come back at every step of a run
def alias_name(key: str) -> str:
    """Return the upper-case alias of a variable, or nothing if it has none."""
    alias = key.upper()
    return alias if _IDENTIFIER.fullmatch(key) and not is_reserved(alias) else ""


class Unasked(Record):
    """Small variables that a script may not mention: the favoured ones, then the first of all.

    A name that comes twice counts the first time. `keys` are what they were made of; None means everything.
    """

    variables: Sequence[Variable]
    entries: Mapping[str, bytes]  # `NAME=value` of those that are fit
    size: int  # of these, in bytes
    keys: AbstractSet[str] | None

    def is_concerned(self, changed: Collection[str]) -> bool:
        return bool(changed) if self.keys is None else not self.keys.isdisjoint(changed)


class VariableIndex:
    """Finds the variables of a scope by name, and those that are small.

    One index serves all steps of a run. It remembers names, and what it made of values that are still there.
    """

    def __init__(self) -> None:
        self._follower = Follower()
        self._keys: dict[str, list[str]] = {}  # keys of the scope, by plain name and by alias
        self._known: set[str] = set()
        self._new: list[str] = []  # keys whose names are not there yet
        self._favoured: list[str] = []
        self._values: dict[str, Value] = {}  # the values that these two were made of
        self._plain: dict[str, tuple[Variable, ...]] = {}
        self._aliases: dict[str, tuple[Variable, ...]] = {}
        self._unasked: Unasked | None = None

    def learn(self, scope: Mapping[str, Value]) -> None:
        """Take note of what is new in a scope. The other questions are about such a scope."""
        changed = self._follower.changes(scope)
        names = scope.keys() if changed is None else scope.keys() & changed
        if self._unasked is not None and (changed is None or self._unasked.is_concerned(changed)):
            self._unasked = None
        if not names <= self._known:
            new = sorted(names - self._known)
            self._known.update(new)
            self._new += new
            if favoured := [key for key in new if _FAVOURED.fullmatch(name_part(key))]:
                self._favoured += favoured
                self._unasked = None

    def _learn_names(self) -> None:
        """Take note of what new variables are called in the shell. Few steps ask for one by its name."""
        for key in self._new:
            for name in {variable_name((key,)), alias_name(key)} - {""}:
                self._keys.setdefault(name, []).append(key)
        self._new = []

    def find(self, scope: Mapping[str, Value], name: str) -> Value | Missing:
        """Return the value that a variable of this name holds."""
        if self._new:
            self._learn_names()
        for key in self._in_order(scope, owners(name)):
            found = inside(variable_name((key,)), scope[key], name)
            if not isinstance(found, Missing):
                return found
        for key in sorted(self._in_order(scope, (name,)), key=lambda key: key != name):
            if _is_scalar(scope[key]) and alias_name(key) == name:
                return scope[key]
        return MISSING

    def unasked(self, scope: Mapping[str, Value], most: int) -> Unasked:
        """Return the small variables that recipes rely on without mentioning them, and `most` of the others.

        Items of lists are left out: nobody asks for them by number.
        """
        if self._unasked is None:
            consulted = set(self._favoured)
            favoured = {key: scope[key] for key in self._favoured if key in scope}
            others = self._small(scope, most, consulted)
            unique = _first_of_each(self._small(favoured, _MOST, consulted) + others if favoured else others)
            entries = {name: entry for name, entry, reason in unique if not reason}
            self._unasked = Unasked(
                variables=unique,
                entries=entries,
                size=sum(map(len, entries.values())) + len(entries),
                keys=consulted if len(others) >= most else None,
            )
        return self._unasked

    def _small(self, scope: Mapping[str, Value], most: int, consulted: set[str]) -> list[Variable]:
        """Return the first variables that hold small scalars, aliases last; a name may come twice.

        A variable whose own name is in capitals comes before those whose alias is the same.
        """
        plain: list[Variable] = []
        own: list[Variable] = []
        aliases: list[Variable] = []
        for key, value in scope.items():
            if self._values.get(key, MISSING) is not value:
                self._note(key, value)
            consulted.add(key)
            plain += self._plain[key]
            (own if key == key.upper() else aliases).extend(self._aliases[key])
            if len(plain) >= most:
                break
        return (plain + own + aliases)[:most]

    def _note(self, key: str, value: Value) -> None:
        self._values[key] = value
        if type(value) in _SCALARS:
            text = to_text(value)
            reason, alias = unfit(text), alias_name(key)
            self._plain[key] = _small(f"{PREFIX}{name_part(key)}", text, reason)
            self._aliases[key] = _small(alias, text, reason) if alias else ()
        else:
            names = _flattened(variable_name((key,)), value, lists=False)
            texts = ((name, to_text(each)) for name, each in names if _is_scalar(each))
            self._plain[key] = tuple(
                found for name, text in texts for found in _small(name, text, unfit(text))
            )
            self._aliases[key] = ()

    def _in_order(self, scope: Mapping[str, Value], names: Iterable[str]) -> list[str]:
        """Return the keys that these names may stand for, as they follow each other in the scope."""
        found = [key for name in names for key in self._keys.get(name, ()) if key in scope]
        if len(found) > 1:
            position = {key: number for number, key in enumerate(scope)}
            found.sort(key=position.__getitem__)
        return found


def _first_of_each(variables: Sequence[Variable]) -> Sequence[Variable]:
    """Return the variables without those whose name came before; nearly always, these are all."""
    unique: dict[str, Variable] = {}
    for each in reversed(variables):
        unique[each[0]] = each
    if len(unique) == len(variables):
        return variables
    return tuple(each for each in variables if unique.pop(each[0], None) is not None)


def size_of(name: str, text: str) -> int:
    """Return the bytes of `NAME=value` and its end in the environment."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return len(name) + size + 2


def _small(name: str, text: str, reason: str) -> tuple[Variable, ...]:
    if len(text) >= SMALL:
        return ()
    entry = f"{name}={'' if reason else text}".encode("utf-8", "surrogateescape")
    return ((name, entry, reason),) if len(entry) < SMALL else ()


def owners(name: str) -> Iterator[str]:
    """Yield the plain names under which a variable can stand: `a__b` is `a__b`, or the member `b` of `a`."""
    end = name.find("__")
    while end >= 0:
        yield name[:end]
        end = name.find("__", end + 1)
    yield name


def inside(name: str, value: Value, wanted: str, depth: int = 1) -> Value | Missing:
    """Return the first member of that name, in the order of `_flattened`."""
    if name == wanted:
        return value
    if depth < _DEEPEST and wanted.startswith(f"{name}__"):
        for key, item in _members(value):
            found = inside(f"{name}__{name_part(key)}", item, wanted, depth + 1)
            if not isinstance(found, Missing):
                return found
    return MISSING


def _flattened(name: str, value: Value, depth: int = 1, *, lists: bool = True) -> Iterator[tuple[str, Value]]:
    """Yield the value under its name, and its members under theirs."""
    yield name, value
    if depth < _DEEPEST and not _is_scalar(value) and (lists or isinstance(value, Mapping)):
        for key, item in _members(value):
            yield from _flattened(f"{name}__{name_part(key)}", item, depth + 1, lists=lists)


def _members(value: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield from ((str(index), item) for index, item in enumerate(value))


def _is_scalar(value: Value) -> bool:
    return type(value) in _SCALARS
