"""Find out what is wrong with a transcript, and repair it.

A round is one or more assistant messages that call tools, then the results. Providers refuse a call whose
result is missing or is in another round, a result that nobody asked for or that comes twice, and results that
no assistant message follows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Literal, TypedDict

from amplihack.records import Record
from amplihack.sessions.calls import (
    Message,
    ToolCall,
    begins_turn,
    calls_of,
    repeated_calls,
    results_of,
    without_repeated_calls,
    without_results,
)
from amplihack.sessions.messages import closing_message, made_up_result

_LOST = json.dumps({"error": "The result of this tool call was lost: the session was interrupted"})


class IncompleteTurn(TypedDict):
    after_line: int
    after_index: int
    missing: str


class DiagnosisResult(TypedDict):
    status: Literal["healthy", "broken"]
    failure_modes: list[str]
    orphaned_tool_ids: list[str]
    misplaced_tool_ids: list[str]
    incomplete_turns: list[IncompleteTurn]
    recommended_action: Literal["none", "repair"]


class ToolSite(TypedDict):
    line_num: int
    entry_index: int
    tool_name: str


class ToolIndex(TypedDict):
    tool_uses: dict[str, ToolSite]
    tool_results: dict[str, ToolSite]


class _Round(Record):
    """The round of each entry, and the results after which the assistant never spoke.

    `at_end` is the last result of a round that is still open: a session may go on from there.
    """

    of: tuple[int, ...]
    unanswered: tuple[int, ...]
    at_end: int | None = None


def build_tool_index(entries: Sequence[Message]) -> ToolIndex:
    """Return the position of each tool call and result by id; of several, the first."""
    index: ToolIndex = {"tool_uses": {}, "tool_results": {}}
    for position, entry in enumerate(entries):
        for call in calls_of(entry):
            index["tool_uses"].setdefault(call.id, _site(entry, position, call.name))
        for answered in results_of(entry):
            name = entry.get("name") or ""
            index["tool_results"].setdefault(answered, _site(entry, position, str(name)))
    return index


def diagnose_transcript(entries: Sequence[Message]) -> DiagnosisResult:
    """Tell whether a provider would accept these messages, and if not, why."""
    rounds = _rounds(entries)
    answered = {found for entry in entries for found in results_of(entry)}
    lost = _unmet(entries, rounds)
    unmet = [call.id for calls in lost.values() for call in calls]
    orphaned = list(dict.fromkeys(call for call in unmet if call not in answered))
    strays = [
        found
        for index, places in _strays(entries, rounds).items()
        for found in sorted({results_of(entries[index])[place] for place in places})
    ]
    repeated = [found for entry in entries for found in sorted(repeated_calls(entry))]
    misplaced = list(dict.fromkeys((*(call for call in unmet if call in answered), *strays, *repeated)))
    incomplete = [_incomplete(entries, index) for index in rounds.unanswered]
    if rounds.at_end is not None and _is_cut_short(rounds, lost):
        incomplete.append(_incomplete(entries, rounds.at_end))
    found = {
        "missing_tool_results": orphaned,
        "ordering_violation": misplaced,
        "incomplete_assistant_turn": incomplete,
    }
    modes = [mode for mode, cases in found.items() if cases]
    return {
        "status": "broken" if modes else "healthy",
        "failure_modes": modes,
        "orphaned_tool_ids": orphaned,
        "misplaced_tool_ids": misplaced,
        "incomplete_turns": incomplete,
        "recommended_action": "repair" if modes else "none",
    }


def repair_transcript(entries: Sequence[Message], diagnosis: DiagnosisResult) -> list[Message]:
    """Return healthy messages: missing results are made up, misplaced ones left out."""
    if diagnosis["status"] == "healthy":
        return _plain(entries)
    rounds = _rounds(entries)
    unmet, strays = _unmet(entries, rounds), _strays(entries, rounds)
    cleaned = [
        (rounds.of[index], without_results(without_repeated_calls(entry), strays.get(index, ())))
        for index, entry in enumerate(_plain(entries))
    ]
    missing: dict[int, dict[str, ToolCall]] = {}
    for index, calls in unmet.items():
        missing.setdefault(rounds.of[index], {}).update((call.id, call) for call in calls)
    repaired: list[Message] = []
    for number, parts in groupby(cleaned, key=itemgetter(0)):
        made_up = [made_up_result(call, _LOST) for call in missing.get(number, {}).values()]
        repaired += _whole_round([part for _, part in parts if part is not None], made_up)
    closed = _closed(repaired)
    is_open = _is_cut_short(rounds, unmet) and _rounds(closed).at_end is not None
    return [*closed, closing_message()] if is_open else closed


def _whole_round(messages: list[Message], made_up: Sequence[Message]) -> list[Message]:
    """Return a round with a result for each call: the made-up ones, those that came, and other words last."""
    called = [index for index, each in enumerate(messages) if calls_of(each)]
    if not called:
        return messages
    calls, others = messages[: called[-1] + 1], messages[called[-1] + 1 :]
    # Words that stood beside a misplaced result would end the round before its other results.
    return [*calls, *made_up, *sorted(others, key=lambda each: not results_of(each))]


def rewind_transcript(entries: Sequence[Message], diagnosis: DiagnosisResult) -> list[Message]:
    """Return the messages before the turn in which the problem starts; none if that is the first."""
    if diagnosis["status"] == "healthy":
        return _plain(entries)
    rounds = _rounds(entries)
    repeated = (index for index, entry in enumerate(entries) if repeated_calls(entry))
    wrong = (*_unmet(entries, rounds), *_strays(entries, rounds), *rounds.unanswered, *repeated)
    earliest = min(wrong, default=len(entries))
    starts = [index for index, entry in enumerate(entries[:earliest]) if begins_turn(entry)]
    return _plain(entries[: starts[-1]] if starts else [])


def _rounds(entries: Sequence[Message]) -> _Round:
    numbers: list[int] = []
    unanswered: list[int] = []
    number, last_result = 0, None
    for index, entry in enumerate(entries):
        if results_of(entry):
            last_result = index
        elif entry.get("role") == "assistant":
            if last_result is not None or not calls_of(entry):
                number, last_result = number + 1, None
        elif begins_turn(entry):
            if last_result is not None:
                unanswered.append(last_result)
            number, last_result = number + 1, None
        numbers.append(number)
    return _Round(tuple(numbers), tuple(unanswered), last_result)


def _unmet(entries: Sequence[Message], rounds: _Round) -> dict[int, list[ToolCall]]:
    """Return the calls without a result in their own round, by the index of the calling message."""
    met = {(rounds.of[index], found) for index, entry in enumerate(entries) for found in results_of(entry)}
    unmet: dict[int, list[ToolCall]] = {}
    for index, entry in enumerate(entries):
        calls = [call for call in calls_of(entry) if (rounds.of[index], call.id) not in met]
        if calls:
            unmet[index] = calls
    return unmet


def _is_cut_short(rounds: _Round, unmet: dict[int, list[ToolCall]]) -> bool:
    """Tell whether the last round ends with calls that were never answered, so that it cannot go on."""
    return any(rounds.of[index] == rounds.of[-1] for index in unmet)


def _strays(entries: Sequence[Message], rounds: _Round) -> dict[int, set[int]]:
    """Return which results nobody in their round waits for, by the index of their message."""
    waiting = {(rounds.of[index], call.id) for index, entry in enumerate(entries) for call in calls_of(entry)}
    strays: dict[int, set[int]] = {}
    for index, entry in enumerate(entries):
        for place, result in enumerate(results_of(entry)):
            if (rounds.of[index], result) in waiting:
                waiting.remove((rounds.of[index], result))
            else:
                strays.setdefault(index, set()).add(place)
    return strays


def _closed(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with an answer wherever the user's next message follows results."""
    unanswered = set(_rounds(messages).unanswered)
    closed: list[Message] = []
    for index, message in enumerate(messages):
        closed.append(message)
        if index in unanswered:
            closed.append(closing_message())
    return closed


def _incomplete(entries: Sequence[Message], index: int) -> IncompleteTurn:
    line = _line(entries[index], index)
    return {"after_line": line, "after_index": index, "missing": "assistant_response"}


def _site(entry: Message, index: int, name: str) -> ToolSite:
    return {"line_num": _line(entry, index), "entry_index": index, "tool_name": name}


def _line(entry: Message, index: int) -> int:
    line = entry.get("line_num")
    return line if isinstance(line, int) else index + 1


def _plain(entries: Sequence[Message]) -> list[Message]:
    return [{key: value for key, value in entry.items() if key != "line_num"} for entry in entries]
