"""The flags of a run, the same for `amplihack recipe run` and `recipe-runner`."""

from __future__ import annotations

import argparse


def add_flags(parser: argparse.ArgumentParser) -> None:
    """The flags of a run, the same for `amplihack recipe run` and `recipe-runner`."""
    _variables(parser.add_argument_group("variables"))
    _what_runs(parser.add_argument_group("what runs"))
    _how_it_runs(parser.add_argument_group("how it runs"))
    _what_is_told(parser.add_argument_group("what is told"))


def _variables(group: argparse._ArgumentGroup) -> None:
    def add(*names: str, what: str, metavar: str = "KEY=VALUE") -> None:
        group.add_argument(*names, action="append", default=[], metavar=metavar, help=what)

    add("-c", "--set", what="set a variable; JSON, numbers and booleans are typed where nothing is lost")
    add("--set-str", what="set a variable to this text, whatever it looks like")
    add("--set-json", metavar="KEY=JSON", what="set a variable to a JSON value")
    add("--set-file", metavar="KEY=PATH", what="set a variable to the text of a file")
    add("--context-file", metavar="PATH", what="take variables from a YAML or JSON file")


def _what_runs(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--dry-run",
        nargs="?",
        const="plain",
        choices=("plain", "deep"),
        help="run nothing; `deep` follows sub-recipes and says what would run",
    )
    for name in ("--include-tags", "--exclude-tags"):
        what = "run only steps with" if name.startswith("--in") else "skip steps with"
        group.add_argument(name, action="append", default=[], metavar="TAGS", help=f"{what} these tags (a,b)")


def _how_it_runs(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--agent",
        "--agent-binary",
        metavar="AGENT",
        help="claude, copilot, codex, command:<template> or scripted:<file>",
    )
    group.add_argument("--isolate-agents", action="store_true", help="agents work in an empty directory")
    group.add_argument("--no-auto-stage", action="store_true", help="do not `git add` what agents change")
    group.add_argument("--max-parallel", type=_positive, default=50, metavar="N", help="steps at once (50)")
    group.add_argument("--max-agents", type=_positive, default=8, metavar="N", help="agents at once (8)")
    group.add_argument("--step-timeout", type=float, metavar="S", help="seconds for a step that sets none")
    group.add_argument("--yes", action="store_true", help="approve every gate without asking")
    group.add_argument("--strict", action="store_true", help="unknown fields are errors")
    group.add_argument("--strict-vars", action="store_true", help="undefined variables are errors")
    group.add_argument("--strict-agents", action="store_true", help="agents that are not found are errors")


def _what_is_told(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--output-format", choices=("text", "json"), default="text", help="text or json")
    group.add_argument("--progress", action="store_true", help="show progress even with --quiet")
    group.add_argument("-v", "--verbose", action="store_true", help="show every line that steps print")
    group.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    group.add_argument("--show-output", action="store_true", help="print each step's output at the end")
    group.add_argument("--audit-dir", metavar="DIR", help="write an audit log (JSON lines) there")
    group.add_argument("--events", metavar="FILE", help="write every event as a JSON line; - is stderr")


def _positive(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError("expected a whole number, 1 or more")
