"""Read lists of commands: find the command words, the matching parentheses and the heredocs.

list     = { command (";" | "&" | "&&" | "||" | "|" | newline) }
command  = { assignment | redirection } word { word | redirection }
         | "if" list "then" list ... "fi" | ("while" | "until") list "do" list "done"
         | ("for" | "select") name ["in" { word }] "do" list "done" | "for" "((" arithmetic "))" ...
         | "case" word "in" { pattern ")" list ";;" } "esac" | "[[" condition "]]" | "((" arithmetic "))"
         | "(" list ")" | "{" list "}" | name "()" command | "function" name command
"""

from __future__ import annotations

from collections.abc import Iterable

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.blocks import (
    CommandList,
    Expects,
    close_block,
    open_block,
    reopen_block,
)
from amplihack.recipes.templates.bash.builtins import (
    declares_associative,
    settle_builtin,
    without_prefix,
)
from amplihack.recipes.templates.bash.constant_code import calculates_with, read_code
from amplihack.recipes.templates.bash.cursor import BLANKS, Cursor
from amplihack.recipes.templates.bash.expansions import arithmetic
from amplihack.recipes.templates.bash.file_names import ProgramFile, file_name
from amplihack.recipes.templates.bash.heredocs import newline
from amplihack.recipes.templates.bash.parentheses import is_arithmetic
from amplihack.recipes.templates.bash.places import Output, Place, SimpleCommand, Word, assign
from amplihack.recipes.templates.bash.program_files import files_run, files_written, fills_in
from amplihack.recipes.templates.bash.program_tables import COPIES, SHELLS
from amplihack.recipes.templates.bash.programs import input_language, name_language, settle_programs
from amplihack.recipes.templates.bash.redirections import is_descriptor, redirection
from amplihack.recipes.templates.bash.unpacked_files import fetched, unpacked
from amplihack.recipes.templates.bash.value_flow import FILE, identifiers, references
from amplihack.recipes.templates.bash.word_roles import take
from amplihack.recipes.templates.bash.words import comment, word

_SEPARATOR = pattern(r";;&|;;|;&|;|&&|&|\|\||\|&|\|")
_NAME = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_PIPES = ("|", "|&")
_LONG = 4096  # of a group of commands, what is looked at for variables
_OWN_CODE = ("alias", "eval", "mapfile", "readarray", "trap")
_FIRST_WORD = pattern(r"\A(?:[$<]\(|`)\s*([\w.-]+)")
_FILE = pattern(r"[\w.~${}/-]+")
_SHELL = pattern(r">\(\s*(?:sudo\s+|exec\s+)?(?:\S*/)?(?:ba|da|z|k|a)?sh\s*(?:-\w*[esux]\s*)*\)")
_LISTS = pattern(r"-[enr]*l")  # `fc -l` only shows the history
_IN_QUOTES = pattern(r"'([^']*)'")


def commands(c: Cursor, closer: str, opened: int) -> None:
    """Read a list up to its closing parenthesis, or to the end of the text if `closer` is empty."""
    script = c.script
    outer = (script.frame, c.waiting, c.closer)
    script.frames += 1
    script.frame, c.waiting, c.closer = script.frames, [], closer
    state = CommandList(closer, element=c.count(), pipeline=c.count())
    # What a substitution declares is gone at its end.
    script.variables.enter()
    with c.deeper():
        _steps(c, state)
    _end_command(c, state, "")
    while state.open:
        close_block(c, state)
    script.variables.leave()
    if closer and not state.closed:
        raise c.unclosed(f"the {c.text[opened : opened + 2]}", opened)
    if c.waiting:
        heredoc = c.waiting[0]
        raise c.unclosed(f"the heredoc {heredoc.delimiter}", heredoc.operator[0])
    script.frame, c.waiting, c.closer = outer


def _steps(c: Cursor, state: CommandList) -> None:
    """Read one token after another, until the closing parenthesis or the end."""
    text = c.text
    while c.pos < c.end:
        char = text[c.pos]
        if char in " \t\\" and c.skip(BLANKS):
            continue
        if char == "\n":
            _newline(c, state)
        elif char == "#":
            comment(c)
        elif char == "(":
            _open_parenthesis(c, state)
        elif char == ")":
            if not _close_parenthesis(c, state):
                return
        elif char in "<>&" and c.ahead(2) not in ("<(", ">(") and redirection(c, state):
            pass
        elif char in ";&|":
            _separator(c, state)
        else:
            _next_word(c, state)


