"""Read what a person types at a terminal, without blocking anything else that happens."""

from __future__ import annotations

import asyncio
import os
import sys
import termios
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from amplihack.system.terminal.drawing import Drawn, TerminalSize, below, draw, redrawn
from amplihack.system.terminal.edited_text import EditedText
from amplihack.system.terminal.keys import Key, KeyReader
from amplihack.system.terminal.line_editor import Completer, LineEditor, one_line_at_a_time

_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
_CLEAR = "\x1b[H\x1b[2J"
_CTRL_C = b"\x03"
_IFLAG, _LFLAG, _CC = 0, 3, 6  # places in what `tcgetattr` returns


class InputEnded(Exception):
    """Raised when nothing more comes: Ctrl-D, or the terminal is gone."""


class InputInterrupted(Exception):
    """Raised when Ctrl-C was pressed in an empty line."""


class TypedInput:
    """The keyboard of the terminal. One reader at a time; keys that nobody waits for wait for the next."""

    def __init__(self) -> None:
        self._file = sys.stdin.fileno()
        self._keys = KeyReader()
        self._waiting: deque[Key] = deque()
        self._reading: _Reading | None = None
        self._ended = False
        self._before: list[Any] | None = None
        self.on_interrupt: Callable[[], object] = self.interrupt  # hears Ctrl-C while an input is read

    @contextmanager
    def without_echo(self) -> Iterator[None]:
        """Take the keys one by one, unseen, until the end of the block.

        Ctrl-C is a signal, but while an input is read it is a key: what is typed after it comes after it.
        What is pasted is marked as such, also while nothing is read: its lines are one input later on.
        """
        self._before = termios.tcgetattr(self._file)
        self._set()
        _write(_PASTE_ON)
        try:
            yield
        finally:
            self.restore()

    def restore(self) -> None:
        """Leave the terminal as it was found."""
        if self._before is not None:
            _write(_PASTE_OFF)
            with suppress(termios.error):  # a terminal that is gone needs nothing
                termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)

    async def read(
        self,
        prompt: str,
        *,
        history: Sequence[str] = (),
        goes_on: Callable[[str], bool] = one_line_at_a_time,
        complete: Completer = lambda _: (),
    ) -> str:
        """Return one input. Raises InputEnded, or InputInterrupted after Ctrl-C in an empty line."""
        if self._ended:
            raise InputEnded
        reading = _Reading(prompt, LineEditor(history, goes_on=goes_on, complete=complete))
        self._reading = reading
        loop = asyncio.get_running_loop()
        self._set()
        loop.add_reader(self._file, self._readable)
        reading.show()
        try:
            self._press()
            return await reading.result
        finally:
            loop.remove_reader(self._file)
            reading.close()
            self._reading = None
            self._set()

    @contextmanager
    def room(self) -> Iterator[None]:
        """Make room for whole lines above the input; afterwards it is drawn again below them."""
        reading = self._reading
        if reading is None:
            yield
            return
        reading.hide()
        try:
            yield
        finally:
            reading.show()

    def forget_typed_ahead(self) -> None:
        """Forget keys that were typed before a question was seen: they are no answer to it."""
        self._waiting.clear()
        with suppress(termios.error):
            termios.tcflush(self._file, termios.TCIFLUSH)

    def interrupt(self) -> bool:
        """Do what Ctrl-C means while an input is read: empty it, or end it. False if none is read."""
        if self._reading is None:
            return False
        self._reading.interrupt()
        return True

    def withdraw(self) -> None:
        """End the reading, whatever was typed: the question has no meaning any more."""
        if self._reading is not None:
            self._reading.fail(InputInterrupted())

    def shown_again(self) -> None:
        """Draw the input anew: the window has another size, or we were stopped meanwhile."""
        self._set()
        _write(_PASTE_ON)
        if self._reading is not None:
            self._reading.show()

    def _set(self) -> None:
        """Put the terminal into the mode that we need now; one that is gone needs nothing."""
        with suppress(termios.error, OSError):
            modes: list[Any] = termios.tcgetattr(self._file)
            modes[_IFLAG] &= ~(termios.ICRNL | termios.IXON)  # pasted line ends stay as they are
            modes[_LFLAG] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
            keys = modes[_CC]
            keys[termios.VMIN], keys[termios.VTIME] = 1, 0
            none = bytes([os.fpathconf(self._file, "PC_VDISABLE") & 0xFF])
            keys[termios.VINTR] = _CTRL_C if self._reading is None else none
            termios.tcsetattr(self._file, termios.TCSADRAIN, modes)

    def _readable(self) -> None:
        try:
            data = os.read(self._file, 65_536)
        except OSError:
            data = b""  # the terminal is gone
        if not data:
            self._ended = True
            if self._reading is not None:
                self._reading.fail(InputEnded())
            return
        self._waiting.extend(self._keys.feed(data))
        self._press()

    def _press(self) -> None:
        while self._waiting and self._reading is not None and not self._reading.result.done():
            key = self._waiting.popleft()
            if key.name == "interrupt":
                self.on_interrupt()
            else:
                self._reading.press(key, last=not self._waiting)


class _Reading:
    """One input while it is typed, and what the screen shows of it."""

    def __init__(self, prompt: str, editor: LineEditor) -> None:
        self._prompt, self._editor = prompt, editor
        self._drawn: Drawn | None = None
        self.result: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def press(self, key: Key, *, last: bool) -> None:
        match self._editor.press(key):
            case "submit":
                self.show()
                self.result.set_result(self._editor.edited.text)
            case "end":
                self.fail(InputEnded())
            case "clear":
                _write(_CLEAR)
                self._drawn = None
                self.show()
            case _ if last:
                self.show()

    def interrupt(self) -> None:
        if self._editor.edited.text:
            self.close()
            self._editor.edited = EditedText(cut=self._editor.edited.text)
            self._drawn = None
            self.show()
        else:
            self.fail(InputInterrupted())

    def fail(self, error: Exception) -> None:
        if not self.result.done():
            self.result.set_exception(error)

    def show(self) -> None:
        now = draw(self._prompt, self._editor.edited, _size())
        _write(redrawn(self._drawn, now))
        self._drawn = now

    def hide(self) -> None:
        """Take the input off the screen."""
        if self._drawn is not None:
            _write(redrawn(self._drawn, Drawn()))
            self._drawn = None

    def close(self) -> None:
        """Leave what was typed on the screen, and go to a new line."""
        if self._drawn is not None:
            _write(below(self._drawn))
            self._drawn = None


def _size() -> TerminalSize:
    try:
        found = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        return TerminalSize(80, 24)
    return TerminalSize(found.columns or 80, found.lines or 24)


def _write(text: str) -> None:
    with suppress(OSError):  # the terminal is gone, and whoever reads from it hears so
        sys.stdout.write(text)
        sys.stdout.flush()
