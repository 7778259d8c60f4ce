"""Report scripts that are wrong by bash's own grammar."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplihack.errors import Location, Problem, Severity, TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.model import Bash, Text
from amplihack.recipes.templates.shell import is_read_at_once, render_shell
from amplihack.records import Record

if TYPE_CHECKING:
    from amplihack.recipes.check.bash_port import AskBash, SyntaxFault

# Bash reads and runs one command after another: what ends a script early, or changes how the rest is read,
# can keep it from an error further down.
_ENDS_EARLY = pattern(
    r"\b(?:exit|exec|return|kill|eval|source|shopt|alias|trap|enable|posix|noexec)\b|\bset\s+-\w*n"
    r"|(?:^|[\s;&|({!])(?:\.[ \t]|[\"']?[$`])"
)
_MOST_PREFIXES = 60
_FIX = "correct the script; `bash -n` on it says the same"


class _Script(Record):
    """A command as bash will read it, and how bad it is if bash cannot."""

    command: Text
    source: str
    blame: Severity


def syntax_faults(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find scripts that bash cannot read. What would be rendered into them makes no difference to that."""
    scripts = list(_scripts(subject)) if subject.bash else []
    if not scripts or subject.bash is None:
        return
    faults = subject.bash([script.source for script in scripts])
    for number, fault in faults.items():
        script = scripts[number]
        certain = (
            fault.certain and script.blame == "error" and _is_reached(script.source, fault, subject.bash)
        )
        what = f"bash cannot read this script: {fault.what}" if fault.certain else f"bash says: {fault.what}"
        # Bash notices behind the last line what was never closed: what stands there is another step.
        where = script.command.line(min(fault.line, script.command.text.rstrip("\n").count("\n") + 1))
        other = _other_template(script.command)
        where, fix = other or (where, _FIX)
        yield finding("bash-syntax", "error" if certain else "warning", what, where, fix)


def _other_template(command: Text) -> tuple[Location, str] | None:
    """Return the place of a template of another tool, which is often what bash cannot read, and its fix."""
    if "{{" not in command.text and "<%" not in command.text:
        return None
    from amplihack.recipes.foreign_braces import find_erb, unsupported  # deferred: hardly any script has it

    for found in (*unsupported(command.text), *find_erb(command.text)):
        if "(" in found.text or "<" in found.text:
            what, instead = found.explained()
            return command.at(found.start), f"{what}; {instead}"
    return None


def _scripts(subject: CheckedRecipe) -> Iterator[_Script]:
    for step in subject.steps:
        if isinstance(step.action, Bash):
            blame = "warning" if step.action.any_exit else subject.blame(step)
            yield from _rendered(step.action.command, blame)
    hooks = subject.recipe.hooks
    for hook in (hooks.pre_step, hooks.post_step, hooks.on_error):
        if hook:
            yield from _rendered(hook, "warning")


def _rendered(command: Text, blame: Severity) -> Iterator[_Script]:
    try:
        if is_read_at_once(command.text) or _is_plain(command.text) or "\0" in command.text:
            return
        source = render_shell(command.text, {}, token=lambda: "amplihack").source
    except TemplateError:
        return  # a place where no value is safe: the stage before says so
    yield _Script(command, source, blame)


def _is_plain(script: str) -> bool:
    from amplihack.recipes.check.plain_scripts import is_plain  # deferred: what was read at once is plain

    return is_plain(script)


def _is_reached(source: str, fault: SyntaxFault, bash: AskBash) -> bool:
    """Tell whether nothing before the fault can end the script early.

    A word such as `exit` counts only in a command that bash can read, and so run, before the fault.
    """
    lines = source.split("\n")
    first = next((n for n, line in enumerate(lines[: fault.line - 1]) if _ENDS_EARLY.search(line)), None)
    if first is None:
        return True
    prefixes = ["\n".join(lines[:end]) for end in range(first + 1, fault.line)]
    if len(prefixes) > _MOST_PREFIXES:
        return False
    wrong = bash(prefixes)
    return all(number in wrong for number in range(len(prefixes)))
