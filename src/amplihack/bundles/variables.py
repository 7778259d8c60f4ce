"""Fill `${NAME}` and `${NAME:default}` in a mount plan from a given environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from amplihack.bundles.merge import module_key
from amplihack.bundles.mount_plan import MountPlan
from amplihack.errors import Problem
from amplihack.patterns import pattern
from amplihack.records import Record

_REFERENCE = pattern(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::([^}]*))?\}")
# What stays as it is outside of `config`: prose, in which ${…} is just text, and where modules come from.
_KEPT = frozenset({"instruction", "instructions", "description", "source"})


class MissingVariable(Record):
    """A variable that is not set and has no default, and the value that wants it."""

    path: str
    name: str

    @property
    def problem(self) -> Problem:
        return Problem(
            f"{self.path} needs the environment variable {self.name}, which is not set",
            fix=f"set {self.name}, or write ${{{self.name}:a default}}",
            code="missing-variable",
        )


class Expanded(Record):
    plan: MountPlan
    missing: tuple[MissingVariable, ...] = ()


def expand_plan(plan: MountPlan, environment: Mapping[str, str]) -> Expanded:
    """Fill the variables of a plan; one that is missing becomes empty and is reported."""
    missing: list[MissingVariable] = []
    whole: MountPlan = _expand(plan, environment, (), missing)
    return Expanded(whole, tuple(missing))


def _expand(
    value: Any, environment: Mapping[str, str], path: tuple[str, ...], missing: list[MissingVariable]
) -> Any:
    if isinstance(value, str):
        return expand_text(value, environment, ".".join(path), missing) if "${" in value else value
    if isinstance(value, dict):
        kept = () if "config" in path else _KEPT
        return {
            key: item if key in kept else _expand(item, environment, (*path, str(key)), missing)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            _expand(item, environment, (*path, _name(item, index)), missing)
            for index, item in enumerate(value)
        ]
    return value


def _name(item: Any, index: int) -> str:
    """Call modules by their names, so that a message can be understood."""
    named = module_key(item) if isinstance(item, dict) else None
    return str(named or index)


def expand_text(text: str, environment: Mapping[str, str], path: str, missing: list[MissingVariable]) -> str:
    """Fill the variables of a text; `$${` is a literal `${`."""

    def fill(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if name is None:
            return "${"
        if name in environment:
            return environment[name]
        if default is None:
            missing.append(MissingVariable(path, name))
        return default or ""

    return _REFERENCE.sub(fill, text)
