"""Replace the placeholders of a bash script by references to variables, whatever quotes are around them.

A script without placeholders is not read, unless it may calculate with a variable of the run. Then the reader
of bash, which is slow to import, is not loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from itertools import islice
from typing import Any

from amplihack.patterns import pattern
from amplihack.recipes.templates.scripts import APART, PREPARED, Hazard, Kind, ShellScript, is_number
from amplihack.recipes.templates.variables import may_be_own, own_variables
from amplihack.recipes.values import Value, to_text
from amplihack.records import replace

__all__ = [
    "APART",
    "Hazard",
    "Kind",
    "ShellScript",
    "check_env",
    "hazards",
    "is_number",
    "is_read_at_once",
    "prepare_scripts",
    "render_shell",
    "why_stopped",
]


# Where bash may evaluate a variable, and the names that may be variables of a run.
_MAY_EVALUATE = pattern(
    r"\(\(|\[|>&|-(?:v|\w*[in]\b)|\$\{!|@P\}|\$\{[\w@*]+:[^-=?+]"
    r"|\b(?:let|mapfile|readarray|declare|typeset|local|export|readonly|unset|read|getopts|wait|printf|test)\b"
    r"|(?:\A|[;&|(`{!\n]|\b(?:do|then|else)\b)\s*\$"  # a command whose name only the run knows
    r"|\bsource\b|(?<![^\s;&|(])\.\s"  # what another file declares is not known
    r"|\b(?:BASHPID|HISTCMD|LINENO|OPTIND|S?RANDOM|SECONDS)\b"
)
_JOINED = pattern(r"""\\\n|['"\\]""")  # what may stand in the middle of a name
_STOPPED = pattern(r"(\d+): AMPLIHACK_STOP: (.+) is ((?:not|in) .+)")


def render_shell(
    template: str, scope: Mapping[str, Value], *, token: Callable[[], str], env: Collection[str] = ()
) -> ShellScript:
    """Return the script to run, with references for values. `token` makes fresh words for delimiters.

    `env` are further variables that hold values. Raises TemplateError for a value in a place where it cannot
    be safe.
    """
    if "{{" not in template:
        script = ShellScript(_guarded(template, scope, env), {})
    else:
        script = _rendering().render(template, scope, token)
    may_name = "$" in template or "printenv" in template
    if may_name and (warnings := tuple(_told(template, scope, env))):
        return replace(script, warnings=(*script.warnings, *warnings))
    return script


def _told(template: str, scope: Mapping[str, Value], env: Collection[str]) -> Iterable[str]:
    """Return warnings about variables of the run that the script names itself and hands to a shell."""
    if not may_be_own(template):
        return ()
    from amplihack.recipes.templates.program_words import may_run_code  # deferred: few scripts name one

    names = own_variables(template, scope).difference(env) if may_run_code(template) else None
    if not names:
        return ()
    from amplihack.recipes.templates.run_variables import warnings_about

    return warnings_about(template, names)


def prepare_scripts(templates: Iterable[str]) -> None:
    """Work out beforehand what scripts say by themselves.

    Many at once take a fraction of what they take between processes, which fill the caches of the processor.
    """
    with_values = [each for each in islice(templates, PREPARED) if "{{" in each]
    if len(with_values) > 1:
        for each in with_values:
            _rendering().prepare(each)


def _guarded(script: str, scope: Mapping[str, Value], env: Collection[str]) -> str:
    """Return a script without placeholders that runs no value it finds in its environment.

    Raises TemplateError for a value that reaches a place into which no guard can be put.
    """
    if not _MAY_EVALUATE.search(_JOINED.sub("", script)):
        return script
    ours = own_variables(script, scope)
    if not env and not ours:
        return script
    from amplihack.recipes.templates.bash.read import guard_script

    if ours:
        from amplihack.recipes.templates.env_values import check_mentioned

        check_mentioned(script, ours, scope)
    return guard_script(script)


def why_stopped(stderr: str) -> str:
    """Return why a script was stopped before bash would evaluate a text and could run commands hidden in it.

    Empty if it was not.
    """
    found = _STOPPED.search(stderr) if "AMPLIHACK_STOP" in stderr else None
    if found is None:
        return ""
    line, name, what = found.groups()
    shown = name if " " in name else f"${name}"
    return f"line {line}: bash evaluates {shown} there, and it is {what}"


def check_env(script: str, env: Mapping[str, Value], scope: Mapping[str, Value]) -> tuple[str, ...]:
    """Return warnings about values in `env` that the script runs on purpose.

    Raises TemplateError for values that bash would run although nobody meant it.
    """
    if not any("{{" in to_text(value) for value in env.values()):
        return ()
    from amplihack.recipes.templates.env_values import check_env as check

    return check(script, env, scope)


def is_read_at_once(template: str) -> bool:
    """Tell whether a script is of the plainest kind, which bash can certainly read.

    One without placeholders is not read for this. Raises TemplateError if its quoting never closes.
    """
    if "{{" not in template:
        return False
    plainest: bool = _rendering().is_read_at_once(template)
    return plainest


def hazards(template: str) -> tuple[Hazard, ...]:
    """Return what the check should tell the author, without knowing any value."""
    if "{{" not in template:
        return ()
    found: tuple[Hazard, ...] = _rendering().find_hazards(template)
    return found


@cache
def _rendering() -> Any:
    """Return the module that reads scripts with placeholders. Importing it anew for each takes longer."""
    from amplihack.recipes.templates import rendering  # deferred: not every recipe has them

    return rendering
