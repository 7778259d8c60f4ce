"""Define the inputs that a recipe declares: what they may be, and what is wrong with those given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from amplihack.documents.suggest import closest
from amplihack.errors import Problem
from amplihack.recipes.model import Input, Recipe
from amplihack.recipes.values import MISSING, Missing, Value, from_json, is_number, to_json, to_text
from amplihack.records import replace

_FLAGS: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_INSISTING_RULES: Final = frozenset({"nonempty", "path", "git_repo"})
CONTEXT_RULES: Final = (*sorted(_INSISTING_RULES), "optional")  # what `context_validation` can ask for


# What a recipe expects -------------------------------------------------------------------------------


def rule_meant(rule: str) -> str:
    """Return what to write for a rule of `context_validation` that nobody knows."""
    meant = closest(rule, CONTEXT_RULES)
    return f"did you mean '{meant}'?" if meant else f"use one of {', '.join(CONTEXT_RULES)}"


def is_blank(value: Value) -> bool:
    """Tell whether an input counts as missing."""
    return value is None or (isinstance(value, str) and not value.strip())


def required_names(recipe: Recipe) -> frozenset[str]:
    """Return the names that a recipe requires and has no value for."""
    elsewhere = {name for name, declared in recipe.declared.items() if declared.env}
    expected = map(variable_of, recipe.inputs - elsewhere)
    without = frozenset(name for name in expected if is_blank(recipe.context.get(name)))
    return insisted_names(recipe) | without


def variable_of(name: str) -> str:
    """Return the variable that holds an input: recipes describe members of a map too, as `setup.path`."""
    return name.partition(".")[0]


def insisted_names(recipe: Recipe) -> frozenset[str]:
    """Return the names without which a recipe does not begin, and which have no value."""
    insisted = {name for name, rule in recipe.context_validation.items() if rule.strip() in _INSISTING_RULES}
    required = {name for name, declared in recipe.declared.items() if declared.required}
    elsewhere = {name for name, declared in recipe.declared.items() if declared.env}
    named = (insisted | required) - elsewhere
    return frozenset(name for name in named if is_blank(recipe.context.get(name)))


def declared_names(recipe: Recipe) -> frozenset[str]:
    """Return the names that a recipe has from the start, or expects from its caller."""
    return frozenset({*recipe.context, *map(variable_of, recipe.inputs), *recipe.context_validation})


# Types ------------------------------------------------------------------------------------------------


def _text(value: Value) -> Value | Missing:
    return to_text(value) if isinstance(value, str | int | float) else MISSING


def _number(value: Value) -> Value | Missing:
    value = _read(value)
    return value if is_number(value) else MISSING


def _integer(value: Value) -> Value | Missing:
    value = _read(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else MISSING


def _flag(value: Value) -> Value | Missing:
    if isinstance(value, str):
        return _FLAGS.get(value.strip().lower(), MISSING)
    return value if isinstance(value, bool) else MISSING


def _list(value: Value) -> Value | Missing:
    value = _read(value)
    return value if isinstance(value, Sequence) and not isinstance(value, str) else MISSING


def _map(value: Value) -> Value | Missing:
    value = _read(value)
    return value if isinstance(value, Mapping) else MISSING


def _read(value: Value) -> Value:
    """Return what a text spells, since a variable of the environment or `--set-str` is always a text."""
    if not isinstance(value, str):
        return value
    try:
        return from_json(value)
    except ValueError:
        return value


_Reader: TypeAlias = "Callable[[Value], Value | Missing]"
_TYPES: Final[dict[str, tuple[str, _Reader]]] = {
    **dict.fromkeys(("string", "str", "text"), ("a text", _text)),
    **dict.fromkeys(("number", "float"), ("a number", _number)),
    **dict.fromkeys(("integer", "int"), ("a whole number", _integer)),
    **dict.fromkeys(("boolean", "bool", "flag"), ("true or false", _flag)),
    **dict.fromkeys(("list", "array"), ("a list", _list)),
    **dict.fromkeys(("object", "map", "dict", "mapping"), ("a map", _map)),
    "any": ("anything", lambda value: value),
}
TYPES: Final = tuple(_TYPES)


# What was given ---------------------------------------------------------------------------------------


def conform(value: Value, declared: Input) -> tuple[Value, str]:
    """Return the value as its declared type, and what is wrong with it; empty if nothing is."""
    if value is None:
        return value, ""
    if declared.type in _TYPES:
        expected, read = _TYPES[declared.type]
        found = read(value)
        if isinstance(found, Missing):
            return value, f"should be {expected}"
        value = found
    if declared.choices and to_text(value) not in map(to_text, declared.choices):
        return value, f"should be one of {', '.join(map(to_text, declared.choices))}"
    if declared.bounds:
        from amplihack.recipes.input_bounds import broken  # deferred: most inputs have none

        return value, broken(value, declared.bounds)
    return value, ""


def conformed(recipe: Recipe, values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the variables with each input as its declared type, where it is of that type."""
    typed = {name: conform(values[name], each)[0] for name, each in recipe.declared.items() if name in values}
    return {**values, **typed}


