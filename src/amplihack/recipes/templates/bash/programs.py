"""Find words that are source code of some language: for `eval`, `bash -c`, `ssh`, `python -c` and more."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.builtins import without_prefix
from amplihack.recipes.templates.bash.command_names import BUILTINS
from amplihack.recipes.templates.bash.launchers import launched, started
from amplihack.recipes.templates.bash.places import Output, Place, SimpleCommand, Word, assign
from amplihack.recipes.templates.bash.program_tables import (
    CALLS_BACK,
    CODE_BEHIND,
    CODE_BEHIND_FILE,
    CODE_BEHIND_NAMES,
    CODE_BEHIND_OPTIONS,
    CODE_BEHIND_WORDS,
    CODE_NAMES,
    CODE_OPTION,
    CODE_SETTING,
    CODE_TAKERS,
    EVALUATES,
    EVALUATES_OPTIONS,
    GLOB,
    INPUT_BEHIND_NAMES,
    INPUT_BEHIND_WORDS,
    INTERPRETER,
    LANGUAGES,
    MAY_EXECUTE,
    OPTIONS_BEFORE_FILE,
    PARALLEL_ARGUMENTS,
    PROGRAM_FIRST,
    PROGRAM_OPTION,
    RUNS_INPUT,
    SHELLS,
    SHOWS,
    SOURCES,
    SSH,
    SSH_WITH_ARGUMENT,
    STANDARD_INPUT,
    WRAPPERS,
    YQ_COMMANDS,
)
from amplihack.recipes.templates.bash.quoted_for_shells import assigned_name, evaluates_later, is_argument
from amplihack.recipes.templates.bash.shell_programs import shell_program
from amplihack.recipes.templates.bash.value_flow import ARGUMENTS, ValueFlow
from amplihack.recipes.templates.bash.variable_attributes import git_key, is_program_variable, loaded_language

_RUN_BY_SED = pattern(r"[^\w\s][gpiImM0-9]*e[gpiImM0-9]*\Z")
_CLUSTER = "-[a-z]*[ce][a-z]*"
_CALLBACK = "-[A-Za-z]*C"
_VARIABLE = pattern(r"\$\{?([A-Za-z_]\w*|[0-9@*])\}?")


def settle_programs(command: SimpleCommand, flow: ValueFlow) -> Sequence[Word]:
    """Note the language of placeholders that become source code.

    Return the words that a shell reads as code.
    """
    _note_command(command, flow)
    first = command.words[0].plain.rpartition("/")[2]
    if not command.marked and first not in MAY_EXECUTE and first not in SOURCES:
        return ()
    words = without_prefix(command.words)
    code = list(_code_words(words)) if words else []
    for word in code:
        name_language(_read_as_code(word, flow), "bash")
        if words[0].plain in SOURCES:
            _pass_arguments(word, words[1:], flow)
    for word, language in (*_behind_words(started(words)), *_given_variables(words)) if words else ():
        name_language(word.marks, language)
        if language == "bash":
            code.append(word)
    found = interpreter(words) if words else None
    if found:
        language, arguments = found
        name = words[-len(arguments) - 1].plain.rpartition("/")[2]
        for word in (*program_words(language, arguments), *_behind_file(name, arguments)):
            marks = _read_as_code(word, flow) if language == "bash" else word.marks
            name_language(marks, "bash" if _runs_result(language, word) else language)
            if language == "bash":
                code.append(word)
                _pass_arguments(word, arguments, flow)
        for word in operands(arguments)[:1]:
            for place in (place for mark in word.marks for place in mark.places):
                place.is_script |= language == "bash" and word.plain == "\0"
            processes = [mark for mark in word.marks if _is_process(mark)]
            name_language(processes, language)
            if processes and language == "bash":
                code.append(word)
                _pass_arguments(word, arguments, flow)
    if words and (words[0].plain in SOURCES or (found and found[0] == "bash")) and input_language(command):
        _pass_arguments(words[0], words, flow)  # `bash -s {{v}} <<< 'eval "$1"'`
    if command.inputs and (language := input_language(command)):
        for word in command.inputs:
            direct = word.plain.startswith(("<", "\1")) or not any(_is_process(mark) for mark in word.marks)
            name_language(word.marks if direct else (), language)
            if language == "bash":
                code.append(word)
    return code


def _read_as_code(word: Word, flow: ValueFlow) -> list[Place | Output]:
    """Return the marks of a code without what is quoted for it, as `$(printf %q {{v}})` is."""
    if flow.functions or evaluates_later(word.text):
        return word.marks
    pieces = re.split("[\0\1]", word.text)
    read: list[Place | Output] = []
    for at, mark in enumerate(word.marks, 1):
        before = "".join(pieces[:at])
        if isinstance(mark, Output) and mark.is_quoted and is_argument(before):
            assign(mark.places, *filter(None, [assigned_name(before)]))
        else:
            read.append(mark)
    return read


def _behind_words(words: Sequence[Word]) -> Iterator[tuple[Word, str]]:
    """Yield words that a program takes for code because of those before them, such as `rails runner X`."""
    names = {word.plain.rpartition("/")[2] for word in words[:2]}
    if names.isdisjoint(CODE_BEHIND_NAMES):
        return
    before = words[0].plain.rpartition("/")[2]
    for word in words[1:]:
        attached = f" {word.plain.partition('=')[0]}" if word.plain.startswith("-") else ""
        for language, pattern_ in CODE_BEHIND_WORDS.items() if word.marks else ():
            if re.fullmatch(pattern_, before + attached):
                yield word, language
        before += f" {word.plain}"


def _runs_result(language: str, word: Word) -> bool:
    """Tell whether sed runs what a substitution results in: `s/a/b/e`."""
    return language == "sed" and _RUN_BY_SED.search(word.plain) is not None


def _pass_arguments(code: Word, words: Sequence[Word], flow: ValueFlow) -> None:
    """Note what code gets as its arguments, as in `bash -c '...' name {{v}}`."""
    behind = next((at for at, word in enumerate(words, 1) if word is code), len(words))
    for word in words[behind:]:
        assign(word.marks, ARGUMENTS)
        flow.assign(ARGUMENTS, word.text)


def name_language(
    marks: Iterable[Place | Output], language: str, *, without: SimpleCommand | None = None
) -> None:
    own = {id(mark) for word in without.words for mark in word.marks} if without else set()
    for mark in marks:
        for place in mark.places if id(mark) not in own else ():
            if language == "bash" or not place.language:  # a program of sed may be a part of one of bash
                place.language = language


def _note_command(command: SimpleCommand, flow: ValueFlow) -> None:
    """Note a value that is the command which a launcher runs, and a variable in place of any command."""
    name, words = launched(command.words) or ("", command.words)
    word = words[0]
    if word.text.startswith("\1") or (name and word.plain.startswith(("\0", "\1"))):
        for place in word.marks[0].places:
            place.launcher = name or "the script"
    elif word.text.startswith("$") and (found := _VARIABLE.fullmatch(word.text)):
        flow.launched.add(found[1] if found[1].isidentifier() else ARGUMENTS)


def _is_process(mark: Place | Output) -> bool:
    """Tell whether the mark is `<(...)`, whose output is read as a file."""
    return isinstance(mark, Output) and mark.feeds


def _code_words(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the words that a shell reads as a script."""
    name, arguments = words[0].plain.rpartition("/")[2], words[1:]
    if name in EVALUATES:
        yield from _evaluated(name, arguments)
    elif name in CALLS_BACK:
        yield from option_arguments(arguments, _CALLBACK)
    elif name in SOURCES:
        yield from (word for word in arguments[:1] if word.plain == "\0" or any(map(_is_process, word.marks)))
    elif name in SSH:
        yield from _ssh_command(name, arguments)
    elif taker := _wrapped_taker(words):
        yield from _code_words(taker)
    named = {word.plain.rpartition("/")[2] for word in words}
    for each in () if named.isdisjoint(CODE_NAMES) else sorted(named & CODE_NAMES):
        yield from _words_by_option(each, arguments)


