"""Find texts of which YAML has taken a part for a comment: `prompt: Mend issue #12` is "Mend issue"."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.documents import Mapping, Node, Scalar, Sequence
from amplihack.patterns import pattern
from amplihack.recipes.reading import Report
from amplihack.recipes.values import one_line

# Most people write a blank behind the # of a comment. What follows at once was more likely meant as text.
_NO_BLANK = pattern(r"(?:^|[ \t])[ \t]*(#[^\s#!].*)")
# Words that people read, and values. In a command the same is a comment for bash too.
_TEXTS = frozenset(
    (
        *("prompt", "output", "template", "description", "name", "context", "parameters", "inputs"),
        *("env", "foreach", "update_context"),
    )
)
_WIDTH = 40


def tell_cut(root: Mapping, report: Report) -> None:
    """Warn of every text that goes on behind a `#` for its author, and not for YAML."""
    for scalar, comment in _cut(root):
        shown = one_line(comment, _WIDTH)
        what = f"`{shown}` is a comment for YAML, so {_what_is_left(scalar)}"
        report.add("cut-comment", what, scalar.where, _fix(scalar, shown), "warning")


def _what_is_left(scalar: Scalar) -> str:
    return f"the text is only `{one_line(scalar.text, _WIDTH)}`" if scalar.text else "there is no value"


def _fix(scalar: Scalar, shown: str) -> str:
    begun = f"{one_line(scalar.text, _WIDTH)} " if scalar.text else ""
    return f"put quotes around the whole text, '{begun}{shown}'; behind the # of a comment write a blank"


def _cut(root: Mapping) -> Iterator[tuple[Scalar, str]]:
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, is_text = waiting.pop()
        if isinstance(node, Mapping):
            waiting += [(child, is_text or key in _TEXTS) for key, child in node]
        elif isinstance(node, Sequence):
            waiting += [(item, is_text) for item in node.items]
        elif is_text and node.style == "plain" and (comment := _comment_behind(node)):
            yield node, comment


def _comment_behind(scalar: Scalar) -> str:
    """Return the comment behind a text that stands on one line; empty for others."""
    line = scalar.where.text
    is_text = scalar.absent or isinstance(scalar.value, str)
    if not is_text or not line.startswith(scalar.text, scalar.column):
        return ""
    found = _NO_BLANK.match(line, scalar.column + len(scalar.text))
    return found[1] if found else ""
