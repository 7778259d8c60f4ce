"""Answer `amplihack chat` and `amplihack session resume`: a conversation, or one more turn of it."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from amplihack.cli.arguments import Parser, add_color, add_json
from amplihack.cli.ask import add_resume, add_session_flags, answer_ask, ask_request
from amplihack.cli.guard import keep_results_apart
from amplihack.cli.offering import asked_or_offered
from amplihack.cli.session import add_session_name, open_store

if TYPE_CHECKING:
    from amplihack.app.sessions.asking import AskRequest
    from amplihack.app.workspace import Workspace


def chat_flags(parser: Parser) -> None:
    add_color(parser)
    add_session_flags(parser)
    add_resume(parser)


def resume_flags(parser: Parser) -> None:
    parser.intermixed = True
    add_json(parser)
    add_session_name(parser)
    what = "one more turn, as `amplihack run` asks it; without it, a chat"
    parser.add_argument("prompt", metavar="PROMPT", nargs="*", help=what)
    add_session_flags(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print the final answer, and no more")


def answer_resume(options: argparse.Namespace) -> int:
    """Go on with a session: in a chat at a terminal, else with one more turn."""
    options.resume = open_store().find(options.session)  # first: without it no prompt is worth asking for
    is_chat = not (options.prompt or options.json or options.quiet) and sys.stdin.isatty()
    return answer_chat(options) if is_chat else answer_ask(options)


def answer_chat(options: argparse.Namespace) -> int:
    """Talk until the person leaves. Without a terminal, each line of stdin is a prompt."""
    # Deferred: a help page needs none of it.
    from amplihack.app.workspace import open_workspace

    workspace = open_workspace(directory=options.working_dir)
    request = ask_request(options, workspace)
    return asked_or_offered(workspace, request, lambda wanted: _talk(workspace, wanted))


def _talk(workspace: Workspace, request: AskRequest) -> int:
    import asyncio

    from amplihack.cli.chat_lines import LinesChat
    from amplihack.cli.chat_terminal import TerminalChat

    if has_terminal():
        return asyncio.run(TerminalChat(workspace, request).run())
    keep_results_apart()
    return asyncio.run(LinesChat(workspace, request).run())


def has_terminal() -> bool:
    """Tell whether a person can be asked line by line, and sees what is drawn."""
    from amplihack.system.home import this_process

    dumb = this_process()[0].get("TERM", "") in ("", "dumb")
    return sys.stdin.isatty() and sys.stdout.isatty() and not dumb
