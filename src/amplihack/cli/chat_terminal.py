"""Chat at a terminal: lines are edited, approvals are asked for, Ctrl-C ends a turn and twice the program."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING

from amplihack.app.sessions.chat_commands import ChatEnded, completions
from amplihack.cli.chat_loop import ChatLoop
from amplihack.cli.guard import INTERRUPTED, discard_output
from amplihack.cli.session_display import SessionDisplay
from amplihack.cli.session_pages import cut, from_home
from amplihack.cli.show import paint
from amplihack.sessions.chat_input import goes_on
from amplihack.sessions.spending import price
from amplihack.system.session_approvals import PersonAllows
from amplihack.system.terminal.input_history import InputHistory
from amplihack.system.terminal.typed_input import InputEnded, InputInterrupted, TypedInput
from amplihack.system.terminal_text import for_terminal

if TYPE_CHECKING:
    from amplihack.app.sessions.asking import AskRequest
    from amplihack.app.workspace import Workspace

_HISTORY = "chat-history"
_PROMPT = "> "
_WIDEST_DIRECTORY, _WIDEST_MODEL = 60, 30


class TerminalChat(ChatLoop):
    """Talks with the person at the terminal."""

    def __init__(self, workspace: Workspace, request: AskRequest) -> None:
        self._typed = TypedInput()
        display = SessionDisplay(room=self._typed.room)
        super().__init__(workspace, request, display)
        self._history = InputHistory(workspace.home.root / _HISTORY, display.tell)

    def make_approvals(self) -> PersonAllows:
        return PersonAllows(before=self.display.end_line, ask=self._ask)

    async def run(self) -> int:
        self._typed.on_interrupt = self.on_interrupt
        with self._typed.without_echo():
            return await super().run()

    async def talk(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGWINCH, signal.SIGCONT):
            loop.add_signal_handler(number, self._typed.shown_again)
        self.display.tell("/help shows what can be done; Ctrl-D leaves", faint=True)
        try:
            while (text := await self._read()) is not None:
                await self.take(text)
        except (InputEnded, ChatEnded):
            return 0
        return INTERRUPTED

    async def _read(self) -> str | None:
        """Return the next input; None after Ctrl-C twice. Raises InputEnded."""
        while True:
            sys.stdout.write(f"{paint(self._status(), '2', sys.stdout)}\n")
            try:
                text = await self._typed.read(
                    _PROMPT, history=self._history.entries, goes_on=goes_on, complete=completions
                )
            except InputInterrupted:
                if self.pressed_twice():
                    return None
                self.display.tell("Ctrl-C again leaves, as Ctrl-D does")
                continue
            self._history.add(text)
            return text

    def on_idle_interrupt(self) -> None:
        if not self._typed.interrupt():
            self.leave(INTERRUPTED)

    def hang_up(self) -> None:
        discard_output()  # nobody sees it any more
        super().hang_up()

    def give_back_terminal(self) -> None:
        self._typed.restore()

    def withdraw_question(self) -> None:
        self._typed.withdraw()

    def _status(self) -> str:
        """Return where we are and what it cost, for the line above the prompt."""
        if not self.chat.is_open:
            return "no session is open"
        talk = self.chat.talk
        directory = for_terminal(from_home(str(talk.working_dir)))
        if len(directory) > _WIDEST_DIRECTORY:
            directory = f"…{directory[1 - _WIDEST_DIRECTORY :]}"
        cost = price(self.chat.usage) or "$0"
        cost = "cost unknown" if cost == "unknown" else cost
        return " · ".join((directory, cut(talk.model, _WIDEST_MODEL), cost))

    async def _ask(self, question: str) -> str:
        """Return what is answered to a question of a turn. What was typed before it was seen is no answer."""
        self._typed.forget_typed_ahead()
        try:
            return await self._typed.read(question)
        except (InputEnded, InputInterrupted):
            return ""
