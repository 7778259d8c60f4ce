"""Plan the environment of a bash step: variables, files for values that do not fit, and a loading line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from amplihack.errors import TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.placeholders import line_of
from amplihack.recipes.templates.names import REFERENCE, unfit, variable_name
from amplihack.recipes.templates.reserved import is_reserved
from amplihack.recipes.templates.scripts import ShellScript
from amplihack.recipes.values import KeyPath, Value, to_text
from amplihack.records import Record

LARGEST = 96 * 1024  # Linux refuses a single NAME=value of 128 KiB
SMALL = 8 * 1024  # what is not referred to goes along only up to this size
FILE_SUFFIX = "_FILE"
_PATH_ROOM = 256  # a guess at the bytes of the path in NAME_FILE
_DEEPEST = 16
_UNASKED = 8 * 1024  # bytes of variables that a script does not mention: each one slows bash down
_SCALARS = frozenset({type(None), bool, int, float, str})
_IDENTIFIER = pattern(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_FAVOURED = pattern(
    r"(?:RECIPE_VAR_)?(?:task_description|repo_path|existing_branch|should_\w*)", re.IGNORECASE
)


class EnvironmentPlan(Record):
    """What to give to bash; nothing is written yet.

    `exports` go into the environment. Each of `files` must be written privately, byte for byte (encode with
    errors="surrogateescape"), and its path exported under the name in `paths`: `<name>_FILE`, or another name
    if the recipe has a variable of that name. `preamble` goes in front of the script on its first line, so
    that line numbers in bash's messages stay correct.
    """

    exports: Mapping[str, str]
    files: Mapping[str, str]
    paths: Mapping[str, str]
    preamble: str
    warnings: tuple[str, ...] = ()


def shell_variables(scope: Mapping[str, Value]) -> dict[str, str]:
    """Return all variables of a scope: `RECIPE_VAR_*`, flattened members, upper-case aliases."""
    variables: dict[str, str] = {}
    for name, value in _variables(scope):
        variables.setdefault(name, to_text(value))
    return variables


def plan_environment(
    scope: Mapping[str, Value],
    script: ShellScript,
    *,
    inherited_bytes: int,
    budget: int,
    largest: int = LARGEST,
) -> EnvironmentPlan:
    """Plan every variable that the script mentions, by environment or file; then others while room lasts."""
    wanted, others = _sorted_out(scope, script)
    _refuse_unfit(wanted, script)
    exports: dict[str, str] = {}
    files: dict[str, str] = {}
    room = budget - inherited_bytes
    for name, text in wanted.items():
        size = _size(name, text)
        if size > largest or size > room:
            files[name] = text
            room -= _size(name, "") + len(FILE_SUFFIX) + _PATH_ROOM
        else:
            exports[name] = text
            room -= size
    warnings: list[str] = []
    room = min(room, _UNASKED)
    for name, text in others.items():
        if reason := unfit(text):
            warnings.append(f"{name} is not passed on to bash: its value holds {reason}")
        elif (size := _size(name, text)) <= min(room, SMALL, largest):
            exports[name] = text
            room -= size
    taken = wanted.keys() | others.keys()
    paths = {name: _path_name(name, taken) for name in files}
    loaded, preamble = _preamble(files, paths)
    return EnvironmentPlan(exports, loaded, paths, preamble, tuple(warnings))


def _path_name(name: str, taken: AbstractSet[str]) -> str:
    """Return a name for the path of a variable's file that no other variable has."""
    path = f"{name}{FILE_SUFFIX}"
    while path in taken:
        path += "_"
    return path


def _sorted_out(scope: Mapping[str, Value], script: ShellScript) -> tuple[dict[str, str], dict[str, str]]:
    """Return the variables that the script mentions, and some other scalars, favoured ones first."""
    mentioned = {found.group() for found in _IDENTIFIER.finditer(script.source)}
    wanted = dict(script.variables)
    others: dict[str, str] = {}
    spare = _UNASKED
    for name, value in _variables(scope):
        if name in wanted or name in others:
            continue
        if name in mentioned:
            wanted[name] = to_text(value)
        elif _is_scalar(value) and (spare > 0 or _is_favoured(name)):
            others[name] = text = to_text(value)
            spare -= len(name) + min(len(text), SMALL // 8)
    favoured = {name: text for name, text in others.items() if _is_favoured(name)}
    return wanted, favoured | others


def _refuse_unfit(wanted: dict[str, str], script: ShellScript) -> None:
    """Raise for a bad value that the script expands; leave out one that it only mentions."""
    bad = {name: reason for name, text in wanted.items() if (reason := unfit(text))}
    if not bad:
        return
    for found in REFERENCE.finditer(script.source):
        if found.group(1) in bad:
            name, line = found.group(1), line_of(script.source, found.start())
            raise TemplateError(
                f"the value of {name}, used on line {line}, holds {bad[name]}: no variable can carry it",
                line=line,
                fix="store such data in a file and pass its path",
            )
    for name in bad:
        del wanted[name]


def _preamble(files: Mapping[str, str], paths: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Return the files to write and the commands that load them. Equal texts are written and read once.

    The C locale is needed because `read` drops bytes that are no characters in a UTF-8 locale. `unset` comes
    first because an inherited variable would stay exported, too big for any program that the script starts.
    """
    loaded: dict[str, str] = {}
    by_text: dict[str, str] = {}
    commands: list[str] = []
    for name, text in files.items():
        if text in by_text:
            commands.append(f"unset -v {name}; {name}=${by_text[text]}; ")
            continue
        loaded[name], by_text[text] = text, name
        source = f"${paths[name]}"
        commands.append(f"unset -v {name}; IFS= LC_ALL=C read -r -d '' {name} < \"{source}\" || :; ")
    return loaded, "".join(commands)


def _variables(scope: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
    """Yield names and values, plain names before aliases. If a name comes twice, the first one counts."""
    for key, value in scope.items():
        if _is_scalar(value):
            yield _names(key)[0], value
        else:
            yield from _flattened((key,), value)
    for key, value in scope.items():
        alias = _names(key)[1]
        if alias and _is_scalar(value):
            yield alias, value


@lru_cache(maxsize=16_384)  # the same names come back at every step of a run
def _names(key: str) -> tuple[str, str]:
    """Return the plain name of a variable, and its upper-case alias or an empty text."""
    alias = key.upper()
    usable = _IDENTIFIER.fullmatch(key) and not is_reserved(alias)
    return variable_name((key,)), alias if usable else ""


@lru_cache(maxsize=16_384)
def _is_favoured(name: str) -> bool:
    return _FAVOURED.fullmatch(name) is not None


def _flattened(path: KeyPath, value: Value) -> Iterator[tuple[str, Value]]:
    yield variable_name(path), value
    if len(path) >= _DEEPEST:
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flattened((*path, key), item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, item in enumerate(value):
            yield from _flattened((*path, str(index)), item)


def _is_scalar(value: Value) -> bool:
    return type(value) in _SCALARS


def _size(name: str, text: str) -> int:
    """Return the bytes that `NAME=value` takes in the environment."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))
    return len(name) + size + 2
