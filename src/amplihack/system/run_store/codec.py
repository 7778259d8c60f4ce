"""Turn events into rows and rows into events, with large texts in files.

In JSON, a large text is `{"\\u0000file": <name>}`. A map of the user's own that looks like it is wrapped in
`{"\\u0000map": …}`, so that every value comes back as it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from amplihack.quick_json import decoded, encoding
from amplihack.recipes.events import (
    IterationFinished,
    Recorded,
    RunFinished,
    StepFinished,
    StepStarted,
    event_of,
    fields_json,
)
from amplihack.records import replace
from amplihack.system.run_store.values import LARGE, StoreError, ValueFiles

_FILE, _MAP = "\0file", "\0map"
_LARGE_ROW = 16 * LARGE


# The stored form of an event: its kind, and JSON or the name of the file that holds the JSON.
StoredEvent: TypeAlias = tuple[str, str | None, str | None]


def encode(event: Recorded, files: ValueFiles) -> StoredEvent:
    """Return the row of an event. Large texts are in their files when this returns."""
    kind, shown = type(event).__name__, fields_json(_alone(event))
    if not _holds_large(event, shown):
        text = dump(shown)
        if len(text) <= LARGE:  # only one that holds NUL may need the longer way
            return kind, dump(_wrapped(shown)) if "\\u0000" in text else text, None
    text = dump(_outside(shown, files))
    return (kind, text, None) if len(text) <= _LARGE_ROW else (kind, None, files.put(text))


def decode(row: StoredEvent, files: ValueFiles) -> Recorded:
    """Return the event of a row. Raises StoreError."""
    kind, data, file = row
    try:
        text = files.get(file) if file is not None else data or "{}"
        shown = decoded(text)
        if "\\u0000" in text:
            shown = _inside(shown, files)
        return event_of(kind, shown)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(
            f"a record of the run cannot be read: {kind}: {error}",
            fix="it may have been written by a newer amplihack, or be damaged",
        ) from error


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


# Makes ASCII JSON, which holds every text, also half of a surrogate pair. One for all events: making an
# encoder takes as long as encoding most of them.
dump = encoding(json.JSONEncoder(separators=(",", ":"), default=_plain))


def _alone(event: Recorded) -> Recorded:
    """Return the event without the results inside its result: each has a record of its own."""
    if type(event) is StepFinished or type(event) is IterationFinished:
        return replace(event, result=replace(event.result, children=())) if event.result.children else event
    return RunFinished(replace(event.result, step_results=())) if type(event) is RunFinished else event


def _holds_large(event: Recorded, shown: dict[str, Any]) -> bool:
    if type(event) is StepFinished or type(event) is IterationFinished:
        result = event.result
        return len(result.output) + len(result.stderr) + len(result.error) > LARGE
    return type(event) is not StepStarted and _is_large(shown, levels=3)


def _is_large(shown: dict[str, Any], levels: int) -> bool:
    """Tell whether a large text is near the top, as results are: encoding it would be in vain."""
    for each in shown.values():
        if type(each) is str:
            if len(each) > LARGE:
                return True
        elif type(each) is dict and each and levels > 1 and _is_large(each, levels - 1):
            return True
    return False


def _wrapped(value: Any) -> Any:
    if isinstance(value, Mapping):
        inner = {key: _wrapped(each) for key, each in value.items()}
        return {_MAP: inner} if _looks_like_ours(inner) else inner
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_wrapped(each) for each in value]
    return value


def _outside(value: Any, files: ValueFiles) -> Any:
    if isinstance(value, str):
        return {_FILE: files.put(value)} if len(value) > LARGE else value
    if isinstance(value, Mapping):
        inner = {key: _outside(each, files) for key, each in value.items()}
        return {_MAP: inner} if _looks_like_ours(value) else inner
    if isinstance(value, Sequence):
        return [_outside(each, files) for each in value]
    return value


def _inside(value: Any, files: ValueFiles) -> Any:
    if isinstance(value, dict):
        if len(value) == 1:
            ((key, inner),) = value.items()
            if key == _FILE:
                return files.get(inner)
            if key == _MAP:
                return {name: _inside(each, files) for name, each in inner.items()}
        return {key: _inside(each, files) for key, each in value.items()}
    return [_inside(each, files) for each in value] if isinstance(value, list) else value


def _looks_like_ours(value: Mapping[str, Any]) -> bool:
    return len(value) == 1 and next(iter(value)) in (_FILE, _MAP)
