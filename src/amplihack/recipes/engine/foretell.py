"""Tell what a step would do, as far as it is known before the run: its command, its prompt or its call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from amplihack.errors import TemplateError
from amplihack.recipes.engine.foreknowledge import Knowledge
from amplihack.recipes.model import Action, Agent, Bash, Body, SubRecipe, Text
from amplihack.recipes.placeholders import find_variables, show
from amplihack.recipes.templates.preview import preview_shell, preview_text
from amplihack.recipes.templates.shell import render_shell
from amplihack.recipes.values import MISSING, KeyPath, Value, lookup, to_json
from amplihack.records import Record


class Foretold(Record):
    """What a step would do; the other fields are those of a forecast."""

    text: str = ""
    open: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    fails: str = ""


def foretell(action: Action, known: Knowledge) -> Foretold:
    """Return the action of a step with the values that are known."""
    match action:
        case Body():
            return Foretold()
        case Bash(command=command):
            text = preview_shell(command.text, known.show)
            return _told(text, command.text, known, _failure(command.text, known))
        case Agent(prompt=prompt):
            return foretell_text(prompt, known)
        case SubRecipe(recipe=recipe, context=context):
            name = preview_text(recipe.text, known.show).strip()
            passed = [f"{key}: {to_json(_passed(value, known))}" for key, value in context.items()]
            return _told("\n".join([name, *passed]), f"{recipe.text}\n{to_json(dict(context))}", known)
        case _:
            assert_never(action)


def foretell_text(text: Text, known: Knowledge) -> Foretold:
    """Return a prompt with the values that are known."""
    return _told(preview_text(text.text, known.show), text.text, known)


def _passed(value: Value, known: Knowledge) -> Value:
    """Return what a call hands over, with placeholders for what is not known."""
    return _mapped(value, lambda text: _passed_text(text, known))


def _passed_text(text: str, known: Knowledge) -> Value:
    if known.open_in(text):
        return known.mask(preview_text(text, known.show))
    return _mapped(known.render(text)[0], known.mask)  # which may be a list or a map


def _mapped(value: Value, change: Callable[[str], Value]) -> Value:
    """Return the value with every text in it changed."""
    match value:
        case str():
            return change(value)
        case Mapping():
            return {key: _mapped(item, change) for key, item in value.items()}
        case Sequence():
            return [_mapped(item, change) for item in value]
        case _:
            return value


def _told(text: str, template: str, known: Knowledge, fails: str = "") -> Foretold:
    named = {found.path: None for found in find_variables(template)}
    missing = [path for path in named if not known.is_open(path) and _is_missing(path, known)]
    return Foretold(text.strip(), tuple(known.open_in(template)), tuple(map(show, missing)), fails)


def _is_missing(path: KeyPath, known: Knowledge) -> bool:
    return lookup(known.view, path) is MISSING


def _failure(script: str, known: Knowledge) -> str:
    """Return why bash could not be given these values; empty if it can, or if some are not known yet."""
    if known.open_in(script):
        return ""
    try:
        render_shell(script, known.view, token=lambda: "amplihack")
    except TemplateError as error:
        return error.what
    return ""
