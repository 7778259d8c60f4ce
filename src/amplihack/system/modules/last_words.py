"""Keep the end of what a program said, with its last error."""

from __future__ import annotations

from amplihack.patterns import pattern
from amplihack.system.spool import Captured

_BYTES = 8_000
_LINES = 8
_RAISED = pattern(r"\s*[A-Za-z_.]*(Error|Exception): ")


def last_words(said: Captured) -> str:
    """Return the end of what a program said, its last error in front; lines are whole."""
    lines = [line.rstrip() for line in said.tail(_BYTES).split("\n") if line.strip()]
    last = lines[-_LINES:]
    shift = min((len(line) - len(line.lstrip()) for line in last), default=0)
    shown = "\n".join(line[shift:] for line in last)
    if len(lines) <= _LINES:
        return shown
    raised = next((line.strip() for line in reversed(lines) if _RAISED.match(line)), "")
    return f"{raised or lines[-1].strip()}\n…\n{shown}"
