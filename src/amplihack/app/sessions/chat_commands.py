"""The commands of a chat, such as /help: one table, and what each of them does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from amplihack.app.sessions.chat_rewinding import ask_again, compact, undo
from amplihack.app.sessions.chatting import Chat
from amplihack.bundles.masking import masked
from amplihack.documents.suggest import closest
from amplihack.errors import AmplihackError, UsageError
from amplihack.modules.approval_rules import MODES
from amplihack.records import Record
from amplihack.sessions.chat_input import SlashCommand
from amplihack.sessions.conversation import as_markdown, first_prompt
from amplihack.sessions.messages import count_turns
from amplihack.sessions.shown_plan import shown_approvals, shown_plan
from amplihack.sessions.spending import spent
from amplihack.system.session_store.listing import kept_sessions

Lines: TypeAlias = list[str]
_Answer: TypeAlias = Callable[[Chat, str], Awaitable[Lines]]
_WIDEST = 100
_NEWEST = 10


class ChatEnded(Exception):
    """Raised by the command that ends a chat."""


class ChatCommand(Record):
    """A row of the table. `argument` is shown as help pages show arguments; empty for none."""

    argument: str
    summary: str
    answer: _Answer


async def answered(chat: Chat, command: SlashCommand) -> Lines:
    """Do what a command says and return what to show. Raises ChatEnded, or AmplihackError."""
    name = ALIASES.get(command.name, command.name)
    row = COMMANDS.get(name)
    if row is None:
        meant = closest(command.name, [*COMMANDS, *ALIASES])
        fix = (
            f"did you mean /{meant}?"
            if meant
            else "/help shows the commands; // begins a prompt with a slash"
        )
        raise UsageError(f"there is no command /{command.name}", fix=fix)
    if command.rest and not row.argument:
        raise UsageError(f"/{name} takes nothing behind it, and got '{command.rest}'", fix=f"type /{name}")
    return await row.answer(chat, command.rest)


def completions(before: str) -> list[str]:
    """Return the commands that an input may become."""
    return [f"/{name}" for name in COMMANDS] if before.startswith("/") and " " not in before else []


async def _help(_chat: Chat, _rest: str) -> Lines:
    names = {name: f"/{name} {row.argument}".rstrip() for name, row in COMMANDS.items()}
    width = max(map(len, names.values()))
    return [*(f"{shown:<{width}}  {COMMANDS[name].summary}" for name, shown in names.items()), *_KEYS]


async def _status(chat: Chat, _rest: str) -> Lines:
    talk, messages = chat.talk, await chat.messages()
    turns = count_turns(messages)
    return [
        f"session    {talk.session_id}",
        f"bundle     {talk.bundle}",
        f"model      {talk.model}",
        f"directory  {talk.working_dir}",
        f"turns      {turns}",
        f"used       {spent(talk.usage)}",
        f"kept in    {chat.store.directory(talk.session_id)}",
    ]


async def _tools(chat: Chat, _rest: str) -> Lines:
    session = chat.talk.session
    tools = session.coordinator.get("tools") or {}
    lines = [
        _described(name, getattr(tool, "description", ""), session.owner_of(name) or "")
        for name, tool in sorted(tools.items())
    ]
    return lines or ["there are no tools"]


async def _agents(chat: Chat, _rest: str) -> Lines:
    found = chat.talk.session.config.get("agents")
    agents = found if isinstance(found, Mapping) else {}
    lines = [
        _described(str(name), each.get("description", "") if isinstance(each, Mapping) else "", "")
        for name, each in sorted(agents.items())
    ]
    return lines or [f"the bundle {chat.talk.bundle} has no agents"]


async def _model(chat: Chat, rest: str) -> Lines:
    if rest:
        await chat.change_model(rest)
    return [f"model: {chat.talk.model}"]


async def _cost(chat: Chat, _rest: str) -> Lines:
    lines, used = [f"this session: {spent(chat.talk.usage)}"], chat.usage
    return lines if used == chat.talk.usage else [*lines, f"this chat: {spent(used)}"]


async def _clear(chat: Chat, _rest: str) -> Lines:
    before = chat.talk.session_id
    had = bool(await chat.messages())
    talk = await chat.begin_anew()
    return [f"new session {talk.session_id}" + (f"; `/resume {before}` goes back" if had else "")]


async def _fork(chat: Chat, rest: str) -> Lines:
    before = chat.talk.session_id
    if rest and not rest.isdecimal():
        raise UsageError(f"/fork takes the number of a turn, and got '{rest}'", fix="such as /fork 2")
    try:
        talk = await chat.fork(int(rest) if rest else None)
    except (ValueError, FileNotFoundError) as error:
        raise UsageError(
            f"it cannot be forked there: {error}", fix="/status tells how many turns there are"
        ) from error
    turns = count_turns(await chat.messages())
    return [f"session {talk.session_id} goes on with {turns} of the turns; `/resume {before}` goes back"]


async def _undo(chat: Chat, _rest: str) -> Lines:
    return await undo(chat)


async def _retry(chat: Chat, _rest: str) -> Lines:
    return await ask_again(chat)


async def _rename(chat: Chat, rest: str) -> Lines:
    log = chat.talk.session.log
    name = " ".join(rest.split())
    if not name or log is None:
        raise UsageError("/rename needs a name", fix="such as /rename the login page")
    await log.describe(name=name[:_WIDEST])
    return [f"session {chat.talk.session_id} is called: {name[:_WIDEST]}"]


async def _config(chat: Chat, _rest: str) -> Lines:
    return list(shown_plan(masked(chat.talk.session.config)))


async def _approvals(chat: Chat, rest: str) -> Lines:
    if rest and rest not in MODES:
        raise UsageError(f"/approvals cannot be '{rest}'", fix=f"one of {', '.join(MODES)}")
    if rest:
        await chat.change_approvals(rest)
    return list(shown_approvals(chat.talk.session.config))


async def _resume(chat: Chat, rest: str) -> Lines:
    if not rest:
        return await asyncio.to_thread(_newest, chat)
    talk = await chat.go_on_with(rest)
    messages = await chat.messages()
    begun = _short(first_prompt(messages))
    return [f"session {talk.session_id}, {count_turns(messages)} turns: {begun}"]


def _newest(chat: Chat) -> Lines:
    kept = [each for each in kept_sessions(chat.store) if each.agent is None and each.prompt]
    lines = [f"{each.session_id}  {_short(each.name or each.prompt)}" for each in kept[:_NEWEST]]
    return [*lines, "/resume SESSION goes on with one"] if lines else ["there are no other sessions"]


async def _cwd(chat: Chat, rest: str) -> Lines:
    if rest:
        directory = _place(chat, rest)
        if not await asyncio.to_thread(directory.is_dir):
            raise UsageError(f"{directory} is no directory", fix="give one that is there")
        await chat.change_directory(await asyncio.to_thread(directory.resolve))
    return [str(chat.talk.working_dir)]


async def _save(chat: Chat, rest: str) -> Lines:
    messages = await chat.messages()
    if not messages:
        raise UsageError("nothing was said yet", fix="ask something first")
    name = rest or f"session-{chat.talk.session_id[:8]}.md"
    path = _place(chat, name)
    try:
        await asyncio.to_thread(_write_new, path, as_markdown(messages, chat.talk.session_id))
    except FileExistsError as error:
        raise UsageError(f"{path} is there already", fix="give another name: /save FILE") from error
    except OSError as error:
        raise AmplihackError(
            f"cannot write {path}: {error.strerror}", fix="give another name: /save FILE"
        ) from error
    return [f"wrote {path}"]


def _place(chat: Chat, text: str) -> Path:
    """Return the path that is meant by a text, seen from the directory of the session."""
    return chat.workspace.home.path(text if text.startswith(("/", "~")) else chat.talk.working_dir / text)


def _write_new(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


async def _exit(_chat: Chat, _rest: str) -> Lines:
    raise ChatEnded


COMMANDS: Final[Mapping[str, ChatCommand]] = {
    "help": ChatCommand("", "show this", _help),
    "status": ChatCommand("", "show session, bundle, model, directory, turns and what was used", _status),
    "tools": ChatCommand("", "list the tools", _tools),
    "agents": ChatCommand("", "list the agents that it can call", _agents),
    "model": ChatCommand("[MODEL]", "show the model, or ask another one from now on", _model),
    "cost": ChatCommand("", "show tokens and cost", _cost),
    "cwd": ChatCommand("[DIR]", "show the directory, or work in another one", _cwd),
    "clear": ChatCommand("", "begin a new session; this one is kept", _clear),
    "fork": ChatCommand(
        "[TURN]", "go on with a copy, of everything or up to a turn; this one is kept", _fork
    ),
    "undo": ChatCommand("", "take the last turn back; what tools changed stays", _undo),
    "retry": ChatCommand("", "take the last turn back and ask it again", _retry),
    "compact": ChatCommand("[WISH]", "go on with a summary by the model; this session is kept", compact),
    "rename": ChatCommand("NAME", "give the session a name, for lists of sessions", _rename),
    "approvals": ChatCommand("[MODE]", f"show or change what is asked for: {', '.join(MODES)}", _approvals),
    "config": ChatCommand("", "show the modules of the session and their settings", _config),
    "resume": ChatCommand("[SESSION]", "list sessions, or go on with one", _resume),
    "save": ChatCommand("[FILE]", "write the conversation to a file, as Markdown", _save),
    "exit": ChatCommand("", "leave; so does Ctrl-D", _exit),
}
ALIASES: Final[Mapping[str, str]] = {
    "quit": "exit",
    "new": "clear",
    "?": "help",
    "cd": "cwd",
    "sessions": "resume",
    "provider": "model",
    "name": "rename",
    "permissions": "approvals",
}
_KEYS: Final = (
    "",
    'A prompt goes on in the next line after a backslash, inside """ quotes """, with Alt-Enter,',
    "and when more than one line is pasted.",
    "@FILE gives a file to the model. Up and Down bring back earlier prompts, Tab completes commands.",
    "Ctrl-C ends a turn, and twice the chat; Ctrl-D leaves.",
)  # fmt: skip


def _described(name: str, description: Any, owner: str) -> str:
    text = _short(next(_sentences(str(description or ""))))
    return f"{name}  {text}" + (f"  ({owner})" if owner else "")


def _sentences(text: str) -> Iterator[str]:
    line = " ".join(text.split())
    yield line.partition(". ")[0]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"
