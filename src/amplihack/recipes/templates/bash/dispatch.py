"""Find commands of bash itself that the script calls by another name.

c=let; $c x={{v}}      run() { "$@"; }; run test -v {{v}}      c=(unset {{v}}); "${c[@]}"      alias l=let
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.builtins import settle_builtin
from amplihack.recipes.templates.bash.command_names import BUILTINS
from amplihack.recipes.templates.bash.computed_commands import settle_computed
from amplihack.recipes.templates.bash.cursor import Script
from amplihack.recipes.templates.bash.places import SimpleCommand, Word, hold
from amplihack.recipes.templates.bash.program_files import files_run
from amplihack.recipes.templates.bash.program_tables import SHELLS, TAKE_DATA
from amplihack.recipes.templates.bash.programs import name_language, settle_programs
from amplihack.recipes.templates.bash.value_flow import ARGUMENTS
from amplihack.recipes.templates.bash.variable_attributes import INTEGERS

_VARIABLE = pattern(r"""["']?\$\{?([A-Za-z_]\w*|[0-9@*])""")
_TAKE_NAMES = BUILTINS - {"builtin", "command", "set", "eval", "source", "."}
_CODED = pattern(r"\$'[^']*\\|[^$]*(?<!\$)\{[^{}]*(?:,|\.\.)")  # `$'\x6cet'` and `{let,x}`
_NAMING = {"-v", "-R"}
_TAKE_TEXTS = frozenset(("printf", "test", "["))
_ALIASES = 4  # that may follow each other in one command
_EVALUATION = pattern(r"\(\(|\[\[|\w\[|(?:for|select)\Z")
_NO_COMMAND = pattern(r"[0-9.]+[smhd]?|-.*|.*\s.*")  # a count, an option or a text


def settle_dispatched(script: Script) -> None:
    """Mark the words that such a command gets. Nothing is known about them until the whole script is read."""
    calls, options = list(script.flow.calls), _held_options(script)
    runs_arguments = any(script.flow.holds_arguments(_called(words[0])) for _, words in calls)
    for name, words in calls:
        for word in words[1:]:  # `set_all RANDOM={{v}}`: it is assigned in the end
            if word.marks and word.plain.partition("=")[0].removesuffix("+") in INTEGERS:
                hold(word.marks)
        if _CODED.match(words[0].text):
            _suspect_all(words)
            name_language((mark for word in words for mark in word.marks), "bash")
        elif _begins_evaluation(name, script):
            _suspect_all(words)
        script.flow.lost |= not script.open_aliases.isdisjoint(_aliases(name, script))
        if name not in script.flow.functions:
            for each in chain(_meant(name, words, script), _with_options(words, options)):
                edits = len(script.edits)
                _settle(each, script)
                if len(script.edits) > edits and _has_more_words(name, words, script):
                    del script.edits[edits:]  # made for this command: another one may be called there
            settle_computed(words, script)
        elif runs_arguments:
            command = _arguments(words)
            _settle(command, script)
            if command and command[0].plain not in TAKE_DATA:
                _suspect(command[1:])


def _has_more_words(name: str, words: Sequence[Word], script: Script) -> bool:
    """Tell whether what stands in place of a command may hold more than its name, or several names."""
    texts = (script.flow.named(_called(words[0])), *(script.aliases[each] for each in _aliases(name, script)))
    return any(len(each) > 1 for each in texts)


def _begins_evaluation(name: str, script: Script) -> bool:
    """Tell whether the text of an alias begins what bash evaluates: `alias f='(('`, then `f x ))`."""
    return any(_EVALUATION.match(word) for each in _aliases(name, script) for word in script.aliases[each])


def _suspect(words: Sequence[Word]) -> None:
    """Take no value that expands where a function may pass it on to a command: `step name test -v {{v}}`."""
    names = [word.plain for word in words]
    at = next((i for i, name in enumerate(names) if name in _TAKE_NAMES), len(words))
    if names[at : at + 1] in (["test"], ["["], ["printf"]) and _NAMING.isdisjoint(names[at:]):
        return
    _suspect_all(words[at:])


