"""Decode how fast agents may be asked: the fields below `rate_limiting` to a `RateLimit`."""

from __future__ import annotations

from typing import TypeVar

from amplihack.documents import Mapping
from amplihack.recipes.fields import BACKOFF, RATE_LIMITING
from amplihack.recipes.model import Backoff, RateLimit
from amplihack.recipes.reading import Report, read_table

_N = TypeVar("_N", int, float)


def read_rate_limit(node: Mapping, report: Report) -> RateLimit:
    """Return the limit, and report one that limits nothing."""
    fields = read_table(node, RATE_LIMITING, "rate_limiting: ", report)
    if fields.count("max_concurrent_llm") == 0:
        what = "rate_limiting: 'max_concurrent_llm: 0' limits nothing"
        fix = "remove it, or write how many agents may run at the same time"
        report.add("no-effect", what, fields.where("max_concurrent_llm"), fix, "warning")
    inner = fields.mapping("backoff")
    return RateLimit(
        fields.count("max_concurrent_llm") or None,
        fields.count("min_delay_ms") or 0,
        _backoff(inner, report) if inner else Backoff(),
    )


def _backoff(node: Mapping, report: Report) -> Backoff | None:
    fields = read_table(node, BACKOFF, "rate_limiting.backoff: ", report)
    if fields.flag("enabled") is False:
        return None
    own = Backoff()
    return Backoff(
        _or(fields.count("initial_delay_ms"), own.initial_delay_ms),
        _or(fields.count("max_delay_ms"), own.max_delay_ms),
        _or(fields.number("multiplier"), own.multiplier),
        _or(fields.count("reset_after_success"), own.reset_after_success),
    )


def _or(value: _N | None, default: _N) -> _N:
    """Return what the file says, be it 0, or else the default."""
    return default if value is None else value
