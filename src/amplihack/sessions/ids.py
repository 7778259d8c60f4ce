"""Make ids of sub-sessions, `<parent span>-<own span>_<agent>`, that name the parent's span."""

from __future__ import annotations

import re
import secrets

from amplihack.patterns import pattern

_CHILD = pattern(r"[0-9a-f]{16}-([0-9a-f]{16})_.+")
_TRACE = pattern(r"[0-9a-f]{32}")
_NO_SPAN = "0" * 16
_LONGEST = 200  # bytes; a file system takes 255, and there are files beside it


def generate_sub_session_id(
    agent_name: str | None = None,
    parent_session_id: str | None = None,
    parent_trace_id: str | None = None,
) -> str:
    """Return a new id, safe as a file name on any system."""
    slug = re.sub(r"[^a-z0-9]+", "-", (agent_name or "").lower()).strip("-") or "agent"
    return f"{_parent_span(parent_session_id, parent_trace_id)}-{secrets.token_hex(8)}_{slug}"


def is_fit_id(session_id: str) -> bool:
    """Tell whether a session can be called so: its files are."""
    is_short = len(session_id.encode("utf-8", "surrogatepass")) <= _LONGEST
    return is_short and session_id[:1] not in ("", ".") and "/" not in session_id and "\0" not in session_id


def _parent_span(session_id: str | None, trace_id: str | None) -> str:
    if child := _CHILD.fullmatch(session_id or ""):
        return child[1]
    if _TRACE.fullmatch(trace := (trace_id or "").lower()):
        # The middle of a trace id serves as a span id, which has 16 digits.
        return trace[8:24]
    return _NO_SPAN
