"""Edit a text of one or more lines: every key makes a new text from the one before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from amplihack.records import Record, replace
from amplihack.system.terminal.keys import Key

_TAB = "\t\n"


class EditedText(Record):
    """A text, where the cursor is in it, and what was cut last."""

    text: str = ""
    cursor: int = 0
    cut: str = ""

    @property
    def before(self) -> str:
        return self.text[: self.cursor]

    @property
    def after(self) -> str:
        return self.text[self.cursor :]

    def moved(self, cursor: int) -> EditedText:
        return replace(self, cursor=max(0, min(cursor, len(self.text))))

    def inserted(self, text: str) -> EditedText:
        return replace(self, text=f"{self.before}{text}{self.after}", cursor=self.cursor + len(text))

    def without(self, start: int, end: int) -> EditedText:
        """Return it without a part, which can be inserted again."""
        kept = f"{self.text[:start]}{self.text[end:]}"
        return EditedText(kept, start, self.text[start:end] or self.cut)


def pressed(edited: EditedText, key: Key) -> EditedText:
    """Return the text after a key; keys that do not edit change nothing."""
    if key.name in ("text", "paste"):
        return edited.inserted(clean(key.text))
    change = _CHANGES.get(key.name)
    return change(edited) if change else edited


def clean(text: str) -> str:
    """Return text without characters that could control a terminal when it is drawn."""
    return "".join(char for char in text if char in _TAB or char.isprintable())


def line_above(edited: EditedText) -> EditedText | None:
    """Return it with the cursor in the line above; None in the first line."""
    above, newline, here = edited.before.rpartition("\n")
    if not newline:
        return None
    start = above.rfind("\n") + 1
    return edited.moved(min(start + len(here), len(above)))


def line_below(edited: EditedText) -> EditedText | None:
    """Return it with the cursor in the line below; None in the last line."""
    rest, newline, below = edited.after.partition("\n")
    if not newline:
        return None
    column = len(edited.before.rpartition("\n")[2])
    return edited.moved(edited.cursor + len(rest) + 1 + min(column, len(below.partition("\n")[0])))


def _word_left(edited: EditedText) -> int:
    kept = edited.before.rstrip()
    return len(kept) - len(kept.split()[-1]) if kept else 0


def _word_right(edited: EditedText) -> int:
    after = edited.after
    rest = after.lstrip()
    word = rest.split(maxsplit=1)[0] if rest else ""
    return edited.cursor + len(after) - len(rest) + len(word)


def _start(edited: EditedText) -> int:
    return edited.before.rfind("\n") + 1


def _end(edited: EditedText) -> int:
    found = edited.text.find("\n", edited.cursor)
    return len(edited.text) if found < 0 else found


_Change: TypeAlias = Callable[[EditedText], EditedText]
_CHANGES: Final[dict[str, _Change]] = {
    "left": lambda at: at.moved(at.cursor - 1),
    "right": lambda at: at.moved(at.cursor + 1),
    "home": lambda at: at.moved(_start(at)),
    "end": lambda at: at.moved(_end(at)),
    "word-left": lambda at: at.moved(_word_left(at)),
    "word-right": lambda at: at.moved(_word_right(at)),
    "newline": lambda at: at.inserted("\n"),
    "backspace": lambda at: replace(at.without(max(0, at.cursor - 1), at.cursor), cut=at.cut),
    "delete": lambda at: replace(at.without(at.cursor, at.cursor + 1), cut=at.cut),
    "end-of-input": lambda at: replace(at.without(at.cursor, at.cursor + 1), cut=at.cut),
    "kill-to-end": lambda at: at.without(at.cursor, max(_end(at), at.cursor + (at.after[:1] == "\n"))),
    "kill-to-start": lambda at: at.without(_start(at), at.cursor),
    "kill-word": lambda at: at.without(_word_left(at), at.cursor),
    "delete-word": lambda at: at.without(at.cursor, _word_right(at)),
    "yank": lambda at: at.inserted(at.cut),
}
