"""Define the flags of `amplihack bundle …` and `amplihack agents`, without loading the answers."""

from __future__ import annotations

import argparse

from amplihack.cli.arguments import add_json, add_working_dir

_BUNDLE = "a name, a path, an address or namespace:path (default: the active one, or this directory's)"


def show_flags(parser: argparse.ArgumentParser) -> None:
    _source(parser)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--plan", action="store_true", help="print the mount plan alone, as JSON")
    only.add_argument("--prompt", action="store_true", help="print the system prompt alone")
    common_flags(parser)


def validate_flags(parser: argparse.ArgumentParser) -> None:
    _source(parser)
    parser.add_argument("--complete", action="store_true", help="also: could a session be opened with it?")
    parser.add_argument("--strict", action="store_true", help="exit with 2 on warnings too")
    common_flags(parser)


def why_flags(parser: argparse.ArgumentParser) -> None:
    subject = "tools.tool-bash.config.timeout, an agent, a file or words of the prompt"
    parser.add_argument("subject", metavar="SUBJECT", help=subject)
    parser.add_argument("--bundle", dest="source", metavar="BUNDLE", help=_BUNDLE)
    _loading(parser)
    common_flags(parser)


def graph_flags(parser: argparse.ArgumentParser) -> None:
    _source(parser)
    formats = ("dot", "mermaid", "svg")
    parser.add_argument("--format", choices=formats, default="mermaid", help="mermaid (default), dot or svg")
    common_flags(parser)


def clean_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only tell what would go")
    common_flags(parser)


def bundle_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of a command about one bundle."""
    _source(parser)
    common_flags(parser)


def unfrozen_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of a command that changes what is locked, without `--frozen`."""
    _source(parser, frozen=False)
    common_flags(parser)


def common_flags(parser: argparse.ArgumentParser) -> None:
    add_working_dir(parser)
    add_json(parser)


def _source(parser: argparse.ArgumentParser, *, frozen: bool = True) -> None:
    parser.add_argument("source", metavar="BUNDLE", nargs="?", help=_BUNDLE)
    _loading(parser, frozen=frozen)


def _loading(parser: argparse.ArgumentParser, *, frozen: bool = True) -> None:
    parser.add_argument("--offline", action="store_true", help="use what is cached, never the network")
    parser.set_defaults(frozen=False)
    if frozen:
        parser.add_argument("--frozen", action="store_true", help="exactly what bundle.lock says, or fail")
    parser.add_argument(
        "--allow-partial", action="store_true", help="leave includes out that fail, and say which"
    )