def _given_variables(words: Sequence[Word]) -> Iterator[tuple[Word, str]]:
    """Yield words that set a variable which a program runs, with its language: `env PAGER={{v}} less f`."""
    if words[0].plain.rpartition("/")[2] not in WRAPPERS:
        return
    for word in (word for word in words[1:] if word.marks):
        name, _, text = word.plain.partition("=")
        key = f"{git_key(name)}="
        keys = [other.plain.removeprefix(key) for other in words if other.plain.startswith(key)]
        if language := variable_language(name, keys, text.partition("\0")[0]):
            yield word, language


def variable_language(name: str, keys: Collection[str], before: str) -> str:
    """Return the language in which a value is run that a variable gets; empty if it is none.

    `keys` are the settings of git for which it is the value; `before` is what stands before it.
    """
    if is_program_variable(name):
        return "bash"
    if git_key(name):
        is_code = not keys or any(re.fullmatch(CODE_SETTING["git"], key) for key in keys)
        return "bash" if is_code else ""
    return loaded_language(name, before)


def _evaluated(name: str, arguments: Sequence[Word]) -> Iterator[Word]:
    """Yield the words that one of these takes for code, without the arguments of its options."""
    options, taken, skips = EVALUATES_OPTIONS.get(name, "").split(), 0, False
    for word in arguments:
        if skips or (name == "trap" and taken):
            skips = False
        elif word.plain in PARALLEL_ARGUMENTS and name == "parallel":
            if taken:
                return
        elif word.plain in options:
            skips = True
        else:
            taken += not word.plain.startswith("-")
            yield word