def input_problems(recipe: Recipe, values: Mapping[str, Value]) -> Iterator[Problem]:
    """Yield what is wrong with the inputs of a recipe; `values` are all variables that it starts with."""
    for name, declared in recipe.declared.items():
        value, secret = values.get(name), name in recipe.secrets
        # The source line of a secret may hold its default, so it is not shown.
        where = replace(declared.where, text="") if secret else declared.where
        if is_blank(value) and declared.required:
            what = f"the input '{name}' is required, and nobody gives it"
            yield Problem(what, where, _give(name, declared), "error", "missing-input")
        if is_blank(value) and (declared.required or is_blank(recipe.context.get(name))):
            continue  # where there is no default, an empty text says that nothing is given
        _, wrong = conform(value, declared)
        if wrong:
            what = f"the input '{name}' {wrong}" + ("" if secret else f", not {to_json(value)}")
            yield Problem(what, where, _give(name, declared, value), "error", "wrong-input")


_SPELT: Final = {"a list": '["a", "b"]', "a map": '{"a": 1}'}  # what has to be quoted for the shell


def _give(name: str, declared: Input, given: Value = None) -> str:
    about = f" ({declared.description})" if declared.description else ""
    is_word = isinstance(given, str) and len(given) > 2  # a shorter one is near to everything
    meant = closest(to_text(given), possible_values(declared)) if is_word else None
    spelt = _SPELT.get(_TYPES[declared.type][0] if declared.type in _TYPES else "", "")
    example = f"'{name}={spelt}'" if spelt and not meant else f"{name}={meant or '…'}"
    return f"--set {example}{about}" + (f", or set ${declared.env}" if declared.env else "")


def from_environment(recipe: Recipe, environment: Mapping[str, str]) -> Recipe:
    """Return the recipe with the defaults that its inputs take from the environment."""
    found = {
        name: conform(environment[declared.env], declared)[0]
        for name, declared in recipe.declared.items()
        if declared.env and environment.get(declared.env)
    }
    if not found:
        return recipe
    return replace(recipe, context={**recipe.context, **found}, inputs=recipe.inputs - found.keys())


# For people -------------------------------------------------------------------------------------------


def input_names(recipe: Recipe) -> list[str]:
    """Return the inputs and variables that a caller may set, as the recipe lists them."""
    return list(dict.fromkeys((*recipe.declared, *recipe.context, *sorted(recipe.inputs))))


def possible_values(declared: Input) -> tuple[str, ...]:
    """Return the values that an input may have, as they are typed; nothing if these cannot be listed."""
    is_flag = declared.type in _TYPES and _TYPES[declared.type][1] is _flag
    return tuple(map(to_text, declared.choices)) or (("true", "false") if is_flag else ())


def list_inputs(recipe: Recipe) -> Iterator[str]:
    """Yield one line for each input of a recipe, with its description and its default.

    Where a recipe declares its inputs, its other variables are only named: they are its own affair. Where it
    declares none, all its variables are inputs.
    """
    names = list(recipe.declared) or input_names(recipe)
    width = max(map(len, names), default=0)
    for name in names:
        declared = recipe.declared.get(name, Input())
        facts = ", ".join(_facts(recipe, name, declared))
        words = (" ".join(declared.description.split()), f"({facts})" if facts else "")
        yield f"  {name:<{width}}  {'  '.join(filter(None, words))}".rstrip()
    if others := [name for name in input_names(recipe) if name not in names]:
        from textwrap import wrap  # deferred: for help alone

        yield "variables of its own, which can be set as well:"
        yield from wrap(", ".join(others), 96, initial_indent="  ", subsequent_indent="  ")


def _facts(recipe: Recipe, name: str, declared: Input) -> Iterator[str]:
    if declared.type:
        yield declared.type
    if declared.choices:
        yield f"one of {', '.join(map(to_text, declared.choices))}"
    if declared.bounds:
        from amplihack.recipes.input_bounds import in_words  # deferred: most inputs have none

        yield from in_words(declared.bounds)
    default = recipe.context.get(name)
    if declared.required and is_blank(default):
        yield "required"
    if declared.env:
        yield f"from ${declared.env}"
    if not is_blank(default):
        yield "default: ***" if name in recipe.secrets else f"default: {to_json(default)}"
