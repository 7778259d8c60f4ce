"""Find values in the `env` of a step that bash would run: because of their name, or of what the script does.

env: {BASH_ENV: "{{v}}"}        bash expands it when it starts
env: {N: "{{v}}"}               and the script says (( N > 3 )) or eval "$N"
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, Literal, TypeAlias

from amplihack.errors import TemplateError
from amplihack.recipes.placeholders import Placeholder, find_placeholders, line_of, show
from amplihack.recipes.templates.bash.places import Refusal
from amplihack.recipes.templates.bash.programs import variable_language
from amplihack.recipes.templates.bash.read import Uses, uses_of
from amplihack.recipes.templates.bash.variable_attributes import EXPANDED_VARIABLES, git_key
from amplihack.recipes.templates.program_words import may_run_code
from amplihack.recipes.templates.run_variables import run_variables
from amplihack.recipes.templates.scripts import may_run
from amplihack.recipes.templates.variables import VariableIndex
from amplihack.recipes.values import KeyPath, Value, to_text

_FUNCTION = "BASH_FUNC_"  # bash makes a function of what such a variable holds
Danger: TypeAlias = Literal["function", "expanded", "program", "library", "loaded", "evaluated"]

_DANGERS: Final[Mapping[str, Danger]] = {"bash": "program", "native": "library"}
_REASONS: Final[Mapping[Danger, tuple[str, str]]] = {
    "function": (
        "bash makes a function of this variable, and would run the value as a part of it",
        "write the function in the script",
    ),
    "expanded": (
        "bash expands this variable, and would run commands hidden in the value",
        "give it a text without $ and backticks",
    ),
    "evaluated": (Refusal.EVALUATED.reason, Refusal.EVALUATED.fix),
}


def check_env(script: str, env: Mapping[str, Value], scope: Mapping[str, Value]) -> tuple[str, ...]:
    """Return warnings about values that the author has run. Raises TemplateError for others that would."""
    carriers = {name for key in (*scope, *env) for name in (key, key.upper())}
    warnings: dict[str, None] = {}
    uses = cache(lambda: uses_of(script))
    for name, placeholder in _every_placeholder(env):
        # Most values can do nothing, and the script is not read for them.
        harmless = not may_run(to_text(placeholder.value(scope)), carriers)
        evaluated = None if harmless else _used(name, uses())
        for danger in (_named(name, placeholder, env), _run(name, script), evaluated):
            if danger in ("program", "library"):
                warnings[_told(name, placeholder, danger)] = None
            elif danger == "function" or (danger and danger != "loaded" and not harmless):
                raise _refused(name, placeholder, danger)
    return tuple(warnings)


def check_mentioned(script: str, names: Iterable[str], scope: Mapping[str, Value]) -> None:
    """Raise TemplateError if a script evaluates one of these variables of ours where no guard can stop it."""
    try:
        uses = uses_of(script)
    except TemplateError:  # bash will say what is wrong with it
        return
    index = VariableIndex()
    index.learn(scope)
    carriers = {name for key in scope for name in (key, key.upper())}
    for name in sorted(names):
        if uses.is_unguarded(name) and may_run(to_text(index.find(scope, name)), carriers):
            what = f"${name}: {Refusal.EVALUATED.reason}"
            raise TemplateError(what, line=line_of(script, script.find(name)), fix=Refusal.EVALUATED.fix)


def is_refused(danger: Danger, value: str | None, scope: Mapping[str, Value]) -> bool:
    """Tell whether a run refuses a value that is known before."""
    if value is None or danger in ("program", "library", "loaded"):
        return False
    return danger == "function" or may_run(value, {name for key in scope for name in (key, key.upper())})


def env_dangers(script: str, env: Mapping[str, Value]) -> Iterator[tuple[Danger, str, KeyPath]]:
    """Yield what could happen to values in `env`, whatever they are: what, the variable and the path."""
    uses = cache(lambda: uses_of(script))
    for name, placeholder in _every_placeholder(env):
        for danger in (_named(name, placeholder, env), _run(name, script), _used(name, uses())):
            if danger is not None:
                yield danger, name, placeholder.path


def _named(name: str, placeholder: Placeholder, env: Mapping[str, Value]) -> Danger | None:
    """Return what bash or a program does with a variable because of its name."""
    if name.startswith(_FUNCTION):
        return "function"
    if name in EXPANDED_VARIABLES:
        return "expanded"
    keys = [to_text(env[key])] if (key := git_key(name)) in env else []
    text = env[name]
    language = variable_language(name, keys, text[: placeholder.start] if isinstance(text, str) else "")
    return _DANGERS.get(language, "loaded") if language else None


def _run(name: str, script: str) -> Danger | None:
    """Tell whether the script hands the variable to a shell."""
    if name not in script or not may_run_code(script):
        return None
    found = run_variables(script, frozenset((name,)))
    return "program" if any(each.language == "bash" for each in found) else None


def _used(name: str, uses: Uses) -> Danger | None:
    """Tell whether the script calculates with a variable, or takes it for a name."""
    return "evaluated" if name not in uses.executed and uses.evaluates(name) else None


def _every_placeholder(env: Mapping[str, Value]) -> list[tuple[str, Placeholder]]:
    return [(name, each) for name, text in env.items() for each in _placeholders(text)]


def _placeholders(value: Value) -> Iterator[Placeholder]:
    """Yield the placeholders of a value, also of one inside a list or a map."""
    if isinstance(value, str):
        yield from find_placeholders(value)
    elif isinstance(value, Mapping):
        yield from (found for each in value.values() for found in _placeholders(each))
    elif isinstance(value, Sequence):
        yield from (found for each in value for found in _placeholders(each))


def _told(name: str, placeholder: Placeholder, danger: Danger) -> str:
    if danger == "library":
        return f"the value of {show(placeholder.path)} decides what code programs load, through ${name}"
    return f"the value of {show(placeholder.path)} is run as a bash program, through ${name}"


def _refused(name: str, placeholder: Placeholder, danger: Danger) -> TemplateError:
    reason, fix = _REASONS[danger]
    return TemplateError(f"{{{{{show(placeholder.path)}}}}} in env {name}: {reason}", line=1, fix=fix)
