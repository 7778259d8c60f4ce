"""Decode how often a failed step is tried again: the fields below `retry` to a `Retry`."""

from __future__ import annotations

from amplihack.documents import Mapping
from amplihack.recipes.fields import RETRY
from amplihack.recipes.model import Retry
from amplihack.recipes.reading import Report, read_table


def retry_of(node: Mapping, owner: str, report: Report) -> Retry:
    """Return what a step says of further attempts."""
    inner = read_table(node, RETRY, f"{owner}retry: ", report)
    stated, longest = inner.number("initial_delay"), inner.number("max_delay")
    first = 5.0 if stated is None else stated
    if longest is not None and stated is not None and longest < stated:
        what = f"{owner}retry: 'initial_delay' is longer than 'max_delay', which counts"
        fix = "make `max_delay` the longer one, or remove one of the two"
        report.add("contradiction", what, inner.where("initial_delay"), fix, "warning")
    return Retry(
        inner.count("max_attempts") or inner.word("max_attempts") or 3,
        inner.word("backoff") != "linear",
        first,
        max(first, 300.0) if longest is None else longest,
        inner.word("on") == "transient",
    )
