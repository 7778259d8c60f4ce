"""Run a chat, wherever its inputs come from: ask, answer commands, and end as the signals say."""

from __future__ import annotations

import asyncio
import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from amplihack.app.sessions.asking import TalkHost
from amplihack.app.sessions.chat_commands import answered
from amplihack.app.sessions.chat_rewinding import AskAgain
from amplihack.app.sessions.chatting import Chat
from amplihack.cli.guard import INTERRUPTED
from amplihack.cli.show import flush_out, out, printable, show_problems
from amplihack.errors import AmplihackError
from amplihack.sessions.chat_input import as_prompt, command_of
from amplihack.sessions.errors import TurnCancelled
from amplihack.sessions.messages import count_turns
from amplihack.sessions.spending import price, tokens

if TYPE_CHECKING:
    from amplihack.app.sessions.asking import AskRequest
    from amplihack.app.sessions.talk import TurnAnswer
    from amplihack.app.workspace import Workspace
    from amplihack.cli.session_display import SessionDisplay

T = TypeVar("T")

_TWICE = 2.0  # seconds within which a second Ctrl-C ends the program


class ChatLoop(ABC):
    """A chat without its inputs: `talk` reads them, until it returns an exit code."""

    def __init__(self, workspace: Workspace, request: AskRequest, display: SessionDisplay) -> None:
        self.display = display
        host = TalkHost(
            approvals=self.make_approvals(),
            display=display,
            on_happening=display.happened,
            progress=display.progress,
        )
        self.chat = Chat(workspace, request, host)
        self.failed = False  # the last turn did not come to its end
        self._main: asyncio.Task[int] | None = None
        self._at_work: asyncio.Task[Any] | None = None  # a turn or a command
        self._ending: asyncio.Task[bool] | None = None
        self._pressed = float("-inf")  # when Ctrl-C was pressed last
        self._code = INTERRUPTED
        self._leaving = False

    # what differs ------------------------------------------------------------------------------------------

    @abstractmethod
    def make_approvals(self) -> object:
        """Return whom the session asks before a tool does something."""

    @abstractmethod
    async def talk(self) -> int:
        """Take one input after the other, until there are no more; return the exit code."""

    @abstractmethod
    def withdraw_question(self) -> None:
        """Take back a question that a turn asks, since the turn ends."""

    @abstractmethod
    def give_back_terminal(self) -> None:
        """Leave the terminal as it was, in a hurry."""

    @abstractmethod
    def on_idle_interrupt(self) -> None:
        """Do what Ctrl-C means while an input is awaited."""

    # the whole ---------------------------------------------------------------------------------------------

    async def run(self) -> int:
        """Open the session, talk, and close it whatever happens."""
        self._main = asyncio.ensure_future(self._open_and_talk())
        self._listen()
        try:
            return await self._main
        except asyncio.CancelledError:
            if not self.chat.is_open:
                self.display.tell("interrupted before the session was open")
            return self._code
        finally:
            self._leaving = True
            await self._close()

    async def _open_and_talk(self) -> int:
        talk = await self.chat.open()
        show_problems(talk.problems)
        turns = count_turns(await self.chat.messages())
        begun = f", {turns} turn{'s' if turns != 1 else ''} so far" if turns else ""
        self.display.tell(f"{talk.bundle}, {talk.model}; session {talk.session_id}{begun}")
        return await self.talk()

    async def _close(self) -> None:
        if self._ending is not None:
            await asyncio.wait([self._ending])
        self.display.end_line()
        session = await self.chat.close()
        if session is not None:
            self.display.tell(f"`amplihack session resume {session}` goes on")

    async def take(self, text: str) -> None:
        """Do what an input says: a command, or a prompt. Raises ChatEnded."""
        command, prompt = command_of(text), as_prompt(text)
        if command is None and not prompt:
            return
        try:
            if command is None:
                await self._turn(self.chat.talk.ask(prompt))
                return
            try:
                self._show(await self._work(answered(self.chat, command)))
            except AskAgain as again:
                self._show(again.lines)
                await self._turn(self.chat.talk.ask("", attached=again.prompt))
        except TurnCancelled as cancelled:
            self.display.end_line()
            self.display.tell("interrupted; what was said is kept")
            if "does not stop" in cancelled.what:
                show_problems(cancelled.problems)
        except AmplihackError as error:
            self.display.end_line()
            show_problems(error.problems)

    async def _turn(self, turn: Coroutine[Any, Any, TurnAnswer]) -> None:
        self.failed = True
        said = await self._work(turn)
        self.failed = bool(said.unfinished)
        self._tell(said)

    def _show(self, lines: Sequence[str]) -> None:
        self.display.end_line()
        for line in lines:
            out(printable(line))
        flush_out()

    def _tell(self, said: TurnAnswer) -> None:
        self.display.end_line()
        if said.unfinished:
            self.display.tell(f"unfinished: {said.unfinished}")
        elif not said.text.strip():
            self.display.tell("the model ended its turn without a word")
        cost = price(said.usage)
        self.display.tell(
            tokens(said.usage) + (f", {cost}" if cost not in ("", "unknown") else ""), faint=True
        )

    async def _work(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something that Ctrl-C can end."""
        task = asyncio.ensure_future(work)
        self._at_work = task
        try:
            return await task
        finally:
            self._at_work = self._ending = None

    # signals -----------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self.on_interrupt)
        loop.add_signal_handler(signal.SIGTERM, self.leave, 128 + signal.SIGTERM)
        loop.add_signal_handler(signal.SIGHUP, self.hang_up)

    def on_interrupt(self) -> None:
        """Do what Ctrl-C means now."""
        if self._leaving or not self.chat.is_open:
            self.leave(INTERRUPTED)
        elif self._at_work is None:
            self.on_idle_interrupt()
        elif self._ending is not None or self.pressed_twice():
            self.leave(INTERRUPTED)
        else:
            self.display.end_line()
            self.withdraw_question()
            self.display.tell("stopping … (Ctrl-C again leaves)")
            self._ending = asyncio.ensure_future(self._end_turn())

    def pressed_twice(self) -> bool:
        """Tell whether Ctrl-C was pressed a moment ago, too."""
        now = asyncio.get_running_loop().time()
        before, self._pressed = self._pressed, now
        return now - before < _TWICE

    async def _end_turn(self) -> bool:
        return self.chat.is_open and await self.chat.talk.cancel(immediate=True)

    def hang_up(self) -> None:
        """End the program since its terminal is gone."""
        self.leave(128 + signal.SIGHUP)

    def leave(self, code: int) -> None:
        """End the program with a code; the session is closed in order. Asked again, end it at once."""
        if self._leaving:
            self.display.tell("not waiting for what does not end; what was said is kept")
            self.give_back_terminal()
            os._exit(code)
        self._code, self._leaving = code, True
        if self._main is not None:
            self._main.cancel()
