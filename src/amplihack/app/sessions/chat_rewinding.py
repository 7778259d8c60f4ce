"""Go back in a chat: take the last turn back, ask it again, or go on with a summary of what was said.

The session as it was is kept each time; the chat goes on in another one.
"""

from __future__ import annotations

from amplihack.app.sessions.chatting import Chat
from amplihack.errors import UsageError
from amplihack.sessions.calls import is_real_user_message, text_of
from amplihack.sessions.messages import count_turns
from amplihack.sessions.spending import spent

_SUMMARISE = (
    "Summarise our conversation so that you could go on with it knowing nothing else: what I want, what was "
    "done, what was found and decided, which files matter, and what is left. Use no tools. "
    "Write only the summary."
)
_SUMMARY = "This is what was said before, summarised:\n\n{}"
_ACCEPTED = "I go on from here."


class AskAgain(Exception):
    """Raised by a command after which a prompt is asked; `lines` are shown before."""

    def __init__(self, prompt: str, lines: list[str]) -> None:
        super().__init__(prompt)
        self.prompt, self.lines = prompt, lines


async def undo(chat: Chat) -> list[str]:
    """Go on before the last turn. Raises UsageError if there is none."""
    before, turns = chat.talk.session_id, count_turns(await chat.messages())
    if not turns:
        raise UsageError("nothing was said yet", fix="ask something first")
    talk = await (chat.fork(turns - 1) if turns > 1 else chat.begin_anew())
    return [
        f"session {talk.session_id} goes on before turn {turns}; `/resume {before}` goes back",
        "what tools have changed stays changed",
    ]


async def ask_again(chat: Chat) -> list[str]:
    """Take the last turn back and raise AskAgain with its prompt. Raises UsageError if there is none."""
    prompts = [text_of(each) for each in await chat.messages() if is_real_user_message(each)]
    lines = await undo(chat)
    raise AskAgain(prompts[-1], lines)


async def compact(chat: Chat, wish: str) -> list[str]:
    """Let the model summarise what was said, and go on in a new session that begins with the summary."""
    before = chat.talk.session_id
    if not count_turns(await chat.messages()):
        raise UsageError("nothing was said yet", fix="ask something first")
    said = await chat.talk.ask("", attached=f"{_SUMMARISE} {wish}".strip())
    if said.unfinished or not said.text.strip():
        why = said.unfinished or "the model gave none"
        raise UsageError(f"there is no summary: {why}; nothing was changed", fix="try again, or /clear")
    talk = await chat.begin_anew()
    context = talk.session.coordinator.get("context")
    await context.add_message({"role": "user", "content": _SUMMARY.format(said.text.strip())})
    await context.add_message({"role": "assistant", "content": _ACCEPTED})
    return [
        f"session {talk.session_id} goes on with the summary; `/resume {before}` goes back",
        f"the summary took {spent(said.usage)}",
    ]
