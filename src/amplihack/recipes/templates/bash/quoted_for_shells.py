"""Tell whether a value that is quoted for a shell is only an argument in the code that it becomes a part of.

eval "x=${v@Q}"      ssh host "cd $(printf %q {{v}}) && make"      printf 'X=%q\\n' {{v}} > env.sh; . ./env.sh

Quotes of the code undo those of the value, and some commands evaluate what they get.
"""

from __future__ import annotations

import re

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.command_names import BUILTINS, RESERVED
from amplihack.recipes.templates.bash.program_tables import (
    CALLS_BACK,
    EVALUATES,
    SHELLS,
    SOURCES,
    SSH,
    WRAPPERS,
)

_SEPARATOR = pattern(r"[;&|\n({`]|\b(?:do|then|else)\s")
_ASSIGNED = pattern(r"(?:export\s+)?(?:\w+=\S*\s+)*(\w+)(?:\[\w*\])?\+?=\Z")
_CALCULATES = pattern(r"\(\(|\[\[|\$\[")
_EVALUATES_LATER = pattern(
    r"\(\(|\w\[|\[\[|\$\[|@P|\$\{!|-v\b|\b(?:let|declare|typeset|local|read|mapfile|unset|eval|source|(?:ba)?sh)\b"
)
_FORMAT = pattern(r"""(?P<quote>["']?)(?P<text>(?:[^'"%$`\0\1]|%%|%q)*)(?P=quote)""")
_NAME = pattern(r"[\w./-]+")
_TAKE_TEXTS = frozenset(("[", "command", "printf", "set", "test"))  # without an option for a name
_NAMING = frozenset(("-v", "-R"))
_EVALUATORS = (BUILTINS - _TAKE_TEXTS) | RESERVED | CALLS_BACK | EVALUATES | SHELLS | SSH | {*SOURCES, "su"}


def is_argument(before: str) -> bool:
    """Tell whether what follows `before` in a code is data to the command there if it is quoted."""
    inside = before.removeprefix('"')
    if inside.count('"') % 2 or inside.count("'") % 2 or _CALCULATES.search(inside):
        return False
    command = _SEPARATOR.split(inside)[-1].strip()
    if _ASSIGNED.match(command):
        return True
    words = command.replace("\\", "").split()
    names = {word.rpartition("/")[2] for word in words}
    if not words or not _NAME.fullmatch(words[0]) or not names.isdisjoint(_EVALUATORS):
        return False
    if words[0] in WRAPPERS and all(word.startswith("-") for word in words[1:]):
        return False  # it is the command itself
    return _NAMING.isdisjoint(words) or names.isdisjoint(_TAKE_TEXTS)


def evaluates_later(code: str) -> bool:
    """Tell whether a code may evaluate what it gets as an argument or in a variable."""
    return _EVALUATES_LATER.search(code) is not None


def left_in_code(found: re.Match[str]) -> str:
    """Return nothing for `${x@Q}` in a code where it is an argument, and itself elsewhere.

    `${x@A}` is a whole command: an assignment to `x` of what that holds.
    """
    before = found.string[: found.start()]
    return "" if is_argument(before + "x=" * found[0].endswith("@A}")) else found[0]


def assigned_name(before: str) -> str:
    """Return the variable that the code gives what follows; mostly none."""
    found = _ASSIGNED.match(_SEPARATOR.split(before.removeprefix('"'))[-1].strip())
    return found[1] if found else ""


def quotes_all(template: str) -> bool:
    """Tell whether a format of `printf` makes arguments in a code of all that it gets: `X=%q`."""
    found = _FORMAT.fullmatch(template)
    if not found or evaluates_later(template):
        return False
    pieces = found["text"].replace("\\n", "\n").split("%q")
    return len(pieces) > 1 and all(is_argument("".join(pieces[:at])) for at in range(1, len(pieces)))
