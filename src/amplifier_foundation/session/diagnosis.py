"""Find out what is wrong with a transcript, and repair it."""

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
