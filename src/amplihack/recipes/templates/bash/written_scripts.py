"""Read the scripts that a script writes into files and then runs, as far as they are constant.

cat > count.sh <<'EOF' ... (( $1 )) ... EOF        bash count.sh {{v}}

No guard is put into a file: it holds what the author wrote. Where such a script calculates with what it gets,
no value that bash would expand is taken, and one that it runs on purpose is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.cursor import Script
from amplihack.recipes.templates.bash.file_names import ANY_FILE, ProgramFile, ProgramFiles, file_name
from amplihack.recipes.templates.bash.places import SimpleCommand, Word, assign
from amplihack.recipes.templates.bash.program_files import files_written, fills_in
from amplihack.recipes.templates.bash.program_tables import ENDINGS, LANGUAGES, RUN_BY_OTHERS, SHOWS
from amplihack.recipes.templates.bash.quoted_for_shells import quotes_all
from amplihack.recipes.templates.bash.unpacked_files import addresses
from amplihack.recipes.templates.bash.value_flow import ARGUMENTS, FILE, files_in, references
from amplihack.recipes.templates.bash.variable_attributes import INTEGERS
from amplihack.records import Record

_LONG = 4096  # a word of this size names no file
_COPIES = 8  # one after another
_GIVEN = "@given"  # stands for the arguments of such a script
_FIRST_LINE = pattern(r"""["'$\s]*#!\s*\S*?(?:/env\s+(?:-\S+\s+)*\S*?)?([A-Za-z]+)[0-9.]*(?=\s|\\|["']|\Z)""")
_QUOTED = pattern(r"'([^'\0\1]*)'")


class WrittenScript(Record, eq=False):
    """A command that writes a file which the script then runs."""

    command: SimpleCommand
    output: str
    file: ProgramFile
    language: str


def written_scripts(found: Script) -> list[WrittenScript]:
    """Return the commands that write files which the script then runs."""
    if not found.writers:
        return []
    files = ProgramFiles(found.started, found.file_names)
    run = {name.removeprefix(FILE) for name in found.flow.executed if FILE in name}
    return [each for command in found.writers for each in _written(command, files, run)]


def _written(command: SimpleCommand, files: ProgramFiles, run: set[str]) -> Iterator[WrittenScript]:
    for output in command.outputs:
        for file in files.written_as(output):
            yield WrittenScript(command, output, file, file.language or _language(command, output))
        if output in run or RUN_BY_OTHERS.search(output):
            yield WrittenScript(command, output, ProgramFile(output, "bash"), "bash")


def content(written: WrittenScript, found: Script) -> list[Word]:
    """Return the words of the command that may be a part of what it writes, and no constants there."""
    command, output = written.command, written.output
    changes = output == ANY_FILE and output in files_written(command)  # its words are names of files
    words = [word for word in command.words if file_name(word.plain) != output]
    if words and words[0].plain in ("curl", "wget"):
        words = addresses(words)
    if len(words) > 1 and words[0].plain == "printf" and quotes_all(words[1].text):
        words = words if found.variables.has_integers() else words[:2]
    return [*(() if changes else words), *command.strings]


def _language(command: SimpleCommand, output: str) -> str:
    """Return the language of a file that is started by its name: by its first line, or its ending."""
    for text in (
        *command.texts,
        *(body for _, body in command.bodies),
        *(word.text for word in command.words),
    ):
        if found := _FIRST_LINE.match(text):
            return LANGUAGES.get(found[1], found[1])
    return ENDINGS.get(output.rpartition(".")[2], "bash")


def follow_files(found: Script) -> None:
    """Note which files get the text of variables and of other files, and which variables get that of files.

    What is run in the end may have taken this way: `echo {{v}} > f; c=$(cat f); eval "$c"`.
    """
    flow = found.flow
    files = ProgramFiles(found.started, found.file_names)
    for command in found.copiers:
        target = file_name(command.words[-1].plain)
        flow.copy(FILE + target, _files(command))
        command.outputs.append(target)
    for command in found.writers:
        bodies = [body for _, body in command.bodies]
        for file in command.outputs:
            words = content(WrittenScript(command, file, ProgramFile(file, ""), ""), found)
            texts = (*(word.text for word in words), *bodies)
            flow.copy(FILE + file, _files(command))
            flow.copy(FILE + file, (name for text in texts for name in references(text)))
            if fills_in(command):
                flow.copy(FILE + file, flow.written)
    for command in (*found.copiers, *found.writers):
        run = (each for each in _written(command, files, set()) if each.language == "bash")
        flow.executed.update(FILE + each.output for each in run)
    flow.copy(FILE, found.read_files)
    for name in found.variables.from_input:
        flow.copy(name, (FILE,))


def _files(command: SimpleCommand) -> set[str]:
    shows = command.words and command.words[0].plain in SHOWS  # its words are no files
    words = (*(() if shows else command.words), *command.inputs)
    return {file for word in words if len(word.text) < _LONG for file in files_in(word.text)}


def settle_written(found: Script, read: Callable[[str], Script | None]) -> None:
    """Note what the written scripts run, and whether they calculate with what may be a value.

    Their arguments, their input and the files that they read take too many ways to follow: then every value
    of the script is held off.
    """
    _follow_copies(found)
    written = [each for each in written_scripts(found) if each.language == "bash"]
    codes: dict[str, None] = {}
    for each in written:
        command = each.command
        texts = [word.text for word in content(each, found)]
        for text in (*texts, *(body for _, body in command.bodies)):
            found.flow.executed.update(references(text))
        codes.update(dict.fromkeys(_constants(command)))
    for code in (*codes, "\n".join(codes)) if len(codes) > 1 else codes:
        if script := read(code):
            _note(found, script)
    if _GIVEN in found.flow.executed:
        for word in (word for each in written for word in each.file.arguments):
            assign(word.marks, _GIVEN)
            found.flow.assign(_GIVEN, word.text)


def _follow_copies(found: Script) -> None:
    """Count a file as run if its text goes to one that is: `cp f s.sh`, `cat f > s.sh`."""
    moves = [(file_name(command.words[-1].plain), command) for command in found.copiers]
    moves += ((output, command) for command in found.writers for output in command.outputs)
    known: set[str] = set()
    for _ in range(_COPIES):
        files = ProgramFiles(found.started, found.file_names)
        sources = [
            ProgramFile(source.removeprefix(FILE), "bash", file.arguments, is_sure=False)
            for output, command in moves
            for file in files.written_as(output)
            if file.language in ("", "bash")
            for source in _files(command)
            if source not in known
        ]
        if not sources:
            return
        known.update(FILE + file.name for file in sources)
        found.started += {file.name: file for file in sources}.values()


def _constants(command: SimpleCommand) -> Iterator[str]:
    yield from command.texts
    yield from (body.replace("\\$", "$") for _, body in command.bodies)
    quoted = [_QUOTED.findall(word.text) for word in (*command.words, *command.strings)]
    yield from ("\n".join(each) for each in quoted if each)
    if len(quoted) > 1:
        yield "\n".join(text for each in quoted for text in each)


def _note(found: Script, script: Script) -> None:
    """Note what one of the written scripts does with what it gets."""
    executed = script.flow.executed
    found.flow.executed |= {name for name in executed if name.isidentifier()}
    found.flow.executed |= {_GIVEN} if ARGUMENTS in executed else set()
    variables, flow = script.variables, script.flow
    suspects = flow.suspects(variables.from_input, opaque=variables.opaque)
    evaluated = (flow.evaluated | flow.unread).difference(INTEGERS)
    found.flow.lost |= flow.lost or flow.blind or any(name in suspects for name in evaluated)
    found.flow.lost |= variables.reads_integers()
