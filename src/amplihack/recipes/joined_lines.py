"""Find scripts whose lines YAML joins to one, so that bash reads another script than their author wrote.

command: >            is for bash: echo one echo two
  echo one
  echo two
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from amplihack.documents import Scalar
from amplihack.documents.places import joined_places
from amplihack.patterns import pattern
from amplihack.recipes.cut_comments import quotes_at_end
from amplihack.recipes.reading import Report

# A line that ends so is meant to go on, or makes a command of what follows.
_GOES_ON: Final = pattern(r"(?:[|&;({!\\<>=,]|(?:\A|\s)(?:do|then|else|--|-\w+|if|elif|while|until))\s*\Z")
# Programs that take a command as their arguments.
_TAKES_COMMAND: Final = pattern(
    r"\b(?:ssh|sudo|xargs|env|timeout|exec|run|nohup|time|watch|parallel|nice|find|command|eval)\b"
)
_WORD: Final = pattern(r"[^\s;|&()<>]+")
_BEGINS_COMMAND: Final = frozenset(
    ("cd", "echo", "export", "for", "if", "local", "printf", "set", "source", "trap", "unset", "while")
)


def tell_joined(script: Scalar, owner: str, report: Report) -> bool:
    """Tell of the first line of a script that is no line of its own any more, if that changes something."""
    for offset, opened, is_own in _joins(script):
        if opened == "#":
            what = f"{owner}YAML joins this line to the comment before it, so that it is never run"
        elif is_own and not opened:
            what = f"{owner}YAML joins this line to the one above: for bash it is no command of its own"
        else:
            continue
        fix = "keep the lines with `command: |`, and the script on the lines below it, indented"
        report.add("joined-lines", what, script.locate(offset), fix, "warning")
        return True
    return False


def _joins(script: Scalar) -> Iterator[tuple[int, str, bool]]:
    """Yield each place where the author began a line and bash does not, with the quote that is open there.

    The third part tells whether what begins there looks like a command of its own.
    """
    text, start = script.text, (script.line + 1, 0)
    if script.style != "folded":
        start = (script.line, script.column)
    opened, first, takes_command, last = "", "", False, 0
    for offset in joined_places(text, script.source.lines, start):
        before = text[last:offset]
        if "\n" in before:  # YAML has kept a line
            before = before[before.rindex("\n") + 1 :]
            opened, first, takes_command = "", "", False
        first = first or before.split(maxsplit=1)[0]
        opened = quotes_at_end(before, opened)
        takes_command = takes_command or _TAKES_COMMAND.search(before) is not None
        word = _WORD.match(text, offset)
        begins = word is not None and (word[0] in _BEGINS_COMMAND or word[0] == first)
        yield offset, opened, begins and not takes_command and not _GOES_ON.search(before)
        last = offset
