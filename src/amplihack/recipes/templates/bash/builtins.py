"""Find what bash's own commands do with their words: names of variables, arithmetic, options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.command_names import BUILTINS, DECLARES
from amplihack.recipes.templates.bash.computed_names import gives_computed, gives_declared
from amplihack.recipes.templates.bash.cursor import Declaration, Script
from amplihack.recipes.templates.bash.number_guards import Guard, Sink
from amplihack.recipes.templates.bash.places import (
    Edit,
    Refusal,
    SimpleCommand,
    Word,
    assign,
    hold,
    refuse,
)
from amplihack.recipes.templates.bash.value_flow import ARGUMENTS, identifiers, references
from amplihack.records import Record, field

_NAME = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACES = pattern(r"([A-Za-z0-9_]*)\{([A-Za-z0-9_,]+)\}([A-Za-z0-9_]*)")
_MAY_BE_OPERATOR = pattern(r"[\0\1]*-?[\0\1]*v?[\0\1]*|.*[$`].*", re.DOTALL)
_EXPANSIONS = ("$", "`", "\1")
_DECLARES = pattern(rf"\b(?:{'|'.join(sorted(DECLARES))})\b")
_UNKNOWN_OPTION = pattern(r"-\w*[\0\1$`]")
_MANY = pattern(r"\$(?:@|\{@|\{\w+\[@\])")  # several words, though in quotes
_BEGINS_LITERAL = pattern(r"[^\0\1$`(]")
_SPLIT_NAME = pattern(r"\$(?:\w+|\{\w+\})\+?=")  # it may hold options and a name
_DIRECTIVE = pattern(r"%[-+ #0]*[0-9*]*(?:\.[0-9*]+)?(?:\([^()]*\))?[A-Za-z%]|\\[a-z]")
_ONE_WORD = pattern(r'"(?:[\0\1]|\$\w+|\$\{\w+\})"')  # whatever it holds
_EXPANSION = pattern(
    r"(?<!\$)\{.*\}|[*?]|\$\{[^{}]*\}|\$(?:\w+|[@*#?!$-])|[\0\1]|`[^`]*`|[$`].*|\[.*", re.DOTALL
)
_ONE_EXPANSION = pattern(r"""["']?(?:[\0\1]|\$\w+|\$\{\w+\})["']?""")


def settle_builtin(command: SimpleCommand, script: Script, *, certain: bool) -> None:
    """Mark the words of a complete command that bash itself evaluates.

    `certain` means that nothing can keep the command from running in this shell.
    """
    if command.words[0].plain in ("alias", "enable"):
        script.variables.any_undone |= any(_DECLARES.search(word.plain) for word in command.words[1:])
        for name, _, text in (word.plain.partition("=") for word in command.words[1:]):
            script.aliases.setdefault(name, set()).update((*identifiers(text), *text.split()))
            script.flow.assign(f"alias {name}", f"'{text}'")
            if any(text.count(opening) > text.count(closing) for opening, closing in ("()", "[]", "{}")):
                script.open_aliases.add(name)  # `alias c='(('`, then `c n ))`
    words = without_prefix(command.words)
    if not words:
        return
    is_builtin, is_alias = words[0].plain in BUILTINS, words[0].plain in script.aliases
    used = command.marked or any("$" in word.text or "((" in word.text for word in words)
    used |= any(word.text in BUILTINS for word in words[1:])  # `run let x=y`
    if is_alias or (used and not is_builtin):
        script.flow.calls.append((words[0].plain, list(words)))
    if not is_builtin:
        return
    name, arguments = words[0].plain, words[1:]
    if name in DECLARES:
        _declaration(words, script, certain=certain)
    elif name == "let":
        for word in arguments:
            hold(word.marks)
            script.flow.evaluated.update(identifiers(word.text))
            script.flow.count(word.text)
            script.variables.saw_elements(word.text)
            script.evaluates(word, Guard.NUMBER)
    elif name in ("read", "mapfile", "readarray"):
        _reading(command, arguments, script)
    elif name == "unset":
        _unset(arguments, script)
    elif name in ("printf", "wait"):
        _writing(name, arguments, script)
    elif name == "getopts":
        _getopts(arguments, script)
    elif name in ("test", "["):
        _test(arguments, script)
    elif name == "set":
        script.lists.setdefault(ARGUMENTS, []).append([word for word in arguments if word.plain != "--"])
        for word in arguments:
            assign(word.marks, ARGUMENTS)
            script.flow.assign(ARGUMENTS, word.text)
    elif name in ("eval", "source", "."):
        script.variables.opaque = True
        script.variables.sourced |= name != "eval"


def without_prefix(words: Sequence[Word]) -> Sequence[Word]:
    """Drop `command` and `builtin`, which change nothing about the words behind them."""
    while words and words[0].plain in ("command", "builtin"):
        words = words[1:]
        while words and words[0].plain in ("-p", "--"):
            words = words[1:]
    return words


def _flags(words: Sequence[Word]) -> str:
    return "".join(word.plain for word in words if word.plain.startswith("-"))


def declares_associative(words: Sequence[Word], name: str, script: Script) -> bool:
    """Tell whether a declaration, as far as it is read, surely makes `name` an associative array."""
    flags = _flags(words[1:])
    if "A" not in flags or any(flag in flags for flag in "anpfF"):
        return False
    if words[0].plain == "local" and not script.functions:
        return False
    unknown = any(word.plain.startswith(_EXPANSIONS) for word in words[1:])
    return not unknown and name not in script.variables.indexed


def _declaration(words: Sequence[Word], script: Script, *, certain: bool) -> None:
    builtin, flags = words[0].plain, _flags(words[1:])
    if builtin not in ("export", "readonly"):
        if not all(word.plain.startswith(("-", "+")) for word in words[1:]):
            script.declared.append(flags)
        script.split_names += [word for word in words[1:] if _SPLIT_NAME.match(word.text)]
        unknown = any(map(_may_be_option, words[1:], (*words[2:], None)))
        flags += "ai" * unknown  # any option may come of it
        for word, made in ((word, _made_name(word)) for word in words[1:]):
            script.variables.any_array |= bool(made) and not {"a", "A"}.isdisjoint(flags)
            if made and "i" in flags:
                script.variables.made_integers.add(made)
                _settle_number(word, script)
    for word in words[1:]:
        gives_declared(script, word)
        _settle_names(word, script, is_array="a" in flags or "A" in flags)
        name = _NAME.match(word.plain)
        if (name or word.plain.startswith(_EXPANSIONS)) and not word.is_list and "=" in word.text:
            fresh = builtin == "export" or (
                script.functions > 0 and builtin != "readonly" and "g" not in flags
            )
            _settle_value(word, name.group() if name else "", flags, script, fresh=fresh and "I" not in flags)
        if name and certain and declares_associative(words, name.group(), script):
            script.variables.prove(name.group())
        for declared in _declared_names(word.plain):
            script.variables.declare(builtin, declared, flags, bound="=" in word.text)
        if "n" in flags and builtin != "export" and not word.plain.startswith("-"):
            script.binds(word)
            refuse(word.marks, Refusal.NAME)  # what is assigned to a nameref is a name
            script.flow.evaluated.update(references(word.text))
            script.flow.unknown = True
            script.flow.blind |= "=" not in word.text and bool(_made_name(word))
            script.receives(word, "", Guard.NAME)


def _may_be_option(word: Word, following: Word | None) -> bool:
    """Tell whether a word of a declaration may turn out to be an option for the names behind it."""
    if _UNKNOWN_OPTION.match(word.plain) or word.text.startswith("{") or _is_coded(word):
        return True
    if not word.plain.startswith(("\0", *_EXPANSIONS)) or "=" in word.plain:
        return False
    return following is not None or not _ONE_WORD.fullmatch(word.text)


def _is_coded(word: Word) -> bool:
    """Tell whether an option or a name is written with codes of characters, as in `$'\\x69'`."""
    name = word.text.partition("=")[0]
    return "$'" in name and "\\" in name


def _made_name(word: Word) -> str:
    """Return a pattern for the names that a word may declare; nothing if they stand there."""
    name = word.plain.partition("=")[0]
    if _is_coded(word) or name[:1] in ("{", "["):
        return ".*"
    if name.startswith("-") or not any(sign in name for sign in ("\0", *_EXPANSIONS, "{", "*", "?")):
        return ""
    return "".join(map(re.escape, _EXPANSION.sub("*", name))).replace("\\*", ".*")


def _settle_number(word: Word, script: Script) -> None:
    """Accept only numbers in what a declaration gives to an integer whose name the run makes."""
    before, _, value = word.text.partition("=")
    hold(word.marks[before.count("\0") + before.count("\1") :])
    script.flow.evaluated.update(identifiers(value))
    if places := word.places[len(before) + 1 :]:
        script.sinks.append(Sink(places[0], value, Guard.NUMBER, "", script.quoted, places=places))
    else:
        script.flow.blind |= any(identifiers(value))


def _settle_names(word: Word, script: Script, *, is_array: bool) -> None:
    """Refuse values in the declared name, and accept only numbers in its subscript."""
    before, _, value = word.text.partition("=")
    if not word.is_list:  # also the subscript of an associative array: bash expands it twice here
        script.writes_name(word, before)
    if not word.assigns and not value and any(sign in before for sign in _EXPANSIONS):
        script.declared_whole.append((word, is_array))
    if not word.assigns:
        names = before.count("\0") + before.count("\1")
        refuse(word.marks[:names], Refusal.NAME)
        if name := _NAME.match(word.plain):
            assign(word.marks[names:], name.group())
            script.flow.assign(name.group(), value)
            script.receives(word, name.group(), Guard.NUMBER)
    hold(mark for mark in word.marks if mark.array and not word.is_list)


def _settle_value(word: Word, name: str, flags: str, script: Script, *, fresh: bool) -> None:
    """Note a value that bash evaluates if it is in parentheses and the variable is an array.

    A `fresh` variable is one only if the script itself makes it so.
    """
    is_array = "a" in flags or "A" in flags
    if _BEGINS_LITERAL.match(word.plain.partition("=")[2]):
        return
    if any(not mark.array for mark in word.marks) or "$" in word.text:
        script.declarations.append(Declaration(word, name, is_array, fresh))
    if is_array:
        script.flow.evaluated.update(references(word.text))


def is_one_expansion(word: Word) -> bool:
    """Tell whether what a declaration assigns is one expansion and nothing else."""
    return _ONE_EXPANSION.fullmatch(word.text.partition("=")[2]) is not None


def _declared_names(plain: str) -> Iterator[str]:
    """Yield the names that a word declares; `a{b,c}` declares two."""
    if braces := _BRACES.match(plain):
        yield from (f"{braces[1]}{part}{braces[3]}" for part in braces[2].split(","))
    elif name := _NAME.match(plain):
        yield name.group()


class _Options(Record):
    """The letters of a builtin's options that take a word, by what they do with it."""

    argument: str = ""
    name: str = ""
    code: str = ""


class _Split(Record, frozen=False, eq=False, repr=False):
    """The words of a builtin: those that options take for names, the operands, and whether `--` came."""

    names: list[Word] = field(default_factory=list)
    codes: list[Word] = field(default_factory=list)  # with the option, where both are one word
    operands: Sequence[Word] = ()
    ended: bool = False


def _split(arguments: Sequence[Word], options: _Options) -> _Split:
    split = _Split()
    pending = ""
    for index, word in enumerate(arguments):
        plain = word.plain
        if pending:
            _take_option(pending, word, word, options, split)
            pending = ""
        elif plain == "--" or not plain.startswith("-") or plain == "-":
            split.ended = plain == "--"
            split.operands = arguments[index + split.ended :]
            break
        else:
            for position, letter in enumerate(plain[1:], 2):
                if letter in "\0\1$`":
                    refuse(word.marks, Refusal.NAME)
                    break
                if letter in options.argument + options.name + options.code:
                    if plain[position:]:
                        attached = Word(plain[position:], word.marks, word.start, word.start)
                        _take_option(letter, attached, word, options, split)
                    else:
                        pending = letter
                    break
    return split


def _take_option(letter: str, word: Word, whole: Word, options: _Options, split: _Split) -> None:
    if letter in options.code:
        refuse(word.marks, Refusal.CALLBACK)
        split.codes.append(whole)
    elif letter in options.name:
        refuse(word.marks, Refusal.NAME)
        split.names.append(word)


_READING = {"read": _Options("dinNptu", "a"), "mapfile": _Options("dnOsuc", "", "C")}


def _reading(command: SimpleCommand, arguments: Sequence[Word], script: Script) -> None:
    name = without_prefix(command.words)[0].plain
    split = _split(arguments, _READING.get(name, _READING["mapfile"]))
    for word in (*split.names, *split.operands):
        refuse(word.marks, Refusal.NAME)
        script.writes_name(word, array=name != "read" or word in split.names)
        gives_computed(script, word.text, command.strings)
    for word in split.codes:
        script.flow.executed.update(references(word.text))
        script.evaluates(word, Guard.WORD)
        for mark in word.marks:
            mark.runs = True
    targets = [found.group() for word in split.operands if (found := _NAME.match(word.plain))]
    arrays = [found.group() for word in split.names if (found := _NAME.match(word.plain))]
    variables = script.variables
    filled = {*targets, *arrays, "REPLY" if name == "read" else "MAPFILE"}
    variables.from_input |= filled
    if not command.is_fed:
        variables.from_afar |= filled
    if not command.is_fed or any("\1" in word.text for word in command.inputs):
        named = [
            (word.start, found.group())
            for word in (*split.operands, *split.names)
            if (found := _NAME.match(word.plain))
        ]
        end = command.words[-1].end if not named else 0
        script.reads += [
            Sink(start, "", Guard.NUMBER, "", script.quoted, target=each)
            for start, each in named or [(end, next(iter(filled)))]
        ]
    command.fills = tuple(sorted(filled))
    script.fill(command)


def _unset(arguments: Sequence[Word], script: Script) -> None:
    for word in _split(arguments, _Options()).operands:
        refuse(word.marks, Refusal.NAME)
        script.takes_name(word)
        script.variables.undone.add(word.plain)
        script.variables.any_undone |= any(sign in word.plain for sign in _EXPANSIONS)


def _writing(name: str, arguments: Sequence[Word], script: Script) -> None:
    """Check `printf` and `wait`: a first operand that is a value must not be taken for an option."""
    split = _split(arguments, _Options(name="v" if name == "printf" else "p"))
    for word in split.names:
        script.writes_name(word)
        gives_computed(script, word.text, split.operands)
        if variable := _NAME.match(word.plain):
            if _joins_names(split.operands):
                script.flow.made.add(variable.group())
            for operand in split.operands:
                assign(operand.marks, variable.group())
                script.flow.assign(variable.group(), operand.text)
                script.gives(operand, variable.group())
    first = split.operands[0] if split.operands else None
    if first and not split.ended and first.plain.startswith(("\0", *_EXPANSIONS)):
        start = first.start
        # Without `--`, a value that begins with a dash would be read as options.
        script.edits.append(Edit(start, start, "-- "))


def _joins_names(operands: Sequence[Word]) -> bool:
    """Tell whether `printf` makes a name of its format and its arguments, or of several of these."""
    pieces = [_DIRECTIVE.sub("", word.plain) for word in operands]
    return len(operands) > 1 and sum(bool(_NAME.search(piece)) for piece in pieces) > 1


def _getopts(arguments: Sequence[Word], script: Script) -> None:
    if len(arguments) < 2:
        return
    refuse(arguments[1].marks, Refusal.NAME)
    script.writes_name(arguments[1])
    for word in arguments[2:] or (Word("$@", []),):
        assign(word.marks, arguments[1].plain, "OPTARG")
        script.flow.assign(arguments[1].plain, word.text)
        script.flow.assign("OPTARG", word.text)
        script.gives(word, *(() if word.end == 0 else (arguments[1].plain, "OPTARG")))


def _test(arguments: Sequence[Word], script: Script) -> None:
    for before, after in pairwise(arguments):
        if before.plain in ("-v", "-R"):
            refuse(after.marks, Refusal.NAME)
            script.takes_name(after)
        elif before.marks and _MAY_BE_OPERATOR.fullmatch(before.plain):
            refuse(after.marks, Refusal.OPERATOR)
            script.takes_name(after)
        elif before.plain.removeprefix("-").startswith(_EXPANSIONS):
            script.evaluates(after, Guard.NAME)
            for mark in after.marks:
                for each in (mark, *mark.places):
                    each.evaluated = True
    for word in arguments:  # `[ $x ]` and `[ "$@" ]` can become `[ -v a[...] ]`
        if "$" in word.text and ('"' not in word.text or _MANY.search(word.text)):
            script.flow.evaluated.update(name for name in references(word.text) if '"' in word.text)
            script.evaluates(word, Guard.NAME)
