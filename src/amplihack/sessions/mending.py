"""Make a conversation whole at the end of a turn: every call has its result, and somebody has answered."""

from __future__ import annotations

from collections.abc import Sequence

from amplihack.sessions.calls import Message, results_of
from amplihack.sessions.diagnosis import diagnose_transcript, repair_transcript
from amplihack.sessions.messages import closing_message


def mended(messages: Sequence[Message]) -> list[Message] | None:
    """Return the conversation as every provider takes it; None if it is so already."""
    diagnosis = diagnose_transcript(messages)
    whole = list(messages)
    if diagnosis["status"] != "healthy":
        whole = repair_transcript(messages, diagnosis)
    if whole and results_of(whole[-1]):
        whole = [*whole, closing_message()]
    return None if whole == list(messages) else whole
