"""Find declarations that the reader does not see as such, because the script calls them by another name.

f() { "$@"; }; f declare -gi n        eval declare -i n        ${x:-declare} -i n        alias d='declare -n'

What they declare is not known. That a variable may be an integer is asked while the script runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.cursor import Script
from amplihack.recipes.templates.bash.places import hold
from amplihack.recipes.templates.bash.value_flow import references

_DECLARATION = pattern(r"\b(?:declare|typeset|local)\b")
_OPTIONS = pattern(r"\b(?:declare|typeset|local)\b\W{1,3}?((?:[-+]\w+\s+)*-\w+)")
_HEREDOC = pattern(r"""<<-?[ \t]*(["'\\]?)(\w+)["']?[^\n]*\n.*?\n\t*\2(?=\n|\Z)""", re.DOTALL)
_COMMENT = pattern(r"(?:^|(?<=\s))#[^\n]*")
_NO_QUOTES = str.maketrans("", "", "\"'\\")
_EXPANSIONS = ("$", "`", "\1")


def settle_hidden(script: str, found: Script) -> None:
    """Note what declarations may do that are not read as commands, or whose options are not."""
    for word in found.split_names:
        before = word.text.partition("=")[0]
        if any(text.startswith("-") for name in references(before) for text in found.flow.texts(name)):
            hold(word.marks)
    if not _DECLARATION.search(script.translate(_NO_QUOTES)):
        return
    text = _COMMENT.sub("", _HEREDOC.sub(_code_in, script)).translate(_NO_QUOTES)
    if len(_DECLARATION.findall(text)) <= len(found.declared):
        return
    written = [options[1] for options in _OPTIONS.finditer(text)]
    hidden = {flag for flag in "iaAn" if _number(flag, written) > _number(flag, found.declared)}
    hidden |= {flag for options in _unknown_commands(found) for flag in "iaA" if flag in options}
    if "i" in hidden:
        found.variables.made_integers.add(".*")
    if hidden & {"a", "A"}:
        found.variables.any_array = True
    if "n" in hidden:
        found.flow.blind = True


def _code_in(heredoc: re.Match[str]) -> str:
    """Return what a heredoc may run: nothing, unless bash expands it and it holds a substitution."""
    return "" if heredoc[1] or not ("$(" in heredoc[0] or "`" in heredoc[0]) else heredoc[0]


def _number(flag: str, options: list[str]) -> int:
    return sum(flag in each for each in options)


def _unknown_commands(found: Script) -> Iterator[str]:
    """Yield the options of commands whose name only the run knows."""
    for _, words in found.flow.calls:
        if words[0].plain.startswith(_EXPANSIONS):
            yield "".join(word.plain for word in words[1:] if word.plain.startswith("-"))
