"""Sessions as the store leaves them on the disk, written by hand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

CALL = {"id": "c1", "tool": "bash", "arguments": {"command": "ls -a"}}
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "what is here?"},
    {"role": "assistant", "content": [{"type": "text", "text": "I look."}], "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "name": "bash", "content": "a.txt\nb.txt\nc.txt"},
    {"role": "assistant", "content": "Three files."},
    {"role": "user", "content": "thanks"},
    {"role": "assistant", "content": "You are welcome."},
]


def write_session(
    home: Path,
    session_id: str,
    messages: list[dict[str, Any]] | None = None,
    *,
    used: int = 1,
    at: float | None = None,
    **metadata: Any,
) -> Path:
    """Write a session to `.amplihack/sessions` of a user's home; `at` is when it was used last."""
    directory = home / ".amplihack" / "sessions" / session_id
    directory.mkdir(parents=True, mode=0o700)
    talk = TALK if messages is None else messages
    (directory / "transcript.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in talk))
    usage = {"input_tokens": 10, "output_tokens": 5, "cost_usd": "0.0125"}
    event = {"event": "llm:response", "data": {"model": "model-1", "usage": usage}}
    (directory / "events.jsonl").write_text(f"{json.dumps(event)}\n" * used)
    known = {
        "session_id": session_id,
        "created": "2026-01-02T03:04:05+00:00",
        "updated": "2026-01-02T03:05:05+00:00",
        "bundle": "foundation",
        "working_dir": str(home),
        **metadata,
    }
    (directory / "metadata.json").write_text(json.dumps(known))
    for file in directory.iterdir():
        os.utime(file, (at or 1_700_000_000, at or 1_700_000_000))
    return directory
