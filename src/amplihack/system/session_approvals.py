"""Ask about what tools of a session want to do: a person at a terminal, or nobody."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence

from amplihack.sessions.answers import ALLOW_ALWAYS, ALLOW_ONCE, DENY
from amplihack.system.approver import forget_typed, read_line
from amplihack.system.terminal_text import spelled_out

_ANSWERS = {
    **dict.fromkeys(("y", "yes"), ALLOW_ONCE),
    **dict.fromkeys(("a", "always"), ALLOW_ALWAYS),
    **dict.fromkeys(("n", "no", ""), DENY),
}


class NobodyAllows:
    """Denies everything that must be asked for, and tells each."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self.denied: list[str] = []

    async def request_approval(
        self,
        prompt: str,
        options: Sequence[str],
        timeout: float,  # noqa: ASYNC109 - the kernel calls it so
        default: str,
    ) -> str:
        del options, timeout, default
        self.denied.append(prompt)
        self._tell(f"denied, as there is nobody to ask: {spelled_out(prompt)}")
        return DENY


async def _ask_on_stderr(question: str) -> str:
    forget_typed()
    sys.stderr.write(question)
    sys.stderr.flush()
    line = await read_line()
    if not line.endswith("\n"):
        sys.stderr.write("\n")  # the input has ended
    return line


class PersonAllows:
    """Asks at the terminal, one question at a time; `before` and `after` make room on the screen.

    `ask` shows a question and returns what was typed.
    """

    def __init__(
        self,
        before: Callable[[], None] = lambda: None,
        after: Callable[[], None] = lambda: None,
        ask: Callable[[str], Awaitable[str]] = _ask_on_stderr,
    ) -> None:
        self._before, self._after, self._ask = before, after, ask
        self._alone = asyncio.Lock()
        self.denied: list[str] = []

    async def request_approval(
        self,
        prompt: str,
        options: Sequence[str],
        timeout: float,  # noqa: ASYNC109 - as above
        default: str,
    ) -> str:
        """Return the answer. Nothing at all is a no; the time limit is watched by whoever asks us."""
        del options, timeout, default
        async with self._alone:
            self._before()
            try:
                chosen = await self._chosen(spelled_out(prompt))
            finally:
                self._after()
        if chosen == DENY:
            self.denied.append(prompt)
        return chosen

    async def _chosen(self, prompt: str) -> str:
        """Ask until the answer is one."""
        again = ""
        while True:
            answer = await self._ask(f"{again}{prompt} [y]es, [a]lways, [N]o: ")
            chosen = _ANSWERS.get(answer.strip().lower())
            if chosen is not None:
                return chosen
            again = "Please answer yes, always or no.\n"
