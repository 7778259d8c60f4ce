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
from amplihack.recipes.templates.bash.value_flow import ARGUMENTS, references

_GIVEN = "@given"  # stands for the arguments of such a script
_OTHER_LANGUAGE = pattern(r"\s*#!(?![^\n]*sh\b)")
_QUOTED = pattern(r"'([^']*)'")


def written_scripts(found: Script) -> list[SimpleCommand]:
    """Return the commands that write a file which the script then runs."""
    return [command for command in found.writers if not found.ran.keys().isdisjoint(command.outputs)]


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
