"""Help pages, and the parsers that print them, from the table of commands."""

from __future__ import annotations

from amplihack.cli.commands import COMMANDS, GROUPS, first_words, load, verbs

TYPE_CHECKING = False  # as in `commands`: the first page has to be quick
if TYPE_CHECKING:
    from collections.abc import Sequence

    from amplihack.cli.arguments import Parser

FIRST_EXAMPLES = (  # those of the other pages are in `examples.py`: this page loads nothing
    ("amplihack run 'what is in this directory?'", "ask an agent"),
    ("amplihack recipe run build.yaml", "run a recipe"),
    ("amplihack recipe check build.yaml", "look for mistakes without running anything"),
    ("amplihack bundle show", "what the bundle of this directory is made of"),
)

_HEAD = """\
usage: amplihack <command> …

Package, compose and run AI-agent work.

commands:
"""
_TAIL = """
`amplihack <command> --help` tells more. Exit codes: 0 done, 1 it ran and failed, 2 the input is wrong,
3 not found, 4 nothing to do it with, 130 interrupted, 70 our own bug.
"""


def parser(name: str) -> Parser:
    """Return the parser for the arguments of a command."""
    from amplihack.cli.arguments import Parser  # deferred, as above

    command = COMMANDS[name]
    made = Parser(
        prog=f"amplihack {name}",
        usage=f"{command.arguments} [options]".strip(),
        description=f"{command.summary[0].upper()}{command.summary[1:]}.",
    )
    load(command.flags)(made)
    return made


def group_parser(group: str) -> Parser:
    """Return the parser of a group's name alone. It knows the verbs, for the help page, and no flags."""
    from amplihack.cli.arguments import Parser

    summary = GROUPS[group]
    made = Parser(
        prog=f"amplihack {group}", usage="<verb> …", description=f"{summary[0].upper()}{summary[1:]}."
    )
    parsers = made.add_subparsers(metavar="<verb>", required=True)
    for verb, command in verbs(group).items():
        parsers.add_parser(verb, prog=made.prog, description=command.summary, help=command.summary)
    return made


def draw_examples(rows: Sequence[tuple[str, str]]) -> str:
    """Return examples, each what to type and what it does, as the part of a help page."""
    lines = [line for what, meaning in rows for line in (f"  # {meaning}", f"  {what}")]
    return "\n".join(["examples:", *lines])


def first_page() -> str:
    """Return the page of `amplihack` alone."""
    summaries = first_words()
    width = max(map(len, summaries))
    commands = "".join(f"  {name:<{width}}  {what}\n" for name, what in summaries.items())
    return f"{_HEAD}{commands}\n{draw_examples(FIRST_EXAMPLES)}\n{_TAIL}"
