"""Tell scripts that need no proof from bash: simple commands, one after another.

Most commands of recipes are like that, so that most checks and runs start no bash to ask it. What is not
recognised here may still be right: bash decides.
"""

from __future__ import annotations

import re

from amplihack.patterns import pattern
from amplihack.recipes.placeholders import find_placeholders

# Possessive quantifiers (`++`) keep the match linear. Brackets and comments stand apart from other words.
_WORD = (
    r"""(?:[\w./:,@%+=^~*?-]++|'[^']*+'|\$(?:\w++|\{\w++\}|[@*#?])"""
    r"""|"(?:[^"\\$`]|\\[A-Za-z"]|\$(?:\w++|\{\w++\}|[@*#?]))*+")++"""
)
# A word stands here once: to compile it takes longer than to read most scripts.
_COMMANDS = pattern(
    rf"(?:(?:\A|(?!\A)(?:\|\|?+|&&|[;\n]))[ \t\n]*+(?:{_WORD}[ \t]*+)++)++[ \t\n]*+", re.ASCII
)
_FIRST_WORD = pattern(rf"(?:^|[|&;\n])[ \t\n]*+({_WORD})", re.ASCII)  # in quotes too, where it is none
_TOKEN = pattern(
    r"""(?P<blank>[ \t]++|(?<![^\s;|&])\#[^\n]*+)"""
    rf"""|(?P<word>{_WORD})"""
    r"""|(?P<bracket>(?<![^\s;|&])(?:[][]|!=)(?=[\s;|&]|\Z))"""
    r"""|(?P<copy>>&[12](?=[\s;|&]|\Z))"""
    r"""|(?P<redirect>>>?|<)"""
    r"""|(?P<join>\|\|?|&&)"""
    r"""|(?P<end>;|\n)""",
    re.ASCII,
)
_RESERVED = frozenset(
    {
        *("if", "then", "else", "elif", "fi", "case", "esac", "for", "while", "until", "do", "done", "in"),
        *("function", "select", "time", "coproc"),
    }
)


def is_plain(script: str) -> bool:
    """Tell whether a script, with its placeholders still in it, is certainly right by bash's grammar."""
    if "{{" in script:
        script = _filled(script)
    if _COMMANDS.fullmatch(script) and _RESERVED.isdisjoint(_FIRST_WORD.findall(script)):
        return True  # commands without brackets, redirections and comments: found at once, and as below
    state, position = "line", 0
    while position < len(script):
        token = _TOKEN.match(script, position)
        if token is None or token.lastgroup is None:
            return False
        state = _next(state, token.lastgroup, token.group())
        if not state:
            return False
        position = token.end()
    return state in ("line", "inside", "redirected")


def _filled(template: str) -> str:
    """Return the script with a letter for each value: it becomes a part of a word, quoted or not."""
    pieces, position = [], 0
    for found in find_placeholders(template):
        pieces += [template[position : found.start], "x"]
        position = found.end
    return "".join([*pieces, template[position:]])


def _next(state: str, kind: str, text: str) -> str:
    """Return the state after a token; empty if it cannot stand here, or nobody knows."""
    match kind, state:
        case "blank", _:
            return "inside" if state == "redirected" else state
        case "redirect" | "copy", "redirected":
            return ""  # as in `>2>file`, where bash takes the 2 for a descriptor
        case "end", "line" | "command":
            return state if text == "\n" else ""
        case "end", "inside" | "redirected":
            return "line"
        case "join", "inside" | "redirected":
            return "command"
        case "redirect", "inside":
            return "target"
        case "word", "target":
            return "redirected"
        case "word" | "bracket", "line" | "command":
            return "" if text in _RESERVED or text == "!=" else "inside"
        case "word" | "bracket" | "copy", "inside":
            return "inside"
        case _:
            return ""
