"""Guard what goes to a variable whose name only the run knows: bash may calculate with it or expand it.

set_to() { printf -v "$1" %s "$2"; }; set_to RANDOM {{v}}        while read -r k v; do export "$k=$v"; done

The name is asked for while the script runs. Nearly always it is another variable: the guard takes any text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.cursor import Script
from amplihack.recipes.templates.bash.number_guards import Guard, Sink, target_pattern, whole_pattern
from amplihack.recipes.templates.bash.places import Output, Place, Word
from amplihack.recipes.templates.bash.value_flow import identifiers

_COMPUTED = ("$", "`", "\1")
_NAME = pattern(r"(?:\w|\$\w+|\$\{\w+\})+")
_WHOLE = pattern(r'"?\$\{?([A-Za-z_]\w*|[0-9])\}?"?')
_NO_QUOTES = str.maketrans("", "", "\"'\\")


def gives_computed(script: Script, name: str, words: Iterable[Word]) -> None:
    """Record that a variable gets these words, if only the run knows its name."""
    for word in words:
        sink = Sink(word.start, word.text, Guard.TEXT, "", script.quoted, places=word.places)
        _give(script, name, sink, word.marks)


def gives_declared(script: Script, word: Word) -> None:
    """Record that a variable gets what stands behind the `=` of a declaration, as in `export "$k=$v"`."""
    before, _, value = word.text.partition("=")
    names = before.count("\0") + before.count("\1")
    if whole := _WHOLE.fullmatch(word.text):
        sink = Sink(word.start, word.text, Guard.TEXT, "", script.quoted)
        script.patterned.append((sink, whole_pattern(whole[1])))
    elif places := word.places[len(before) + 1 :]:
        sink = Sink(places[0], value, Guard.TEXT, "", script.quoted, places=places)
        _give(script, before, sink, word.marks[names:])


def _give(script: Script, name: str, sink: Sink, marks: Sequence[Place | Output]) -> None:
    if not any(sign in name for sign in _COMPUTED):
        return
    plain = name.translate(_NO_QUOTES).partition("[")[0]
    script.given.append((sink.text, marks))
    if not _NAME.fullmatch(plain):
        return
    harmless = target_pattern(plain)
    script.patterned.append((sink, harmless))
    for place in (place for mark in marks for place in mark.places):
        place.pattern = harmless


def settle_given(script: Script) -> None:
    """Take no value that expands where the script also makes integers under such names."""
    for text, marks in script.given if script.variables.made_integers else ():
        script.flow.evaluated.update(identifiers(text))
        for mark in marks:
            for each in (mark, *mark.places):
                each.evaluated = True
