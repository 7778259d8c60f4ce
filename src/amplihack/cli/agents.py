"""`amplihack agents`: the agents of a bundle, with where they come from."""

from __future__ import annotations

from amplihack.cli.arguments import Parser
from amplihack.cli.bundle import add_common, add_source, answered

PROGRAM = "amplihack agents"


def run(words: list[str]) -> int:
    """Runs `amplihack agents` with these words."""
    options = parser().parse_args(words)
    from amplihack.cli.bundle_answers import answer_agents  # deferred: a mistyped flag needs none of it

    return answered(answer_agents, options)


def parser() -> Parser:
    parser = Parser(prog=PROGRAM, usage="[BUNDLE] [options]", description="List the agents of a bundle.")
    add_source(parser)
    add_common(parser)
    return parser