def _end_command(c: Cursor, state: CommandList, following: str) -> None:
    """Settle the words of a complete command; `following` is the operator after it."""
    command = state.command
    if command.loop:
        for word_ in command.words:
            assign(word_.marks, command.loop)
            c.script.hold_name(command.loop, word_.plain)
            c.script.flow.assign(command.loop, word_.text)
            c.script.gives(word_, command.loop)
            for mark in word_.marks:
                mark.rebinds = True
    elif command.words:
        # A pipe or `&` runs the command in a subshell, and `&&` or `||` may not run it at all.
        certain = not state.before and following not in ("|", "|&", "&")
        settle_builtin(command, c.script, certain=certain)
        c.script.started += files_run(command)
        _note_files(c, state)
        for code in settle_programs(command, c.script.flow):
            name = without_prefix(command.words)[0].plain
            _run_code(c, code, own=name in _OWN_CODE, at_once=name == "eval")
            _run_printed(c, code)
            _run_file(c, code.plain)
        if state.before in _PIPES and (language := input_language(command)):
            name_language(c.script.marks[state.pipeline :], language, without=command)
            _run_piped(c, state.piped if language == "bash" else ())
        elif _reads_program(command):
            c.script.reads_program = True
        if any(_is_shell(c, mark) for mark in c.script.marks[state.element :]):
            name_language(c.script.marks[state.pipeline :], "bash")
            _run_piped(c, [*state.piped, command])
    elif command.outputs:
        _note_files(c, state)
    state.command, state.begun, state.descriptor = SimpleCommand(), False, None


def _note_files(c: Cursor, state: CommandList) -> None:
    """Note the files that a command writes, and with it those before it in its pipeline."""
    command, script = state.command, c.script
    command.outputs += files_written(command)
    command.outputs += (script.descriptors[each] for each in ("1", "2") if each in script.descriptors)
    script.fetched += fetched(command)
    if command.words and command.words[0].plain in COPIES:
        script.copiers.append(command)
    if command.words and command.words[0].plain in ("cd", "pushd"):
        script.entered.add(file_name(command.words[-1].plain).rstrip("/"))
    elif found := unpacked(command, state.piped):
        script.unpacked.append(found)
    if command.outputs:
        written = [*state.piped, command]
        if not all(each.words for each in written):  # `{ ...; } > f`
            text = c.text[state.group : min(c.pos, state.group + _LONG)]
            written.append(SimpleCommand([Word(text, script.marks[state.pipeline :])]))
        for each in written:
            each.outputs = command.outputs
            script.writers.append(each)


def _run_code(c: Cursor, code: Word, *, own: bool, at_once: bool = False) -> None:
    """Read code of the script, or note the variables that are a part of it.

    `at_once` means that this shell runs it where it stands.
    """
    if read_code(c, code, own=own):
        return
    calculated = c.script.flow.run(code.text, calculates_with(c, code))
    if at_once and (calculated := calculated | c.script.flow.guard_code(code.text)):
        c.script.calculates(code, calculated)


def _run_printed(c: Cursor, code: Word) -> None:
    """Note the variables of which a shell runs what a substitution prints, as in `source <(echo "$x")`."""
    for mark in code.marks:
        inside = c.text[mark.position : mark.position + mark.length] if isinstance(mark, Output) else ""
        c.script.flow.printing.update(_FIRST_WORD.findall(inside))
        for file in _FILE.findall(inside):
            _run_file(c, file)
        c.script.flow.executed.update(references(inside.removeprefix("$").removeprefix("`")))
        code_inside = " ".join(_IN_QUOTES.findall(inside)).replace("$(", "(")
        c.script.flow.evaluated.update(identifiers(code_inside))


def _run_piped(c: Cursor, commands: Iterable[SimpleCommand]) -> None:
    """Note what a shell behind a pipe runs: the variables that are printed, and code in quotes."""
    for command in commands:
        if fills_in(command):
            c.script.flow.executed.update(c.script.flow.written)
        for word_ in command.words[1:]:
            _run_code(c, word_, own=False)
        for word_ in (*command.words[1:], *command.inputs):
            _run_file(c, word_.plain)


