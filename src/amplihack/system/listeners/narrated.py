"""Tell a recorded run in the words of live progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import get_args

from amplihack.recipes.events import Event, IterationFinished, LinesPrinted, Recorded, StepFinished
from amplihack.recipes.results import StepResult
from amplihack.recipes.run_parts import HOLDERS
from amplihack.system.listeners.wording import Narrator

_TOLD = get_args(Event)


def narrated(events: Iterable[tuple[float, Recorded]]) -> Iterator[str]:
    """Yield lines for events with their times, as `recipe run --verbose` prints them."""
    now = [0.0]
    narrator, heard = Narrator(lambda: now[0], verbose=True), set[str]()
    for at, event in events:
        now[0] = at
        if isinstance(event, LinesPrinted):
            heard.update(() if event.of_hook else (event.identity,))
        elif isinstance(event, StepFinished | IterationFinished) and event.result.identity not in heard:
            yield from _printed(event.result, narrator)
            heard.add(event.result.identity.rpartition("[")[0])  # a loop's result is that of its last round
        if isinstance(event, _TOLD):
            yield from map(str, narrator.tell(event))


def _printed(result: StepResult, narrator: Narrator) -> Iterator[str]:
    """Yield what a quick step printed: nobody has noted its lines, but its result has them."""
    if result.kind in HOLDERS or result.skip_reason:  # a summary, or nothing at all
        return
    for stream, text in (("stdout", result.output), ("stderr", result.stderr)):
        lines = LinesPrinted(result.identity, stream, tuple(text.splitlines()))
        yield from map(str, narrator.tell(lines))
