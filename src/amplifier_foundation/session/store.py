"""Read and write the files of one session."""

from amplihack.system.transcripts.store import (
    EVENTS_FILENAME,
    METADATA_FILENAME,
    TRANSCRIPT_FILENAME,
    backup,
    load_metadata,
    load_transcript,
    load_transcript_with_lines,
    read_jsonl,
    write_jsonl,
    write_metadata,
    write_transcript,
)

__all__ = [
    "EVENTS_FILENAME",
    "METADATA_FILENAME",
    "TRANSCRIPT_FILENAME",
    "backup",
    "load_metadata",
    "load_transcript",
    "load_transcript_with_lines",
    "read_jsonl",
    "write_jsonl",
    "write_metadata",
    "write_transcript",
]
