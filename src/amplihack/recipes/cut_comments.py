"""Find texts of which YAML has taken a part for a comment: `prompt: Mend issue #12` is "Mend issue"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amplihack.documents import Mapping, Node, Scalar, Sequence
from amplihack.errors import Severity
from amplihack.patterns import pattern
from amplihack.recipes.reading import Report

# Most people write a blank behind the # of a comment. What follows at once was more likely meant as text.
_NO_BLANK = pattern(r"[ \t]+#[^\s#!]")
_QUOTES = ("'", '"')
_ANY = pattern(r"[ \t]+#")
# Words that people read, and values. In a command the same is a comment for bash too.
_TEXTS = frozenset(
    (
        *("prompt", "output", "template", "description", "name", "context", "parameters", "inputs"),
        *("env", "foreach", "update_context"),
    )
)


def tell_cut(root: Mapping, report: Report) -> None:
    """Tell of every text that goes on behind a `#` for its author, and not for YAML.

    A command that is cut inside its quotes cannot run: an error.
    """
    for scalar, severity in _cut(root):
        # Neither the text nor the comment is repeated: cut short, a secret would not be found in the message.
        left = "the text ends before it" if scalar.text else "there is no value"
        where = scalar.source.location(scalar.line, scalar.where.text.index("#", _end(scalar)))
        report.add(
            "cut-comment", f"what begins here is a comment for YAML: {left}", where, _fix(scalar), severity
        )


def _fix(scalar: Scalar) -> str:
    from amplihack.documents.yaml_fixes import quotes_around  # deferred: hardly any file has such a text

    return f"{quotes_around(scalar.where)}; behind the # of a comment write a blank"


def _cut(root: Mapping) -> Iterator[tuple[Scalar, Severity]]:
    waiting: list[tuple[Node, str]] = [(root, "")]
    while waiting:
        node, field = waiting.pop()
        if isinstance(node, Mapping):
            waiting += [(child, field if field in _TEXTS else key) for key, child in node]
        elif isinstance(node, Sequence):
            waiting += [(item, field) for item in node.items]
        elif node.style != "plain":
            continue
        elif field in _TEXTS and _is_before(node, _NO_BLANK):
            yield node, "warning"
        elif field == "command" and quotes_at_end(node.text) in _QUOTES and _is_before(node, _ANY):
            yield node, "error"


def quotes_at_end(script: str, opened: str = "") -> str:
    """Return the quote that is open at the end of a script on one line, or `#` if it ends in a comment.

    `opened` is the quote that is open where it begins.
    """
    skip, before = False, " "
    for char in script:
        if skip:
            skip = False
        elif char == "\\" and opened != "'":
            skip = True
        elif char in "'\"" and opened in ("", char):
            opened = "" if opened else char
        elif char == "#" and not opened and before in " \t;":
            return char
        before = char
    return opened


def _is_before(scalar: Scalar, comment: re.Pattern[str]) -> bool:
    """Tell whether a text stands on one line, with such a comment behind it."""
    line = scalar.where.text
    is_text = scalar.absent or isinstance(scalar.value, str)
    is_one_line = line.startswith(scalar.text, scalar.column)
    return is_text and is_one_line and comment.match(line, _end(scalar)) is not None


def _end(scalar: Scalar) -> int:
    return scalar.column + len(scalar.text)
