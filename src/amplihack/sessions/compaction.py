"""Make the view of a conversation that fits into a budget of tokens. The conversation itself stays whole.

Messages are taken in units: a call of tools and its results are one, so that none is ever without the other.
System text, the first and the last thing that the user said, and the newest unit are always kept. Each level
loses more than the one before; the first that fits is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from amplihack.records import Record
from amplihack.sessions.calls import (
    REMINDER,
    Message,
    begins_turn,
    blocks_of,
    calls_of,
    is_real_user_message,
    results_of,
)
from amplihack.sessions.tokens import estimate_tokens, message_tokens

Unit: TypeAlias = tuple[Message, ...]

_SHORT = 400  # characters that are left of a tool's result
_LARGEST_SHARE = 4  # one result may take a quarter of the budget
_LEAST = 200  # characters that are left of anything


class _Level(Record):
    whole: int  # so many of the newest units keep their results whole
    kept: float  # this share of the units is kept


_LEVELS = (
    _Level(8, 1.0),
    _Level(3, 1.0),
    _Level(3, 0.75),
    _Level(3, 0.5),
    _Level(3, 0.25),
    _Level(2, 0.1),
    _Level(1, 0.0),
)


class View(Record):
    """What to send. Level 0 is everything as it is; `fits` is False if the rest is still too large."""

    messages: list[Message]
    level: int
    fits: bool


def compact(messages: Sequence[Message], target: int) -> View:
    """Return the first view that is not larger than `target` tokens, by our estimate."""
    cut = [_with_results_cut(message, target // _LARGEST_SHARE) for message in messages]
    if estimate_tokens(cut) <= target:
        return View(cut, 1, fits=True)
    units = list(units_of(cut))
    view: list[Message] = cut
    for number, level in enumerate(_LEVELS, 2):
        view = list(_at(level, units))
        if estimate_tokens(view) <= target:
            return View(view, number, fits=True)
    view = _squeezed(view, target)
    return View(view, len(_LEVELS) + 2, fits=estimate_tokens(view) <= target)


def units_of(messages: Sequence[Message]) -> Iterator[Unit]:
    """Yield the messages in units. A unit of calls goes on until each is answered, or the next turn."""
    unit: list[Message] = []
    open_calls: set[str] = set()
    for message in messages:
        if unit and (not open_calls or begins_turn(message)):
            yield tuple(unit)
            unit, open_calls = [], set()
        unit.append(message)
        open_calls |= {call.id for call in calls_of(message)}
        open_calls -= set(results_of(message))
    if unit:
        yield tuple(unit)


def _at(level: _Level, units: Sequence[Unit]) -> Iterator[Message]:
    protected = _protected(units)
    others = [index for index in range(len(units)) if index not in protected]
    kept = protected | set(others[len(others) - round(len(others) * level.kept) :])
    whole_from = len(units) - level.whole
    left_out = sum(len(unit) for index, unit in enumerate(units) if index not in kept)
    for index, unit in enumerate(units):
        if index not in kept:
            if left_out:
                yield _note(left_out)
                left_out = 0
            continue
        for message in unit:
            yield message if index >= whole_from else _with_results_cut(message, _SHORT // 4)


def _protected(units: Sequence[Unit]) -> set[int]:
    said = [index for index, unit in enumerate(units) if is_real_user_message(unit[0])]
    system = {index for index, unit in enumerate(units) if unit[0].get("role") in ("system", "developer")}
    return system | set(said[:1] + said[-1:]) | {len(units) - 1}


def _note(count: int) -> Message:
    text = f"{count} earlier messages are left out here, to stay within the context window."
    return {"role": "user", "content": f"{REMINDER}>{text}</system-reminder>"}


def _with_results_cut(message: Message, tokens: int) -> Message:
    """Return the message with the text of tool results cut to about this many tokens."""
    if not results_of(message) or message_tokens(message) <= tokens:
        return message
    most = max(_LEAST, tokens * 4)
    if message.get("role") == "tool":
        return {**message, "content": _cut_content(message.get("content"), most)}
    blocks = [_cut_block(block, most) for block in blocks_of(message)]
    return {**message, "content": blocks}


def _cut_content(content: object, most: int) -> object:
    if isinstance(content, str):
        return shortened(content, most)
    if isinstance(content, list):
        return [_cut_part(part, most) for part in content]
    return content


def _cut_part(part: object, most: int) -> object:
    if not isinstance(part, dict):
        return part
    if part.get("type") == "image":
        return {"type": "text", "text": "[an image was left out here, to stay within the context window]"}
    return {**part, "text": shortened(part["text"], most)} if isinstance(part.get("text"), str) else part


def _cut_block(block: Message, most: int) -> Message:
    if block.get("type") != "tool_result":
        return block
    return {
        **block,
        **{key: _cut_content(block[key], most) for key in ("content", "output") if key in block},
    }


def shortened(text: str, most: int) -> str:
    """Return the beginning and the end of a text, with a word about what is missing between them."""
    if len(text) <= most:
        return text
    head = most * 2 // 3
    tail = max(0, most - head)
    missing = len(text) - head - tail
    return f"{text[:head]}\n[… {missing} characters left out …]\n{text[len(text) - tail :]}"


def _squeezed(messages: Sequence[Message], target: int) -> list[Message]:
    """Cut results, and in the end all texts but what the user said last, until it fits or nothing is left."""
    last_said = max((i for i, each in enumerate(messages) if is_real_user_message(each)), default=-1)
    view = list(messages)
    for most in (_SHORT, _LEAST):
        view = [_with_results_cut(message, most // 4) for message in view]
        if estimate_tokens(view) <= target:
            return view
    for most in (8_000, 2_000, _LEAST):
        view = [
            message if index == last_said else _cut_all(message, most) for index, message in enumerate(view)
        ]
        if estimate_tokens(view) <= target:
            break
    return view


def _cut_all(message: Message, most: int) -> Message:
    if message.get("role") in ("system", "developer"):
        return message
    return {**message, "content": _cut_content(message.get("content"), most)}
