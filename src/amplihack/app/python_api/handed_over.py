"""Take what a program hands over: variables and settings. What no run can use is refused before it begins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from os import PathLike, fspath

from amplihack.app.run_request import RunRequest
from amplihack.errors import UsageError
from amplihack.recipes.values import DEEPEST, Value

_MOST_BITS = 10_000  # of a number; Python itself refuses to write one of some more
_VALUES = "give a text, a number, true or false, None, a list or a dict with texts as keys"


def given_variables(context: Mapping[str, object] | None) -> dict[str, Value]:
    """Return the variables as values of a recipe; paths become texts. Raises UsageError for what is none."""
    if context is None:
        return {}
    if not isinstance(context, Mapping):
        what = f"context is of the type {_kind(context)}"
        raise UsageError(what, fix="give variables by their names: {'name': 'value'}")
    return {_key(name, "context"): _value(each, f"context: {name}", 0) for name, each in context.items()}


def _value(given: object, where: str, depth: int) -> Value:
    if isinstance(given, int) and given.bit_length() > _MOST_BITS:
        raise UsageError(f"{where} is a number of more than {_MOST_BITS} bits", fix="give it as a text")
    if given is None or isinstance(given, str | int):
        return given
    if isinstance(given, float) and math.isfinite(given):
        return given
    if depth > DEEPEST:
        raise UsageError(f"{where} is nested more than {DEEPEST} levels deep", fix="put less into each other")
    if isinstance(given, Mapping):
        return {_key(name, where): _value(each, f"{where}.{name}", depth + 1) for name, each in given.items()}
    if isinstance(given, Sequence) and not isinstance(given, bytes | bytearray | memoryview):
        return [_value(each, f"{where}[{index}]", depth + 1) for index, each in enumerate(given)]
    if isinstance(given, PathLike) and isinstance(text := fspath(given), str):
        return text
    shown = given if isinstance(given, float) else f"of the type {_kind(given)}"
    raise UsageError(f"{where} is {shown}, which is no value of a recipe", fix=_VALUES)


def _key(name: object, where: str) -> str:
    if not isinstance(name, str):
        raise UsageError(f"{where} has the key {name!r}, which is no text", fix=f"write {str(name)!r}")
    return name


def refuse_unusable(request: RunRequest) -> None:
    """Raise UsageError for a setting that no run could have."""
    if isinstance(request.adapter, Mapping):
        raise UsageError("the adapter is a mapping", fix="give variables by their name: context={…}")
    if isinstance(request.adapter, str):
        raise UsageError("the adapter is a text", fix=f"name an agent by agent={request.adapter!r}")
    if request.store is not None and not isinstance(getattr(request.store, "root", None), PathLike):
        raise UsageError("the store is no RunStore of a Path", fix="give store=RunStore(Path('directory'))")
    for name in ("include_tags", "exclude_tags"):
        if not isinstance(tags := getattr(request, name), AbstractSet):
            words = [tags] if isinstance(tags, str) else list(tags)
            raise UsageError(f"{name} is no set", fix=f"write {name}={set(words)!r}")
    for name in ("max_parallel", "max_agents"):
        if not isinstance(number := getattr(request, name), int) or number < 1:
            raise UsageError(f"{name} cannot be {number!r}", fix="give a whole number, 1 or more")
    limit = request.step_timeout
    if limit is not None and not (isinstance(limit, int | float) and 0 <= limit < math.inf):
        raise UsageError(f"step_timeout cannot be {limit!r}", fix="give a number of seconds, or None")


def _kind(given: object) -> str:
    return type(given).__name__
