"""Turn what happens in the session of a step into lines for the log of the step."""

from __future__ import annotations

from collections.abc import Callable

from amplihack.recipes.values import one_line
from amplihack.sessions.happenings import Happening

_LONGEST = 200  # characters of what a tool is given, or answers


class SessionLines:
    """Hears what happens in a session, and hands on each line when it is whole."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._text = ""

    def happened(self, what: Happening) -> None:
        match what.kind:
            case "text" if not what.is_child:
                *whole, self._text = (self._text + what.text).split("\n")
                for line in whole:
                    self.tell(line)
            case "text_end" | "turn_end":
                self.end()
            case "tool_start":
                given = ", ".join(f"{name}={value}" for name, value in what.given.items())
                self.tell(f"→ {what.tool} {one_line(given, _LONGEST)}")
            case "tool_end" if not what.ok:
                self.tell(f"✗ {what.tool}: {one_line(what.text, _LONGEST)}")
            case "retry" | "aborted":
                self.tell(what.text or "the answer broke off, and is asked for again")
            case _:
                pass

    def show_message(self, message: str, level: str = "info", source: str = "") -> None:
        del source
        self.tell(f"{level}: {message}" if level != "info" else message)

    def tell(self, line: str) -> None:
        if line.strip():
            self._on_line(line)

    def end(self) -> None:
        line, self._text = self._text, ""
        self.tell(line)
