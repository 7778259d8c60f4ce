"""Read the scripts that a script writes into files and then runs, as far as they are constant.

cat > count.sh <<'EOF' ... (( $1 )) ... EOF        bash count.sh {{v}}

No guard is put into a file: it holds what the author wrote. A value that such a script would evaluate is not
given to it, and one that it runs on purpose is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.cursor import Script
from amplihack.recipes.templates.bash.places import SimpleCommand, assign
from amplihack.recipes.templates.bash.program_tables import SHOWS
from amplihack.recipes.templates.bash.value_flow import ARGUMENTS, FILE, files_in, references

_LONG = 4096  # a word of this size names no file
_GIVEN = "@given"  # stands for the arguments of such a script
_OTHER_LANGUAGE = pattern(r"\s*#!(?![^\n]*sh\b)")
_QUOTED = pattern(r"'([^']*)'")


def written_scripts(found: Script) -> list[SimpleCommand]:
    """Return the commands that write a file which the script then runs."""
    run = found.ran.keys() | {name.removeprefix(FILE) for name in found.flow.executed if FILE in name}
    return [command for command in found.writers if not run.isdisjoint(command.outputs)]


def follow_files(found: Script) -> None:
    """Note which files get the text of variables and of other files, and which variables get that of files.

    What is run in the end may have taken this way: `echo {{v}} > f; c=$(cat f); eval "$c"`.
    """
    flow = found.flow
    for command in found.copiers:
        flow.copy(FILE + command.words[-1].plain.removeprefix("./"), _files(command))
    for command in found.writers:
        texts = [word.text for word in (*command.words, *command.strings)]
        texts += (body for _, body in command.bodies)
        for file in command.outputs:
            flow.copy(FILE + file, _files(command))
            flow.copy(FILE + file, (name for text in texts for name in references(text)))
    flow.copy(FILE, found.read_files)
    for name in found.variables.from_input:
        flow.copy(name, (FILE,))
    flow.executed.update(FILE + file for file in found.ran)


def _files(command: SimpleCommand) -> set[str]:
    shows = command.words and command.words[0].plain in SHOWS  # its words are no files
    words = (*(() if shows else command.words), *command.inputs)
    return {file for word in words if len(word.text) < _LONG for file in files_in(word.text)}


def settle_written(found: Script, read: Callable[[str], Script | None]) -> None:
    """Note what the written scripts do with variables and arguments, and what is mixed into their text."""
    for command in written_scripts(found):
        texts = [word.text for word in (*command.words, *command.strings)]
        for text in (*texts, *(body for _, body in command.bodies)):
            found.flow.executed.update(references(text))
        for code in _constants(command):
            if script := read(code):
                _settle(found, script, command)


def _constants(command: SimpleCommand) -> Iterator[str]:
    texts = [*command.texts, *(body.replace("\\$", "$") for _, body in command.bodies)]
    words = (*command.words[1:], *command.strings)
    texts += [single[1] for word in words if (single := _QUOTED.fullmatch(word.text))]
    yield from (text for text in texts if not _OTHER_LANGUAGE.match(text))


def _settle(found: Script, script: Script, command: SimpleCommand) -> None:
    arguments = [word for file in command.outputs for word in found.ran.get(file, ())]
    for word in arguments:
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
