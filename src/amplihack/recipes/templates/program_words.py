"""Tell scripts that may hand a text to a shell, by their words alone. Few do, and the others are not read."""

from __future__ import annotations

from functools import lru_cache

from amplihack.patterns import pattern
from amplihack.recipes.templates.scripts import PREPARED

_JOINED = pattern(r"""\\\n|['"\\]""")  # what may stand in the middle of a word
# A variable or a file of the script in place of a command.
_STARTED = pattern(
    r"(?:\A|[\n;&|({!`]|\b(?:then|do|else|elif|if|while|until|time)\b)[ \t]*+(?:\w++=[^\s;&|]*+[ \t]++)*+"
    r"(?:\$\{?[A-Za-z_]|[\w.~${}-]*+/)"
)
_RUN_LATER = ("chmod", "install")  # a file is made executable
_SHELL = pattern(r"(?:^|_)(?:SHELL|BASH|SH)[0-9]*\Z")


@lru_cache(maxsize=PREPARED)  # the rounds of a loop run one script
def may_run_code(script: str) -> bool:
    """Tell whether a script may hand a text to a shell. If not, no command in it takes code."""
    # Deferred: most scripts name no variable of the run.
    from amplihack.recipes.templates.bash.launchers import LAUNCHERS
    from amplihack.recipes.templates.bash.program_tables import CODE_NAMES, MAY_RUN_INPUT, SOURCES, WORD
    from amplihack.recipes.templates.bash.variable_attributes import git_key, is_program_variable

    text = _JOINED.sub("", script)
    if _STARTED.search(text):
        return True
    for word in set(WORD.findall(text)):
        if is_program_variable(word) or git_key(word) or word in SOURCES or _SHELL.search(word):
            return True
        name = word.rstrip("0123456789.")
        if name in MAY_RUN_INPUT or name in CODE_NAMES or name in LAUNCHERS or name in _RUN_LATER:
            return True
    return False