def _suspect_all(words: Sequence[Word]) -> None:
    for word in words:
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


def _meant(
    name: str, words: Sequence[Word], script: Script, further: int = _ALIASES
) -> Iterator[Sequence[Word]]:
    """Yield the commands that a variable or an alias may stand for."""
    variable = _called(words[0])
    for elements in script.lists.get(variable, ()):
        yield [*elements, *words[1:]]
    aliases = [] if variable else _aliases(name, script)
    named = {*script.flow.named(variable), *(word for each in aliases for word in script.aliases[each])}
    named |= script.command_words.get(words[0].start, frozenset())
    named |= script.flow.named("BASH_ALIASES")
    for source in (variable, *(f"alias {each}" for each in aliases)):
        for text in script.flow.texts(source):
            first, *rest = text.split()
            script.started += files_run(SimpleCommand([Word(first, []), *(Word(each, []) for each in rest)]))
            options = [Word(word, []) for word in rest if word.startswith("-")]
            yield [Word(first, []), *options, *words[1:]]
    if further and aliases and len(words) > 1:  # `alias s="command "`, then `s m`
        yield from _meant(words[1].plain, words[1:], script, further - 1)
    yield from ([Word(shell, []), *words[1:]] for shell in sorted(named & SHELLS))
    builtins, others = sorted(named & BUILTINS), named - BUILTINS
    if (
        builtins and others and not words[0].marks and not _only_prints(builtins, others)
    ):  # words behind it, which stand in the text of the variable
        script.flow.unread.update(others)
        if variable:  # the text of an alias has guards in it
            script.calculates(words[0], others)
    for builtin in builtins:
        yield [Word(builtin, []), *words[1:]]


def _held_options(script: Script) -> dict[str, list[list[Word]]]:
    """Return the options that variables hold, as words: of `f=-c`, `f="-e -c"` and `f=(-e -c)`."""
    found: dict[str, list[list[Word]]] = {}
    for variable, names in script.file_names.items():
        found.setdefault(variable, []).extend([Word(name, [])] for name in names if name.startswith("-"))
    for variable in script.flow.written:
        texts = (text.split() for text in script.flow.texts(variable) if text.startswith("-"))
        found.setdefault(variable, []).extend([Word(each, []) for each in words] for words in texts)
    for variable, lists in script.lists.items():
        options = (elements for elements in lists if elements and elements[0].plain.startswith("-"))
        found.setdefault(variable, []).extend(options)
    return {variable: options for variable, options in found.items() if options}


def _with_options(
    words: Sequence[Word], options: Mapping[str, Sequence[Sequence[Word]]]
) -> Iterator[Sequence[Word]]:
    """Yield a command with the options that its variables hold: `f=-c; bash $f {{v}}`."""
    for at, word in enumerate(words[1:], 1):
        for elements in options.get(_called(word), ()):
            yield [*words[:at], *elements, *words[at + 1 :]]


def _only_prints(builtins: Iterable[str], others: Iterable[str]) -> bool:
    """Tell whether the words behind a command are texts to it: no option takes a name."""
    return _TAKE_TEXTS.issuperset(builtins) and not any(word.startswith(("v", "R")) for word in others)


def _aliases(name: str, script: Script) -> list[str]:
    """Return the alias of this name, and those that its text leads to."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        each = waiting.pop()
        if each in script.aliases and each not in found:
            found[each] = None
            waiting += sorted(script.aliases[each])
    return list(found)


def _settle(words: Sequence[Word], script: Script) -> None:
    if not words:
        return
    command = SimpleCommand(list(words), marked=any(word.marks for word in words))
    if words[0].plain in BUILTINS:
        settle_builtin(command, script, certain=False)
    script.started += files_run(command)
    for code in settle_programs(command, script.flow):
        script.flow.run(code.text)
