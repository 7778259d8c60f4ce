"""Plan the environment of a bash step: variables, files for values that do not fit, and a loading line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from amplihack.errors import TemplateError
from amplihack.recipes.placeholders import line_of
from amplihack.recipes.templates.names import LARGE, PREFIX, REFERENCE, unfit
from amplihack.recipes.templates.scripts import ShellScript
from amplihack.recipes.templates.variables import SMALL, Unasked, VariableIndex, mentioned_names, size_of
from amplihack.recipes.values import Missing, Value, to_text
from amplihack.records import Record

LARGEST = 96 * 1024  # Linux refuses a single NAME=value of 128 KiB
_PATH_ROOM = 256  # a guess at the bytes of the path in NAME_FILE
_UNASKED_BYTES = SMALL  # of variables that a script does not mention
_UNASKED = 64  # such variables: bash takes as long to read a thousand of them as it takes to start


class EnvironmentPlan(Record):
    """What to give to bash; nothing is written yet.

    `wanted` go into the environment, and so do `unasked`, which are `NAME=value` in bytes: what the script
    does not mention, though some of it may be wanted too, which wins. Each of `files` must be written
    privately, byte for byte (encode with errors="surrogateescape"), and its path exported under the name in
    `paths`: `<name>_FILE`, or another name if the recipe has a variable of that name. `preamble` goes in
    front of the script on its first line, so that line numbers in bash's messages stay correct.
    """

    wanted: Mapping[str, str]
    unasked: Mapping[str, bytes]
    files: Mapping[str, str]
    paths: Mapping[str, str]
    preamble: str
    warnings: tuple[str, ...] = ()

    @property
    def exports(self) -> dict[str, str]:
        """Return all that goes into the environment."""
        texts = {name: entry.decode("utf-8", "surrogateescape") for name, entry in self.unasked.items()}
        return {**{name: text[len(name) + 1 :] for name, text in texts.items()}, **self.wanted}


def plan_environment(
    scope: Mapping[str, Value],
    script: ShellScript,
    *,
    inherited_bytes: int,
    budget: int,
    largest: int = LARGEST,
    index: VariableIndex | None = None,
    programs: bool = True,
) -> EnvironmentPlan:
    """Plan for every variable that the script mentions, by environment or by file, and for some small ones.

    `index` is worth keeping from one step to the next: it spares looking at what has not changed. `programs`
    tells whether the script starts any: nobody else looks for what it does not mention.
    """
    index = index or VariableIndex()
    asked = [name for name in mentioned_names(script.source) if name not in script.variables]
    if asked or programs:
        index.learn(scope)
    wanted = _wanted(index, scope, script, asked)
    exports: dict[str, str] = {}
    files: dict[str, str] = {}
    room = budget - inherited_bytes
    for name, text in wanted.items():
        size = size_of(name, text)
        if size > largest or size > room:
            files[name] = text
            room -= size_of(name, "") + len(LARGE) + _PATH_ROOM
        else:
            exports[name] = text
            room -= size
    unasked: Mapping[str, bytes] = {}
    warnings: tuple[str, ...] = ()
    if programs:
        found = index.unasked(scope, _UNASKED)
        unasked, warnings = _unasked(found, wanted, room=min(room, _UNASKED_BYTES), largest=largest)
    if not files:
        return EnvironmentPlan(exports, unasked, files, files, "", warnings)
    unasked = {name: entry for name, entry in unasked.items() if name not in files}
    paths = {name: _path_name(name, wanted.keys() | unasked.keys()) for name in files}
    loaded, preamble = _preamble(files, paths)
    return EnvironmentPlan(exports, unasked, loaded, paths, preamble, warnings)


def _path_name(name: str, taken: AbstractSet[str]) -> str:
    """Return a name for the path of a variable's file that no other variable has."""
    path = f"{name}{LARGE}"
    while path in taken:
        path += "_"
    return path


def _wanted(
    index: VariableIndex, scope: Mapping[str, Value], script: ShellScript, asked: Sequence[str]
) -> dict[str, str]:
    """Return the variables that the script mentions in any way. Raises TemplateError for an unfit one."""
    wanted = dict(script.variables)
    for name in asked:
        value = index.find(scope, name)
        if isinstance(value, Missing) and name.endswith(LARGE):  # whose path it asks for
            name = name.removesuffix(LARGE)
            value = index.find(scope, name)
        if not isinstance(value, Missing):
            wanted.setdefault(name, to_text(value))
    _refuse_unfit(wanted, script)
    return wanted


def _unasked(
    found: Unasked, wanted: Mapping[str, str], *, room: int, largest: int
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """Return small scalars that programs of the script may look for, and warnings about unfit ones."""
    if found.size <= room and largest >= SMALL and len(found.entries) == len(found.variables):
        return found.entries, ()  # all of them
    exports: dict[str, bytes] = {}
    warnings: list[str] = []
    for name, entry, reason in found.variables:
        if name in wanted:
            continue
        if reason and not name.startswith(PREFIX):
            continue  # an alias: what it stands for is told
        if reason:
            warnings.append(f"{name} is not passed on to bash: its value holds {reason}")
        elif len(entry) < room and len(entry) < largest:
            exports[name] = entry
            room -= len(entry) + 1
    return exports, tuple(warnings)


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
            first = by_text[text]
            path = f"export {paths[name]}=${paths[first]}; "
            commands.append(f"unset -v {name}; {name}=${first}; {path}")
            continue
        loaded[name], by_text[text] = text, name
        source = f"${paths[name]}"
        commands.append(f"unset -v {name}; IFS= LC_ALL=C read -r -d '' {name} < \"{source}\" || :; ")
    return loaded, "".join(commands)
