"""Chat without a terminal: each line of stdin is a prompt, and nobody is asked."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import TYPE_CHECKING

from amplihack.app.sessions.chat_commands import ChatEnded
from amplihack.cli.chat_loop import ChatLoop
from amplihack.cli.guard import INTERRUPTED
from amplihack.cli.session_display import SessionDisplay
from amplihack.sessions.chat_input import goes_on
from amplihack.system.session_approvals import NobodyAllows

if TYPE_CHECKING:
    from amplihack.app.sessions.asking import AskRequest
    from amplihack.app.workspace import Workspace


class LinesChat(ChatLoop):
    """Reads lines until they end; then its exit code is 1 if the last turn failed."""

    def __init__(self, workspace: Workspace, request: AskRequest) -> None:
        super().__init__(workspace, request, SessionDisplay())

    def make_approvals(self) -> object:
        return NobodyAllows(self.display.tell)

    def withdraw_question(self) -> None:
        """Do nothing: nobody is asked."""

    def give_back_terminal(self) -> None:
        """Do nothing: it was not changed."""

    def on_idle_interrupt(self) -> None:
        self.leave(INTERRUPTED)

    async def talk(self) -> int:
        self.display.tell(
            "there is no terminal to draw on: each line is a prompt, and nobody is asked; "
            "`amplihack run` takes one prompt as a whole"
        )
        lines: asyncio.Queue[str] = asyncio.Queue()
        _read_in_thread(lines)
        text = ""
        try:
            while line := await lines.get():
                text += line.removesuffix("\n")
                if goes_on(text):
                    text += "\n"
                    continue
                await self.take(text)
                text = ""
            if text:
                await self.take(text)
        except ChatEnded:
            pass
        return 1 if self.failed else 0


def _read_in_thread(lines: asyncio.Queue[str]) -> None:
    """Put each line of stdin into the queue, and an empty text at the end. Nothing waits for the thread."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, "")

    threading.Thread(target=read, daemon=True).start()
