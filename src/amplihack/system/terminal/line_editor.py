"""Edit one input: keys change it, older inputs come back, and it is done when a key says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os.path import commonprefix
from typing import Literal, TypeAlias

from amplihack.system.terminal.edited_text import EditedText, line_above, line_below, pressed
from amplihack.system.terminal.keys import Key

# submit: the text is complete; end: Ctrl-D in an empty line; clear: the screen is to be cleared
EditorOutcome: TypeAlias = Literal["submit", "end", "clear"]
Completer: TypeAlias = Callable[[str], Sequence[str]]  # the text before the cursor -> what it may become


def one_line_at_a_time(_text: str) -> bool:
    return False


class LineEditor:
    """The input that is being typed. `goes_on` tells whether a text needs another line."""

    def __init__(
        self,
        history: Sequence[str] = (),
        *,
        goes_on: Callable[[str], bool] = one_line_at_a_time,
        complete: Completer = lambda _: (),
    ) -> None:
        self._history = [*history, ""]
        self._at = len(history)
        self._goes_on, self._complete = goes_on, complete
        self.edited = EditedText()

    def press(self, key: Key) -> EditorOutcome | None:
        """Do what a key says; return what it means for the input as a whole."""
        match key.name:
            case "enter":
                return self._enter()
            case "end-of-input" if not self.edited.text:
                return "end"
            case "clear-screen":
                return "clear"
            case "up":
                self._move(line_above(self.edited), -1)
            case "down":
                self._move(line_below(self.edited), 1)
            case "tab":
                self._tab()
            case _:
                self.edited = pressed(self.edited, key)
        return None

    def _enter(self) -> EditorOutcome | None:
        whole = self.edited.moved(len(self.edited.text))
        if self._goes_on(whole.text):
            self.edited = whole.inserted("\n")
            return None
        self.edited = whole
        return "submit"

    def _move(self, inside: EditedText | None, step: int) -> None:
        if inside is not None:
            self.edited = inside
            return
        if 0 <= self._at + step < len(self._history):
            self._history[self._at] = self.edited.text  # changes come back, too
            self._at += step
            text = self._history[self._at]
            self.edited = EditedText(text, len(text), self.edited.cut)

    def _tab(self) -> None:
        before = self.edited.before
        fitting = [each for each in self._complete(before) if each.startswith(before)]
        longest = commonprefix(fitting)  # noqa: RUF071 - of words, character by character
        if len(longest) > len(before):
            self.edited = self.edited.inserted(longest[len(before) :])
        elif not fitting:
            self.edited = self.edited.inserted("\t" if before and not before.startswith("/") else "")
