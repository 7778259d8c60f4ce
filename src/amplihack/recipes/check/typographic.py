"""Report signs of word processors in scripts: curly quotes and long dashes, which bash takes for letters."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.errors import Problem
from amplihack.patterns import pattern
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.model import Bash

# At the beginning of a word, where a quote opens and an option begins.
_SIGN = pattern(r"(?<![^\s;|&(=])(?:[“”„«‘’‚‛]|[–—−](?=[\w–—−-]))")


def typographic_signs(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find those that stand in no quotes; the first of a script speaks for all."""
    for step in subject.steps:
        script = step.action.command if isinstance(step.action, Bash) else None
        if script and not script.text.isascii() and (start := _first_bare(script.text)) is not None:
            sign = script.text[start]
            what = f"step '{step.id}': for bash {sign} is a letter like any other, no quote and no dash"
            fix = "write plain quotes and dashes, or put a text that has such signs into quotes"
            yield finding("typographic-sign", "warning", what, script.at(start), fix)


def _first_bare(script: str) -> int | None:
    starts = [found.start() for found in _SIGN.finditer(script)]
    if not starts:
        return None
    from amplihack.recipes.templates.asked_names import quoting_at  # deferred: hardly ever needed
    from amplihack.recipes.templates.bash.places import Quoting

    found = quoting_at(script, starts)
    return min((start for start, each in found.items() if each is Quoting.BARE), default=None)