def _words_by_option(name: str, arguments: Sequence[Word]) -> Iterator[Word]:
    """Yield the words that a command takes for code because of an option, a sub-command or a setting."""
    if option := CODE_OPTION.get(name):
        yield from option_arguments(arguments, option)
    if behind := CODE_BEHIND.get(name):
        at = next((i for i, word in enumerate(arguments) if re.fullmatch(behind, word.plain)), None)
        yield from () if at is None else _without_options(name, arguments[at + 1 :])
    if setting := CODE_SETTING.get(name):
        yield from (word for word in arguments if re.match(f"(?:{setting})=", word.plain))
    if name == "git":
        yield from _git_settings(arguments)


def _git_settings(arguments: Sequence[Word]) -> Iterator[Word]:
    """Yield settings that are two words, or a value with their name: `git config alias.x {{v}}`."""
    options = True
    for before, after in pairwise(arguments):
        options = options and before.plain.startswith("-")
        if options and before.plain == "-c" and after.plain.startswith(("\0", "\1")):
            yield after
            return
        if re.fullmatch(CODE_SETTING["git"], before.plain) or after.plain.startswith("ext::"):
            yield after


def _without_options(name: str, words: Sequence[Word]) -> Iterator[Word]:
    options, skips = CODE_BEHIND_OPTIONS.get(name, "").split(), False
    for word in words:
        if not skips and word.plain not in options:
            yield word
        skips = not skips and word.plain in options


def _wrapped_taker(words: Sequence[Word]) -> Sequence[Word]:
    """Return the words from a program on that takes code and stands behind a wrapper, such as `sudo ssh`."""
    names = [word.plain.rpartition("/")[2] for word in words]
    if names[0] not in WRAPPERS or names[0] in CODE_TAKERS:
        return ()
    if (found := launched(words)) and not found[1][0].plain.startswith("-"):
        return found[1] if found[1][0].plain.rpartition("/")[2] in CODE_TAKERS else ()
    at = next((i for i, name in enumerate(names) if name in CODE_TAKERS), len(names))
    return words[at:]


def option_arguments(arguments: Sequence[Word], option: str) -> Iterator[Word]:
    """Yield the argument of an option, in the next word or in the same one."""
    for before, after in pairwise((*arguments, Word("", []))):
        if re.fullmatch(option, before.plain):
            yield after
        elif before.marks and (found := re.match(option, before.plain)) and before.plain[found.end() :]:
            yield before


def _ssh_command(name: str, arguments: Sequence[Word]) -> Sequence[Word]:
    """Return the words after the host."""
    skips, monitor = False, "-M" if name == "autossh" else ""
    for index, word in enumerate(arguments):
        if skips:
            skips = False
        elif word.plain.startswith("-"):
            skips = (word.plain[-1:] in SSH_WITH_ARGUMENT and len(word.plain) == 2) or word.plain == monitor
        else:
            return arguments[index + 1 :]
    return ()


def interpreter(words: Sequence[Word]) -> tuple[str, Sequence[Word]] | None:
    """Return the language of the interpreter in a command, and its arguments."""
    first = words[0].plain.rpartition("/")[2]
    for index, word in enumerate(words if first not in SHOWS else ()):
        if not (name := _interpreter_name(word)):
            continue
        language, arguments = LANGUAGES.get(name, name), words[index + 1 :]
        if "--entrypoint" in (words[index - 1].plain, word.plain.partition("=")[0]):
            arguments = _behind_image(arguments)
        if word is started(words)[0] or first in WRAPPERS or _is_started(language, arguments):
            return language, arguments
    return None


def _interpreter_name(word: Word) -> str:
    """Return the interpreter that a word names, also by a pattern (`/bin/ba*h`); mostly nothing."""
    if found := INTERPRETER.search(word.plain):
        return found["name"] or (found["variable"] or "bash").lower()
    directory, _, last = word.plain.rpartition("/")
    if directory and GLOB.search(last):
        return next((shell for shell in sorted(SHELLS) if fnmatchcase(shell, last)), "")
    return ""


