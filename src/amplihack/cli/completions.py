"""`amplihack completions SHELL`: print what makes a shell complete our commands, and answer that shell."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from amplihack.cli.arguments import Parser, add_color
from amplihack.cli.completion_scripts import SCRIPTS, script
from amplihack.cli.show import out, printable
from amplihack.errors import UsageError


def completions_flags(parser: Parser) -> None:
    add_color(parser)
    parser.add_argument("shell", metavar="SHELL", help=f"one of {', '.join(SCRIPTS)}")
    # What the script asks with: the words of the line; for bash the line itself, and where it breaks words.
    parser.add_argument("--words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def answer_completions(options: argparse.Namespace) -> int:
    """Print the script of a shell, or what may be typed next."""
    if options.shell not in SCRIPTS:
        what = f"amplihack completions: there is nothing for '{options.shell}'"
        raise UsageError(what, fix=f"name one of {', '.join(SCRIPTS)}")
    if options.words is None:
        out(script(options.shell).rstrip())
        return 0
    # Deferred: the script needs none of it.
    from amplihack.cli.completing import complete, shell_words

    if options.shell == "bash":
        line, breaks = (*options.words, "")[:2]
        words = list(shell_words(line))
    else:
        words, breaks = options.words, ""
    if len(words) < 2:
        return 0
    found = complete(words)
    out(found.kind)
    for each in found.words:
        text = _for_bash(each.text, words[-1], breaks) if options.shell == "bash" else each.text
        meaning = f"\t{each.meaning}" if each.meaning and options.shell != "bash" else ""
        out(printable(text) + meaning)
    return 0


def _for_bash(text: str, current: str, breaks: Sequence[str]) -> str:
    """Return the part of a word that bash replaces: what is behind the last sign that breaks words."""
    import shlex

    start = max((current.rfind(sign) for sign in "=:" if sign in breaks), default=-1) + 1
    rest = text[start:]
    return rest if not rest or shlex.quote(rest) == rest or rest.endswith(("=", "/")) else shlex.quote(rest)
