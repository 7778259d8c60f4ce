"""Show a session as it happens: what the model says on one stream, everything else on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from amplihack.cli.guard import discard_output, results, say
from amplihack.cli.show import paint
from amplihack.system.terminal_text import for_terminal

if TYPE_CHECKING:
    from amplihack.sessions.happenings import Happening

_LONGEST = 100


class SessionDisplay:
    """Shows text as it comes, and tools in a line each. `quiet` shows neither.

    `room` makes room on the screen while something is written, for a host that draws at its end.
    """

    def __init__(
        self,
        *,
        answers: bool = True,
        quiet: bool = False,
        room: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._answers, self._quiet, self._room = answers, quiet, room
        self._open = False  # a line of the answer has no end yet
        self._held: list[str] | None = None  # lines that wait until a question is answered
        self.has_shown = False  # something of an answer is on stdout
        self._preparing: Callable[[str, str], None] | None = None

    def happened(self, what: Happening) -> None:
        match what.kind:
            case "text" if not what.is_child:
                self._text(what.text)
            case "text_end" | "turn_end":
                self.end_line()
            case "aborted":
                self._line("the answer broke off")
            case "retry":
                self._line(what.text)
            case "tool_start" if not self._quiet:
                self._line(f"→ {what.tool} {_brief(what.given)}", faint=True, inside=what.is_child)
            case "tool_end" if not self._quiet:
                mark, said = ("✓", "") if what.ok else ("✗", f": {_brief(what.text)}")
                self._line(
                    f"{mark} {what.tool} {what.milliseconds} ms{said}", faint=True, inside=what.is_child
                )
            case _:
                pass

    def show_message(self, message: str, level: str = "info", source: str = "") -> None:
        """Show a line of a module or of the kernel: the display of sessions."""
        head = f"{level}: " if level in ("warning", "error") else ""
        name = f"{source.removeprefix('hook:')}: " if source and source != "amplihack" else ""
        self._line(f"{head}{name}{message}")

    def progress(self, action: str, name: str) -> None:
        """Show what has to be fetched or installed before a session."""
        if self._quiet:
            return
        if self._preparing is None:
            from amplihack.system.modules.progress import ProgressLines  # not on the way of every command

            self._preparing = ProgressLines(lambda line: self._line(line, faint=True))
        self._preparing(action, name)

    def tell(self, text: str, *, faint: bool = False) -> None:
        self._line(text, faint=faint)

    def end_line(self) -> None:
        if self._open:
            self._open = False
            with self._room():
                _write("\n")

    def pause(self) -> None:
        """Hold lines back: a question is on the screen."""
        self.end_line()
        self._held = []

    def resume(self) -> None:
        held, self._held = self._held or [], None
        for line in held:
            say(line)

    def _text(self, text: str) -> None:
        if not self._answers:
            return
        shown = for_terminal(text) if results().isatty() else text
        if shown:
            with self._room():
                _write(shown)
            self.has_shown = True
            self._open = not shown.endswith("\n")

    def _line(self, text: str, *, faint: bool = False, inside: bool = False) -> None:
        if self._answers:
            self.end_line()
        line = f"{'  ' if inside else ''}{for_terminal(text)}"
        shown = f"{paint(line, '2', sys.stderr) if faint else line}\n"
        if self._held is not None:
            self._held.append(shown)
            return
        with self._room():
            say(shown)


def _write(text: str) -> None:
    try:
        results().write(text)
        results().flush()
    except BrokenPipeError:
        discard_output()


def _brief(value: Any) -> str:
    if isinstance(value, dict):
        value = ", ".join(f"{name}={each}" for name, each in value.items())
    line = " ".join(str(value or "").split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