def _behind_image(arguments: Sequence[Word]) -> Sequence[Word]:
    """Return the words of `docker run --entrypoint sh ...` that the shell gets: from its own `-c` on."""
    at = next((i for i, word in enumerate(arguments[1:], 1) if re.fullmatch(_CLUSTER, word.plain)), None)
    return arguments[at:] if at else ()


def _is_started(language: str, arguments: Sequence[Word]) -> bool:
    """Tell whether what looks like an interpreter gets a program, though nothing known starts it."""
    if language in PROGRAM_FIRST or not arguments or not arguments[0].plain.startswith(("-", "eval")):
        return False
    return bool(program_words(language, arguments))


def program_words(language: str, arguments: Sequence[Word]) -> list[Word]:
    option = PROGRAM_OPTION.get(language)
    by_option = list(option_arguments(_before_file(language, arguments), option)) if option else []
    if language == "bash":
        return by_option + [word for word in shell_program(arguments) if word not in by_option]
    if by_option or language not in PROGRAM_FIRST:
        return by_option
    skips = 0
    for word in arguments:
        if skips:
            skips -= 1
        elif not word.plain or (language == "yq" and word.plain in YQ_COMMANDS):  # `sed -i '' ...`
            continue
        elif not word.plain.startswith("-"):
            return [word]
        else:
            skips = PROGRAM_FIRST[language].get(word.plain, 0)
    return []


def _before_file(language: str, arguments: Sequence[Word]) -> Sequence[Word]:
    """Return the words before the file of a program, and what may be the argument of an option there.

    Where nobody here knows which options have one, all words are returned.
    """
    options = OPTIONS_BEFORE_FILE.get(language)
    if options is None:
        return arguments
    program = PROGRAM_OPTION[language]
    for at, (before, after) in enumerate(pairwise((Word("", []), *arguments))):
        if not after.plain.startswith(("-", "+")) and not re.fullmatch(f"{options}|{program}", before.plain):
            return arguments[:at] if after.plain != "eval" else arguments
    return arguments


def _behind_file(name: str, arguments: Sequence[Word]) -> list[Word]:
    """Return the words behind the file of a database, which are code."""
    if not (options := CODE_BEHIND_FILE.get(name)):
        return []
    before = (Word("", []), *arguments)
    return operands([after for option, after in pairwise(before) if option.plain not in options])[1:]


def operands(arguments: Sequence[Word]) -> list[Word]:
    """Return the words that are no options; the argument of an option counts as one of them."""
    return [word for word in arguments if not word.plain.startswith("-")]


def input_language(command: SimpleCommand) -> str:
    """Return the language of the program that a command reads from its input; empty if it is data."""
    words = without_prefix(command.words)
    if not words:
        return ""
    if words[0].plain in SOURCES:
        return "bash" if _reads_input(words) else ""
    if words[0].plain in CALLS_BACK:
        return "bash" if _calls_evaluator(words[1:]) else ""
    if language := _input_behind(started(words)):
        return language
    words = _wrapped_taker(words) or words
    name, found = words[0].plain.rpartition("/")[2], interpreter(words)
    if name in RUNS_INPUT or (name in SSH and not _ssh_command(name, words[1:])):
        return "bash"
    if name == "xargs" and found and found[0] == "bash":
        return "bash"
    if not found or found[0] in PROGRAM_FIRST or program_words(*found):
        return ""
    language, arguments = found
    asks = language == "SQL" and not _behind_file(words[-len(arguments) - 1].plain, arguments)
    return language if asks or _reads_input(words) or not operands(arguments) else ""


def _input_behind(words: Sequence[Word]) -> str:
    """Return the language of what a program reads because of its words, such as `manage.py shell`."""
    if {word.plain.rpartition("/")[2] for word in words[:3]}.isdisjoint(INPUT_BEHIND_NAMES):
        return ""
    text = " ".join((words[0].plain.rpartition("/")[2], *(word.plain for word in words[1:])))
    return next((each for each, found in INPUT_BEHIND_WORDS.items() if re.fullmatch(found, text)), "")


def _calls_evaluator(arguments: Sequence[Word]) -> bool:
    """Tell whether `mapfile` calls a builtin that evaluates the lines it gets, as in `-C eval`."""
    for word in option_arguments(arguments, _CALLBACK):
        first = word.plain.removeprefix("-C").split()[:1]
        if first and (first[0] in BUILTINS or first[0] in MAY_EXECUTE) and first[0] != "printf":
            return True
    return False


def _reads_input(words: Sequence[Word]) -> bool:
    return any(word.plain in STANDARD_INPUT for word in words[1:])
