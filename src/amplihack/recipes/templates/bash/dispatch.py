"""Find commands of bash itself that the script calls by another name.

c=let; $c x={{v}}      run() { "$@"; }; run test -v {{v}}      c=(unset {{v}}); "${c[@]}"      alias l=let
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.builtins import settle_builtin
from amplihack.recipes.templates.bash.command_names import BUILTINS
from amplihack.recipes.templates.bash.cursor import Script
from amplihack.recipes.templates.bash.places import SimpleCommand, Word
from amplihack.recipes.templates.bash.program_tables import TAKE_DATA
from amplihack.recipes.templates.bash.programs import settle_programs
from amplihack.recipes.templates.bash.value_flow import ARGUMENTS

_VARIABLE = pattern(r"""["']?\$\{?([A-Za-z_]\w*|[0-9@*])""")
_TAKE_NAMES = BUILTINS - {"builtin", "command", "set", "eval", "source", "."}
_NAMING = {"-v", "-R"}
_NO_COMMAND = pattern(r"[0-9.]+[smhd]?|-.*|.*\s.*")  # a count, an option or a text


def settle_dispatched(script: Script) -> None:
    """Mark the words that such a command gets. Nothing is known about them until the whole script is read."""
    calls = list(script.flow.calls)
    runs_arguments = any(script.flow.holds_arguments(_called(words[0])) for _, words in calls)
    for name, words in calls:
        if name not in script.flow.functions:
            for each in _meant(name, words, script):
                _settle(each, script)
        elif runs_arguments:
            command = _arguments(words)
            _settle(command, script)
            if command and command[0].plain not in TAKE_DATA:
                _suspect(command[1:])


def _suspect(words: Sequence[Word]) -> None:
    """Take no value that expands where a function may pass it on to a command: `step name test -v {{v}}`."""
    names = [word.plain for word in words]
    at = next((i for i, name in enumerate(names) if name in _TAKE_NAMES), len(words))
    if names[at : at + 1] in (["test"], ["["], ["printf"]) and _NAMING.isdisjoint(names[at:]):
        return
    for word in words[at:]:
        for mark in word.marks:
            for each in (mark, *mark.places):
                each.evaluated = True


def _called(word: Word) -> str:
    """Return the variable that stands in place of a command; empty if there is none."""
    found = _VARIABLE.match(word.text)
    return (found[1] if found[1].isidentifier() else ARGUMENTS) if found else ""


def _arguments(words: Sequence[Word]) -> Sequence[Word]:
    """Return the command among the arguments of a function that runs them: `retry 3 test ...`."""
    at = next((i for i, word in enumerate(words) if i and not _NO_COMMAND.fullmatch(word.plain)), len(words))
    return words[at:]


def _meant(name: str, words: Sequence[Word], script: Script) -> Iterator[Sequence[Word]]:
    """Yield the commands that a variable or an alias may stand for."""
    variable = _called(words[0])
    for elements in script.lists.get(variable, ()):
        yield [*elements, *words[1:]]
    named = script.flow.named(variable) if variable else script.aliases.get(name, frozenset())
    builtins, others = sorted(named & BUILTINS), named - BUILTINS
    if builtins and others:  # words behind it, which stand in the text of the variable
        script.flow.unread.update(others)
        script.calculates(words[0], others)
    for builtin in builtins:
        yield [Word(builtin, []), *words[1:]]


def _settle(words: Sequence[Word], script: Script) -> None:
    if not words or words[0].plain not in BUILTINS:
        return
    command = SimpleCommand(list(words), marked=any(word.marks for word in words))
    settle_builtin(command, script, certain=False)
    for code in settle_programs(command, script.flow):
        script.flow.run(code.text)
