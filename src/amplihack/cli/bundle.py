"""`amplihack bundle …`: each verb is one question and its answer, in words or as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeAlias

from amplihack.app.workspace import Workspace, open_workspace
from amplihack.cli.arguments import Parser, require_known
from amplihack.cli.near import near, near_problems
from amplihack.cli.show import show_problems
from amplihack.errors import AmplihackError

PROGRAM = "amplihack bundle"
Command: TypeAlias = Callable[[Workspace, argparse.Namespace], int]

VERBS: dict[str, str] = {
    "show": "print the composed bundle: every part, who brought it, what it costs",
    "validate": "report everything that is wrong with a bundle, and habits that hurt",
    "why": "tell where a value, a context file, an agent or a sentence comes from",
    "graph": "print who includes whom",
    "list": "show the bundles that have a name here",
    "lock": "write bundle.lock: commits and hashes of everything the bundle is made of",
    "status": "compare with bundle.lock, and with where the sources came from",
    "update": "fetch what is new for every source of the bundle",
    "clean": "remove cached sources that no bundle with a name uses",
}
_KEEPING = ("lock", "status", "update", "clean")
_UNFROZEN = ("lock", "update")  # they say what is locked, or what it is


def run(words: list[str]) -> int:
    """Runs `amplihack bundle` with these words."""
    verb = next(iter(words), "-")
    if verb.startswith("-"):
        root_parser().parse_args(words)
    require_known(verb, VERBS, PROGRAM)
    options = verb_parser(verb).parse_args(words[1:])
    from importlib import import_module  # deferred: a mistyped flag needs none of the answers

    answers = import_module(f"amplihack.cli.{'bundle_sources' if verb in _KEEPING else 'bundle_answers'}")
    return answered(getattr(answers, f"answer_{verb}"), options)


def answered(command: Command, options: argparse.Namespace) -> int:
    """The exit code of a command; paths of what goes wrong are told from the current directory."""
    workspace = open_workspace((), options.working_dir)
    try:
        return command(workspace, options)
    except AmplihackError as error:
        show_problems(near_problems(error.problems, near(workspace.home.cwd)))
        return error.exit_code


def root_parser() -> Parser:
    root = Parser(prog=PROGRAM, usage="<verb> …", description="Load, compose and explain bundles.")
    verbs = root.add_subparsers(metavar="<verb>", required=True)
    for name, summary in VERBS.items():
        verbs.add_parser(name, prog=f"{PROGRAM} {name}", help=summary, description=summary)
    return root


def verb_parser(name: str) -> Parser:
    """The parser of what follows the verb."""
    summary = VERBS[name]
    arguments = {"why": "SUBJECT ", "list": "", "clean": ""}.get(name, "[BUNDLE] ")
    verb = Parser(
        prog=f"{PROGRAM} {name}",
        usage=f"{arguments}[options]",
        description=f"{summary[0].upper()}{summary[1:]}.",
    )
    if name == "why":
        subject = "tools.tool-bash.config.timeout, an agent, a file or words of the prompt"
        verb.add_argument("subject", metavar="SUBJECT", help=subject)
        verb.add_argument("--bundle", dest="source", help="a name, a path or an address (default: this one)")
        add_loading(verb)
    elif name == "clean":
        verb.add_argument("--dry-run", action="store_true", help="only tell what would go")
    elif name != "list":
        add_source(verb, frozen=name not in _UNFROZEN)
    _add_special(name, verb)
    add_common(verb)
    return verb


def _add_special(name: str, verb: Parser) -> None:
    if name == "validate":
        verb.add_argument("--complete", action="store_true", help="also: could a session be opened with it?")
        verb.add_argument("--strict", action="store_true", help="exit with 2 on warnings too")
    elif name == "graph":
        formats = ("dot", "mermaid", "svg")
        verb.add_argument(
            "--format", choices=formats, default="mermaid", help="mermaid (default), dot or svg"
        )
    elif name == "show":
        only = verb.add_mutually_exclusive_group()
        only.add_argument("--plan", action="store_true", help="print the mount plan alone, as JSON")
        only.add_argument("--prompt", action="store_true", help="print the system prompt alone")


def add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-C", "--working-dir", metavar="DIR", help="the directory to work in (default: here)")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")


def add_source(parser: argparse.ArgumentParser, *, frozen: bool = True) -> None:
    what = "a name, a path, an address or namespace:path (default: the active one, or this directory's)"
    parser.add_argument("source", metavar="BUNDLE", nargs="?", help=what)
    add_loading(parser, frozen=frozen)


def add_loading(parser: argparse.ArgumentParser, *, frozen: bool = True) -> None:
    parser.add_argument("--offline", action="store_true", help="use what is cached, never the network")
    parser.set_defaults(frozen=False)
    if frozen:
        parser.add_argument("--frozen", action="store_true", help="exactly what bundle.lock says, or fail")
    parser.add_argument(
        "--allow-partial", action="store_true", help="leave includes out that fail, and say which"
    )
