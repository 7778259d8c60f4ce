"""Tell which command was probably meant by words that are none."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from amplihack.documents.suggest import closest

# What people want of a thing whose name they give, and what that name is.
_SHOWN = {
    "recipe": ("run", "the name of a recipe"),
    "bundle": ("show", "the name of a bundle"),
    "runs": ("show", "the id of a run"),
}


def meant_command(
    word: str, rest: Sequence[str], group: str, commands: Sequence[str], verbs: Mapping[str, Sequence[str]]
) -> str:
    """Return how to fix `amplihack [group] word rest…`, where the word is neither a command nor a verb."""
    if word.startswith("-"):
        return "flags stand behind the command, as in `amplihack recipe list --json`"
    if _is_file(word):
        kind = group or ("bundle" if word.endswith(".md") else "recipe")
        return f"`{_line(kind, _SHOWN[kind][0], word)}`"
    if not group and (groups := [each for each, known in verbs.items() if word in known]):
        return ", or ".join(f"`{_line(each, word, *rest[:1])}`" for each in groups)
    if near := closest(word, verbs[group] if group else commands):
        return f"did you mean '{near}'?"
    if not group:
        return "`amplihack --help` lists the commands"
    verb, name = _SHOWN[group]
    return f"`amplihack {group} --help` shows what there is; `{_line(group, verb, word)}` if that is {name}"


def _is_file(word: str) -> bool:
    return word.endswith((".yaml", ".yml", ".md")) or "/" in word


def _line(*words: str) -> str:
    return shlex.join(("amplihack", *words))
