"""Prepare what the page of a run shows, as JSON: flat rows, their texts, and where to look first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from amplihack.recipes.run_rows import RunRow
from amplihack.recipes.run_story import FailedAttempt, RunStory
from amplihack.recipes.spending import usage_json
from amplihack.records import Record, field

LONGEST_TEXT = 200_000  # characters of one text, if all texts fit
LARGEST_PAGE = 32_000_000  # characters of all texts
_CUTS = (LONGEST_TEXT, 50_000, 10_000, 2_000, 400)  # the first that lets all texts fit is the limit of each
_MOST = 20  # rows of a list of the slowest or dearest
_FIRST = ("failed", "denied", "interrupted", "waiting", "running")


class PageTexts(Record, frozen=False):
    """The texts of a page, each once. Rows name them by their numbers."""

    numbers: dict[str, int] = field(default_factory=dict)

    def add(self, text: str) -> int | None:
        """Return the number of a text; None if there is none."""
        return self.numbers.setdefault(text, len(self.numbers)) if text else None

    def shown(self, room: int = LARGEST_PAGE) -> list[str | list[Any]]:
        """Return the texts; one that is too long as its beginning, the characters left out, and its end."""
        limit = _limit([len(text) for text in self.numbers], room)
        return [_cut(text, limit) for text in self.numbers]


def page_data(head: Mapping[str, Any], rows: Sequence[RunRow], story: RunStory) -> dict[str, Any]:
    """Return all that the page of a run shows. `head` is about the run as a whole; some of it may be long."""
    texts = PageTexts()
    long = {name: texts.add(head[name]) for name in ("error", "summary")}
    inputs = {name: texts.add(text) for name, text in head["inputs"].items()}
    flat = list(_flat(rows, None))
    shown = [_shown(row, parent, story, texts) for row, parent in flat]
    leaves = [number for number, (row, _) in enumerate(flat) if not row.children and row.result]
    return {
        **head,
        **long,
        "inputs": inputs,
        "lives": story.lives,
        "rows": shown,
        "texts": texts.shown(),
        "first": first_to_see([row for row, _ in flat]),
        "slow": _most(leaves, lambda number: _seconds(flat[number][0])),
        "dear": _dear(leaves, [row for row, _ in flat]),
    }


def first_to_see(rows: Sequence[RunRow]) -> int | None:
    """Return the row that a person looks for: what made the run fail, else what was cut off or waits."""
    for status in _FIRST:
        found = (
            number
            for number, row in enumerate(rows)
            if row.status == status and not row.forgiven and not _explained(row, status)
        )
        if (number := next(found, None)) is not None:
            return number
    return None


def _explained(row: RunRow, status: str) -> bool:
    """Tell whether something inside the row says more than the row."""
    return any(each.status == status and not each.forgiven for each in row.children)


def _flat(rows: Iterable[RunRow], parent: int | None, start: int = 0) -> Iterator[tuple[RunRow, int | None]]:
    """Yield every row before those inside it, with the number of the row around it."""
    number = start
    for row in rows:
        yield row, parent
        own, number = number, number + 1
        for inner in _flat(row.children, own, number):
            yield inner
            number += 1


def _shown(row: RunRow, parent: int | None, story: RunStory, texts: PageTexts) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": row.name,
        "kind": row.kind,
        "status": row.status,
        "id": row.identity,
        "in": parent,
        "from": row.started,
        "to": row.ended,
        "forgiven": row.forgiven,
        "written": texts.add(row.written),
        **_of_step(row, story, texts),
    }
    if row.gate is not None:
        gate = row.gate
        told |= {"prompts": [texts.add(gate.prompt)], "by": gate.by, "said": gate.message, "due": gate.due}
    return {key: value for key, value in told.items() if value or (value == 0 and value is not False)}


def _of_step(row: RunRow, story: RunStory, texts: PageTexts) -> dict[str, Any]:
    result = row.result
    if result is None:
        return {}
    title, entered = story.titles.get(row.identity, ""), story.entered.get(row.identity)
    unfinished = row.status in ("running", "interrupted")
    return {
        "title": title if title != row.name else "",
        "recipe": entered.recipe if entered else "",
        "seconds": _seconds(row),
        "attempts": result.attempts if result.attempts > 1 else None,
        "failures": [_attempt(each, texts) for each in story.failed_attempts.get(row.identity, ())],
        "exit": result.exit_code,
        "error": None if unfinished else texts.add(result.error),
        "output": texts.add(result.output),
        "stderr": texts.add(result.stderr),
        "prompts": [texts.add(each) for each in story.prompts.get(row.identity, ()) if each],
        "warnings": list(result.warnings),
        "why": result.skip_reason,
        "usage": usage_json(result.usage),
        "cost": result.cost_usd,
    }


def _attempt(failed: FailedAttempt, texts: PageTexts) -> dict[str, Any]:
    why = texts.add(failed.reason)
    return {"attempt": failed.attempt, "at": failed.at, "why": why, "delay": failed.delay}


def _seconds(row: RunRow) -> float | None:
    if row.result is not None and row.result.duration is not None:
        return row.result.duration
    if row.ended is None or row.started is None:
        return None
    return max(0.0, row.ended - row.started)  # the clock may have been set back meanwhile


def _dear(leaves: Iterable[int], rows: Sequence[RunRow]) -> list[int]:
    """Return the rows that cost most: in money, or in tokens where no agent told what they cost."""
    own = [number for number in leaves if rows[number].result]
    by_cost = _most(own, lambda number: _cost(rows[number]))
    return by_cost or _most(own, lambda number: _tokens(rows[number]))


def _cost(row: RunRow) -> float | None:
    return row.result.cost_usd if row.result else None


def _tokens(row: RunRow) -> float | None:
    usage = row.result.usage if row.result else None
    return (usage.input_tokens or 0) + (usage.output_tokens or 0) if usage else None


def _most(numbers: Iterable[int], amount: Any) -> list[int]:
    found = [(value, number) for number in numbers if (value := amount(number))]
    return [number for _, number in sorted(found, key=lambda each: (-each[0], each[1]))[:_MOST]]


def _limit(lengths: Sequence[int], room: int) -> int:
    """Return how long a text may be, so that all of them fit."""
    fits = (limit for limit in _CUTS if sum(min(length, limit) for length in lengths) <= room)
    return next(fits, _CUTS[-1])


def _cut(text: str, limit: int) -> str | list[Any]:
    if len(text) <= limit:
        return text
    head = limit // 4
    tail = limit - head
    return [text[:head], len(text) - limit, text[-tail:]]
