"""Read the variables that a person gives a run, by flags or the environment, and check them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from amplihack.app.workspace import Opened, Workspace
from amplihack.documents import Mapping as MappingNode
from amplihack.documents import read_document, to_value
from amplihack.documents.suggest import alike, closest
from amplihack.errors import DocumentError, Location, RecipeError, UsageError
from amplihack.recipes.inputs import conformed, declared_names, from_environment, input_problems
from amplihack.recipes.values import DEEPEST, Value, from_json, one_line, typed
from amplihack.records import Record, replace
from amplihack.system.agent_tools.environment import for_commands
from amplihack.system.home import Home

_LARGEST_FILE = 64 * 1024 * 1024
_SHOWN = 12  # characters of a word that is no KEY=VALUE


class Given(Record, kw_only=True):
    """The words of the command line, not read yet."""

    context_files: tuple[str, ...] = ()
    values: tuple[str, ...] = ()  # KEY=VALUE, typed where nothing is lost
    texts: tuple[str, ...] = ()  # KEY=VALUE, always text
    documents: tuple[str, ...] = ()  # KEY=JSON
    files: tuple[str, ...] = ()  # KEY=PATH, the file's text
    env_files: tuple[str, ...] = ()  # of variables of the environment


def overrides(
    given: Given, home: Home, defaults: Mapping[str, Value], *, stdin_is_read: bool = False
) -> dict[str, Value]:
    """Return all variables, later kinds over earlier ones. Raises UsageError for what cannot be read.

    `defaults` are the recipe's own values, for keys that change a part of one.
    """
    _refuse_second_stdin(given, is_read=stdin_is_read)
    found: dict[str, Value] = {}
    for path in given.context_files:
        found.update(_context_file(home, path))
    for flag, words in (
        ("--set", given.values),
        ("--set-str", given.texts),
        ("--set-json", given.documents),
        ("--set-file", given.files),
    ):
        maps = [word for word in words if flag == "--set" and _is_map(word)]
        for word in maps:
            found.update(_map(word))
        for key, text in _pairs((word for word in words if word not in maps), flag):
            _assign(found, key, _value(flag, key, text, home), defaults)
    return found


def _refuse_second_stdin(given: Given, *, is_read: bool) -> None:
    """Raise UsageError if two want what comes on stdin: the second would get nothing."""
    files = (word.partition("=")[2].removeprefix("@") for word in given.files)
    names = (*given.context_files, *files, *given.env_files)
    if not names:
        return
    from amplihack.system.given_files import is_stdin  # deferred, as above

    if is_read + sum(map(is_stdin, names)) > 1:
        fix = "write one of them to a file, or use <(…) of your shell"
        raise UsageError("stdin is named twice, and can be read once", fix=fix)


def start_with(
    workspace: Workspace, opened: Opened, values: Mapping[str, Value]
) -> tuple[Opened, dict[str, Value]]:
    """Return the recipe with the inputs that the environment gives, and the values as the declared types.

    Raises RecipeError with every input that is missing or wrong.
    """
    recipe = from_environment(opened.located.recipe, for_commands(workspace.environment))
    problems = tuple(input_problems(recipe, {**recipe.context, **values}))
    if problems:
        first = problems[0]
        raise RecipeError(first.what, where=first.where, fix=first.fix, found=problems)
    return replace(opened, located=replace(opened.located, recipe=recipe)), conformed(recipe, values)


def refuse_unknown(workspace: Workspace, opened: Opened, given: Given, tags: Iterable[str]) -> None:
    """Raise UsageError for a variable or a tag that neither the recipe nor its sub-recipes know."""
    names = _names(given) - declared_names(opened.located.recipe)
    if not names and not tags:
        return
    # Deferred: what is declared needs no look into the steps.
    from amplihack.app.check import DiskWorld
    from amplihack.recipes.check.knowledge import known_names, known_tags

    world, declared = DiskWorld(workspace), declared_names(opened.located.recipe)
    used, carried = known_names(opened.located, world), known_tags(opened.located, world)
    if used is not None and (strange := sorted(name for name in names if name not in used)):
        raise _unknown("--set", "variable", strange, declared, used.names)
    if carried is not None and (strange := sorted(set(tags) - carried)):
        raise _unknown("--include-tags, --exclude-tags", "tag", strange, carried)


def slips(workspace: Workspace, opened: Opened, values: Mapping[str, Value]) -> tuple[str, ...]:
    """Return what to tell of variables that nothing uses, where one of nearly the same name is not given."""
    declared = declared_names(opened.located.recipe)
    strange, rest = values.keys() - declared, declared - values.keys()
    near = {name: meant for name in sorted(strange) if (meant := closest(name, rest))}
    if not near:
        return ()
    # Deferred, as above.
    from amplihack.app.check import DiskWorld
    from amplihack.recipes.check.knowledge import known_names

    used = known_names(opened.located, DiskWorld(workspace))
    if used is None:
        return ()
    unused = ((name, meant) for name, meant in near.items() if name not in used)
    what = "the recipe does not use the variable"
    return tuple(f"{what} '{name}' (fix: did you mean '{meant}'?)" for name, meant in unused)


def _unknown(
    flag: str, kind: str, words: Sequence[str], known: frozenset[str], used: Collection[str] = ()
) -> UsageError:
    """Name every word that is unknown, and for each the one that was probably meant.

    That may also be one that is only `used`, in a sub-recipe perhaps; these are too many to list.
    """
    near = {word: alike(word, known) or ((slip,) if (slip := closest(word, used)) else ()) for word in words}
    meant = {word: " or ".join(map(repr, names)) for word, names in near.items() if names}
    listed = f"it has {', '.join(sorted(known))}" if known else f"it has no {kind}s"
    several = len(words) > 1
    told = [f"did you mean {near}" + (f" for '{word}'?" if several else "?") for word, near in meant.items()]
    what = f"{flag}: the recipe does not use the {kind}{'s' if several else ''} {', '.join(map(repr, words))}"
    return UsageError(what, fix=" ".join(told if len(told) == len(words) else [*told, listed]))


def _names(given: Given) -> frozenset[str]:
    maps = [word for word in given.values if _is_map(word)]
    words = (*given.values, *given.texts, *given.documents, *given.files)
    single = (word.partition("=")[0].strip().split(".")[0] for word in words if word not in maps)
    return frozenset((*single, *(name for word in maps for name in _map(word))))


def _is_map(word: str) -> bool:
    """Tell whether a word is meant as a JSON map of variables: published pages write `--context '{…}'`."""
    return word.lstrip().startswith("{")


def _map(word: str) -> dict[str, Value]:
    try:
        value = from_json(word)
    except ValueError as error:
        what = f"--set {_beginning(word)}: this is neither KEY=VALUE nor a JSON map: {error}"
        raise UsageError(what, fix="write --set name=value, or check the quotes of the map") from error
    return dict(value) if isinstance(value, Mapping) else {}


def _pairs(words: Iterable[str], flag: str) -> Iterable[tuple[str, str]]:
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key.strip():
            what = f"{flag} {_beginning(word)!r} is not of the form KEY=VALUE"
            raise UsageError(what, fix=f"write {flag} name=value")
        if key.count(".") >= DEEPEST:
            what = f"{flag} {one_line(key, 40)}: it leads more than {DEEPEST} levels deep"
            raise UsageError(what, fix="set a map that is less deep")
        yield key.strip(), text


def _beginning(word: str) -> str:
    """Return as much of a word as tells which one it is: it may be a secret whose name was forgotten."""
    shown = one_line(word, _SHOWN)
    return shown if len(word) <= _SHOWN else f"{shown.removesuffix('…')[: _SHOWN // 2]}…"


def _value(flag: str, key: str, text: str, home: Home) -> Value:
    match flag:
        case "--set":
            return {"True": True, "False": False}.get(text, typed(text))
        case "--set-json":
            return _json(key, text)
        case "--set-file":
            return _text_of_file(home, text.removeprefix("@"))
        case _:
            return text


def _json(key: str, text: str) -> Value:
    try:
        return from_json(text)
    except ValueError as error:
        fix = "set a value that is less deep" if "nested" in str(error) else _json_fix(key, text)
        raise UsageError(f"--set-json {key}: this is not JSON: {error}", fix=fix) from error


def _json_fix(key: str, text: str) -> str:
    """Say how to give what is no JSON: a text by another flag, or names and texts in double quotes."""
    if text.lstrip()[:1] in ("{", "[", '"'):
        return f"""put names and texts into double quotes, the whole into single ones: '{key}={{"a": 1}}'"""
    return f"write --set-str {key}=… for a text"


def _assign(found: dict[str, Value], key: str, value: Value, defaults: Mapping[str, Value]) -> None:
    """Set a variable; `a.b=1` sets the key `b` of the map `a`, and leaves the rest of the map as it is."""
    first, *rest = key.split(".")
    if not rest or not all((first, *rest)):
        found[key] = value
    else:
        found[first] = _with(found.get(first, defaults.get(first)), rest, value)


def _with(base: Value, path: list[str], value: Value) -> Value:
    if not path:
        return value
    known = dict(base) if isinstance(base, Mapping) else {}
    return {**known, path[0]: _with(known.get(path[0]), path[1:], value)}


def _text_of_file(home: Home, name: str) -> str:
    from amplihack.system.given_files import given_path, given_text  # deferred: most commands name none

    return given_text(given_path(home, name), limit=_LARGEST_FILE, kind="File")


def _context_file(home: Home, name: str) -> dict[str, Value]:
    from amplihack.system.given_files import given_bytes, given_path  # deferred, as above

    path = given_path(home, name)
    data = given_bytes(path, limit=_LARGEST_FILE, kind="Context file")
    try:
        document = read_document(data, str(path), kind="Context file", limit=_LARGEST_FILE)
    except DocumentError as error:
        # A fix may quote the lines as well.
        fix = error.fix if "`" not in error.fix else "check this line and the one above"
        raise DocumentError(error.what, where=_place(error.where), fix=fix) from error
    for problem in document.problems:  # such as a name that is given twice
        raise DocumentError(problem.what, where=_place(problem.where), fix=problem.fix)
    if not isinstance(document.root, MappingNode):
        raise UsageError(
            "a context file holds a mapping of names to values",
            where=_place(document.root.where),
            fix="write a line `name: value` for each variable",
        )
    return {key: to_value(node) for key, node in document.root}


def _place(where: Location | None) -> Location | None:
    """Return a place in a file of values without its line: any of them may be secret."""
    return replace(where, text="") if where is not None else None