def _run_file(c: Cursor, name: str) -> None:
    """Note that a shell runs what a file holds, if the script writes one of this name."""
    c.script.started.append(ProgramFile(file_name(name), "bash", is_sure=False))


def _reads_program(command: SimpleCommand) -> bool:
    """Tell whether a shell gets its program from where nothing tells: `f() { bash; }`, `bash <&3`, `fc`."""
    if any(word.plain == "fc" for word in without_prefix(command.words)[:1]):
        return not any(_LISTS.match(word.plain) for word in command.words)
    if command.is_fed or command.inputs or command.words[0].plain.rpartition("/")[2] not in SHELLS:
        return False
    shows = any(word.plain in ("--version", "--help") for word in command.words)
    return not shows and input_language(command) == "bash"


def _is_shell(c: Cursor, mark: Place | Output) -> bool:
    """Tell whether a mark is a shell that runs what it gets, as in `tee >(bash)`."""
    if not isinstance(mark, Output):
        return False
    return _SHELL.match(c.text, mark.position, mark.position + mark.length) is not None


def _newline(c: Cursor, state: CommandList) -> None:
    newline(c)
    continues = state.fresh and state.before
    _end_command(c, state, "")
    if not continues:  # `a |` and a newline go on
        state.begin(c.count())
    if state.expects not in (Expects.IN, Expects.CASE_IN):
        state.expects = Expects.COMMAND


def _separator(c: Cursor, state: CommandList) -> None:
    found = _SEPARATOR.match(c.ahead(3))
    operator = found.group() if found else c.peek()
    c.advance(len(operator))
    piped = [*state.piped, state.command] if operator in _PIPES else []
    c.script.read_files.update(FILE + word.plain.removeprefix("./") for word in state.command.words if piped)
    _end_command(c, state, operator)
    state.expects = Expects.COMMAND
    if operator in _PIPES:
        for mark in c.script.marks[state.element :]:
            mark.feeds = True
        state.element, state.piped = c.count(), piped
    else:
        state.begin(c.count())
    state.before = operator if operator in ("&&", "||", *_PIPES) else ""
    state.fresh = True
    if operator in (";;", ";&", ";;&") and state.innermost == "case":
        reopen_block(c, state, "pattern")


def _open_parenthesis(c: Cursor, state: CommandList) -> None:
    opened = c.pos
    state.fresh = False
    if state.innermost != "pattern" and c.ahead(2) == "((" and is_arithmetic(c):
        c.advance(2)
        arithmetic(c, "))", "the ((", opened)
        state.expects = Expects.COMMAND
        return
    c.pos += 1
    if state.innermost != "pattern":
        open_block(c, state, "(")
        state.expects = Expects.COMMAND


def _close_parenthesis(c: Cursor, state: CommandList) -> bool:
    c.pos += 1
    _end_command(c, state, "")
    state.fresh = False
    if state.innermost == "pattern":
        reopen_block(c, state, "case")
    elif state.kinds["("]:
        while state.innermost != "(":
            close_block(c, state)
        close_block(c, state)
    elif state.closer:
        state.closed = True
        return False
    state.expects = Expects.COMMAND
    return True


def _next_word(c: Cursor, state: CommandList) -> None:
    start, state.fresh = c.pos, False
    if state.expects is Expects.ARGUMENT and state.command.declares and state.innermost != "pattern":
        found = _declared(c, state.command)
    else:
        assignable = state.expects is Expects.COMMAND or c.script.keywords
        found = word(c, assignable=assignable and state.innermost != "pattern")
    if c.pos == start:
        c.pos += 1
    elif c.peek() in ("<", ">") and is_descriptor(found, c.script):
        state.descriptor = (found.text, start)
    elif state.innermost == "pattern":
        if found.text == "esac":
            close_block(c, state)
            state.expects = Expects.COMMAND
    else:
        take(c, state, found)


def _declared(c: Cursor, command: SimpleCommand) -> Word:
    """Read an argument of `declare` and similar builtins, which may be an assignment."""
    name = _NAME.match(c.text, c.pos, c.end)
    variables = c.script.variables
    variables.enter()
    if name and declares_associative(without_prefix(command.words), name.group(), c.script):
        variables.prove(name.group())
    found = word(c, assignable=True, argument=True)
    variables.leave()
    return found
