"""`amplihack version --json`: the version, what is staged, and what runs it."""

from __future__ import annotations

import argparse

from amplihack.cli.arguments import Parser, add_json
from amplihack.cli.show import out, out_json
from amplihack.version import __version__


def version_flags(parser: Parser) -> None:
    add_json(parser)


def answer_version(options: argparse.Namespace) -> int:
    """Print the version; with --json everything that a report of a problem should say."""
    if not options.json:
        out(f"amplihack {__version__}")
        return 0
    # Deferred: the version alone needs none of it.
    import platform
    import sys

    from amplihack.app.install.standing import standing
    from amplihack.records import as_dict
    from amplihack.system.home import Home, this_process

    out_json(
        {
            "version": __version__,
            "python": platform.python_version(),
            "executable": sys.executable,
            "platform": platform.platform(),
            **as_dict(standing(Home.from_environment(*this_process()).root)),
        }
    )
    return 0
