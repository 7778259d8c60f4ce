"""Read the scripts that a script writes into files and then runs, as far as they are constant.

cat > count.sh <<'EOF' ... (( $1 )) ... EOF        bash count.sh {{v}}

No guard is put into a file: it holds what the author wrote. A value that such a script would evaluate is not
given to it, and one that it runs on purpose is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.cursor import Script
from amplihack.recipes.templates.bash.file_names import ProgramFile, ProgramFiles, file_name
from amplihack.recipes.templates.bash.places import SimpleCommand, assign
from amplihack.recipes.templates.bash.program_files import fills_in
from amplihack.recipes.templates.bash.program_tables import ENDINGS, LANGUAGES, RUN_BY_OTHERS, SHOWS
from amplihack.recipes.templates.bash.value_flow import ARGUMENTS, FILE, files_in, references
from amplihack.records import Record

_LONG = 4096  # a word of this size names no file
_GIVEN = "@given"  # stands for the arguments of such a script
_FIRST_LINE = pattern(r"""["'$\s]*#!\s*\S*?(?:/env\s+(?:-\S+\s+)*\S*?)?([A-Za-z]+)[0-9.]*(?=\s|\\|["']|\Z)""")
_QUOTED = pattern(r"'([^']*)'")


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
        texts = [word.text for word in (*command.words, *command.strings)]
        texts += (body for _, body in command.bodies)
        for file in command.outputs:
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
    """Note what the written scripts do with variables and arguments, and what is mixed into their text."""
    for each in written_scripts(found):
        if each.language != "bash":
            continue
        command = each.command
        texts = [word.text for word in (*command.words, *command.strings)]
        for text in (*texts, *(body for _, body in command.bodies)):
            found.flow.executed.update(references(text))
        for code in _constants(command):
            if script := read(code):
                _settle(found, script, each.file)


def _constants(command: SimpleCommand) -> Iterator[str]:
    yield from command.texts
    yield from (body.replace("\\$", "$") for _, body in command.bodies)
    words = (*command.words[1:], *command.strings)
    yield from (single[1] for word in words if (single := _QUOTED.fullmatch(word.text)))


def _settle(found: Script, script: Script, file: ProgramFile) -> None:
    for word in file.arguments:
        assign(word.marks, _GIVEN)
        found.flow.assign(_GIVEN, word.text)
    for names, noted in (
        (script.flow.evaluated, found.flow.unread),
        (script.flow.executed, found.flow.executed),
    ):
        noted |= {name for name in names if name.isidentifier()}
        if ARGUMENTS in names:
            noted.add(_GIVEN)
    found.variables.integers |= script.variables.integers
