"""`amplihack resolve-bundle-asset`: print where an asset of the framework bundle is."""

from __future__ import annotations

import argparse

from amplihack.cli.arguments import Parser, add_color
from amplihack.cli.show import out_exactly


def asset_flags(parser: Parser) -> None:
    from amplihack.install.assets import NAMED_ASSETS  # deferred: only this command knows them

    add_color(parser)
    names = ", ".join(NAMED_ASSETS)
    parser.add_argument(
        "asset", metavar="ASSET", help=f"{names}, or a path that begins with amplifier-bundle/"
    )


def answer_asset(options: argparse.Namespace) -> int:
    """Print the absolute path and nothing else."""
    # Deferred: a help page needs none of it.
    from amplihack.app.install.asset import find_asset
    from amplihack.system.home import Home, this_process

    environment, cwd = this_process()
    out_exactly(str(find_asset(options.asset, Home.from_environment(environment, cwd), environment)))
    return 0
