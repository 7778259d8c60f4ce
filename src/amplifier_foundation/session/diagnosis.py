"""What is wrong with a transcript, and how to mend it."""

from amplihack.sessions.diagnosis import (
    DiagnosisResult,
    IncompleteTurn,
    build_tool_index,
    diagnose_transcript,
    repair_transcript,
    rewind_transcript,
)

__all__ = [
    "DiagnosisResult",
    "IncompleteTurn",
    "build_tool_index",
    "diagnose_transcript",
    "repair_transcript",
    "rewind_transcript",
]
