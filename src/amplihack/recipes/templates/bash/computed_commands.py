"""Guard what a command gets whose name only the run knows: bash may evaluate the words of its own commands.

read -r c < names; $c x={{v}}

The name is asked for while the script runs. Nearly always it is another command: the guard takes any text.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.command_names import BUILTINS
from amplihack.recipes.templates.bash.cursor import Script
from amplihack.recipes.templates.bash.number_guards import Guard, Sink, first_word, option_in, run_pattern
from amplihack.recipes.templates.bash.places import Word

_SPLIT = pattern(r"\$(?:([A-Za-z_]\w*|[0-9])|\{([A-Za-z_]\w*|[0-9])\})(?==|\Z)")  # in no quotes
_ONE_WORD = pattern(r"""(?:[\w.-]|["']|\$\w+|\$\{[!\w][^{}\0\1`$]*\})+""")
_LETTERS = pattern(r"""[\w"']*[\1][\w"']*""")
_NAMING = ("-v", "-R", "-p")
_BEFORE = ("command", "builtin", "-p", "--")


def settle_computed(words: Sequence[Word], script: Script) -> None:
    """Note the values and variables among the words of such a command."""
    first = words[0]
    split = _SPLIT.match(first.text)
    if "\1" in first.text and not split:
        _settle_printed(words, script)
        return
    option = "v" if any(word.plain.startswith(_NAMING) for word in words[1:]) else ""
    if split:
        variable = split[1] or split[2]
        key = first_word(variable, _behind(words[1:]))
        option = option or option_in(variable)
    elif "$" in first.text and _ONE_WORD.fullmatch(first.text):
        key = first.plain
    else:
        return
    for position, word in enumerate(words):
        if not position and not (split and first.marks):
            continue
        harmless = run_pattern(key, option, is_operand=position == 1)
        for place in (place for mark in word.marks for place in mark.places):
            place.pattern = harmless
        if position:
            sink = Sink(word.start, word.text, Guard.TEXT, "", script.quoted, places=word.places)
            script.patterned.append((sink, harmless))


def _behind(words: Sequence[Word]) -> str:
    """Return the command behind a variable, which bash runs if that is empty; nothing if it is no builtin."""
    name = next((word.plain for word in words if word.plain not in _BEFORE), "")
    return name if name in BUILTINS else ""


def _settle_printed(words: Sequence[Word], script: Script) -> None:
    """Take no value that expands where a substitution makes a part of the name, or a function prints it."""
    first = words[0]
    names: AbstractSet[str] = script.command_words.get(first.start, frozenset())
    is_part = len(first.plain) > 1 and _LETTERS.fullmatch(first.plain)
    if is_part or not script.flow.functions.isdisjoint(names):
        for mark in (mark for word in words[1:] for mark in word.marks):
            for each in (mark, *mark.places):
                each.evaluated = True
