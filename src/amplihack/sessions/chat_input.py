"""Read what a person types in a chat: prompts of one or more lines, and commands that begin with a slash."""

from __future__ import annotations

from amplihack.patterns import pattern
from amplihack.records import Record

FENCE = '"""'
_COMMAND = pattern(r"/([A-Za-z][\w-]*|\?)(?:\s+(.*))?")


class SlashCommand(Record):
    """A command and what follows it."""

    name: str
    rest: str = ""


def goes_on(text: str) -> bool:
    """Tell whether another line is to come: after a backslash, and inside triple quotes."""
    if text.lstrip().startswith(FENCE):
        return FENCE not in text.lstrip()[len(FENCE) :]
    last = text.rpartition("\n")[2]
    return (len(last) - len(last.rstrip("\\"))) % 2 == 1


def as_prompt(text: str) -> str:
    """Return what is meant by an input: without its triple quotes, and without backslashes at line ends."""
    inner = text.strip()
    if inner.startswith(FENCE):
        body, _, rest = inner[len(FENCE) :].partition(FENCE)
        return f"{body.strip(chr(10))}{rest}".strip()
    lines = inner.split("\n")
    meant = [line[:-1] if goes_on(line) else line for line in lines]
    joined = "\n".join(meant).strip()
    return joined[1:] if joined.startswith("//") else joined


def command_of(text: str) -> SlashCommand | None:
    """Return the command that an input is; None for a prompt.

    `/etc/hosts says what?` is a prompt, since no command has a second slash; `//` begins a prompt with one.
    """
    inner = text.strip()
    found = _COMMAND.fullmatch(inner)
    return SlashCommand(found[1].lower(), (found[2] or "").strip()) if found else None
