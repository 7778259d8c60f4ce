"""Run the `amplihack` command from one table of commands. Only the requested one is loaded."""

from __future__ import annotations

import os
import sys

from amplihack.cli.commands import COMMANDS, GROUPS, first_words, load, verbs
from amplihack.cli.guard import guarded, leave
from amplihack.version import __version__

TYPE_CHECKING = False  # `typing` itself costs more than all the rest of `--version`
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def main(argv: Sequence[str] | None = None) -> int:
    """Answer a command and return its exit code; without `argv`, for a process that is ours alone, end it."""
    if argv is not None:
        return guarded(lambda: dispatch(list(argv)), argv)
    return leave(guarded(lambda: dispatch(sys.argv[1:], alone=True), sys.argv[1:]))


def dispatch(words: list[str], *, alone: bool = False) -> int:
    """Run the command that the words begin with; `alone` means that the process does nothing else."""
    if words[:1] == ["help"] or (words[:1] in (["-h"], ["--help"]) and not words[-1].startswith("-")):
        words = [*words[1:], "--help"]
    if not words or words[0] in ("-h", "--help"):
        sys.stdout.write(load("help_pages:first_page")())
        return 0 if words else 2
    if words[0] in ("-V", "--version") or words == ["version"]:
        sys.stdout.write(f"amplihack {__version__}\n")
        return 0
    name, rest = words[0], words[1:]
    if name not in first_words():
        _refuse(name, rest)
    if name in GROUPS:
        if not rest:
            load("help_pages:group_parser")(name).print_help()
            return 2
        rest = [*rest[1:], "--help"] if rest[0] in ("help", "-h", "--help") else rest
        verb = rest[0]
        if verb.startswith("-") and (verb == "-" or not set(rest[1:]) - {"-h", "--help"}):
            load("help_pages:group_parser")(name).parse_args(rest)
        if verb not in verbs(name):
            _refuse(verb, rest[1:], name)
        name, rest = f"{name} {verb}", rest[1:]
    if alone:
        from amplihack.cli.quick_start import quick_start  # deferred: `--version` needs none of it

        quick_start(brief=name != "recipe run")
    options = (_handed_on if COMMANDS[name].hands_on else _parsed)(name, rest)
    load("show:choose_colours")(options.color)
    if COMMANDS[name].heals:
        heal_first(is_needed=COMMANDS[name].uses_bundle)
    code: int = load(COMMANDS[name].answer)(options)
    return code


def _parsed(name: str, words: list[str]) -> Any:
    return load("help_pages:parser")(name).parse_args(words)


def _handed_on(name: str, words: list[str]) -> Any:
    """Return the words for another program, without a leading `--`; alone, `--help` asks us."""
    if words in (["-h"], ["--help"]):
        _parsed(name, words)
    from argparse import Namespace  # deferred, as above

    return Namespace(words=words[1:] if words[:1] == ["--"] else words, color="auto")


def heal_first(*, is_needed: bool = True) -> None:
    """Stage the bundle of this version before anything else is done, if it is not staged yet.

    Where that fails, a command that does not need it is told of it and goes on.
    """
    from amplihack.system.healed import needs_a_look  # deferred: `--version` needs none of it

    if needs_a_look(os.environ, __version__):
        load("healing:heal" if is_needed else "healing:try_to_heal")()


def _refuse(word: str, rest: list[str], group: str = "") -> None:
    """Raise UsageError with the command that was probably meant."""
    from amplihack.cli.meant import meant_command
    from amplihack.errors import UsageError

    what = f"amplihack {group}: there is no '{word}'" if group else f"there is no command '{word}'"
    known = {each: tuple(verbs(each)) for each in GROUPS}
    raise UsageError(what, fix=meant_command(word, rest, group, tuple(first_words()), known))


if __name__ == "__main__":
    sys.exit(main())
