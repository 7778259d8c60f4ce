"""Name the shell variables that carry values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import count

from amplihack.patterns import pattern
from amplihack.recipes.values import KeyPath

PREFIX = "RECIPE_VAR_"
CONTEXT_FILE = "AMPLIHACK_CONTEXT_FILE"  # the variable with the path of a file that holds all values
LARGE = "_FILE"  # behind the name of a variable that is too large: the path of the file with its value
_NOT_IN_NAMES = pattern(r"[^A-Za-z0-9_]")
REFERENCE = pattern(r"\$(?:\{[#!]?)?([A-Za-z_][A-Za-z0-9_]*)")


def unfit(text: str) -> str:
    """Return why no shell variable can carry a text; empty if one can."""
    if "\0" in text:
        return "a NUL byte"
    if text.isascii():
        return ""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return "half a character (a lone surrogate)"
    return ""


def variable_name(path: KeyPath) -> str:
    """Return the variable of a path: `("obj", "my-key")` -> `RECIPE_VAR_obj__my_key`."""
    return PREFIX + "__".join(map(name_part, path))


@lru_cache(maxsize=16_384)  # the same names come back at every step of a run
def name_part(key: str) -> str:
    """Return a key as it stands in such a name: `my-key` -> `my_key`."""
    return _NOT_IN_NAMES.sub("_", key)


def variable_names(template: str, paths: Sequence[KeyPath]) -> dict[KeyPath, str]:
    """Return a unique name for each path. If two would share a name, the first keeps it."""
    names = {path: variable_name(path) for path in paths}
    if len(set(names.values())) == len(names):
        return names
    written = set(REFERENCE.findall(template))
    plain = set(names.values())
    used: set[str] = set()
    for path, name in names.items():
        if name in used:
            # Neither the plain name of a later path nor a variable that the author uses may be taken.
            taken = used | plain | written
            name = next(other for number in count(2) if (other := f"{name}__{number}") not in taken)
            names[path] = name
        used.add(name)
    return names
