"""`amplihack claude|copilot|codex …`: start that tool with our environment; its words are its own."""

from __future__ import annotations

import argparse

from amplihack.cli.arguments import Parser


def host_flags(parser: Parser) -> None:
    parser.add_argument("words", metavar="WORD", nargs="*", help="what the tool gets, as it is")


def answer_claude(options: argparse.Namespace) -> int:
    return _start("claude", options)


def answer_copilot(options: argparse.Namespace) -> int:
    return _start("copilot", options)


def answer_codex(options: argparse.Namespace) -> int:
    return _start("codex", options)


def _start(name: str, options: argparse.Namespace) -> int:
    # Deferred: a help page needs none of it.
    from amplihack.app.hosts import start_host
    from amplihack.cli.show import flush_out
    from amplihack.system.home import Home, this_process

    flush_out()
    environment, cwd = this_process()
    return start_host(name, options.words, Home.from_environment(environment, cwd), environment)
