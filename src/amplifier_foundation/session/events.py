"""Read and cut event logs."""

from amplihack.system.transcripts.event_files import (
    count_events,
    get_event_summary,
    get_last_timestamp_for_turn,
    slice_events_for_fork,
    slice_events_to_timestamp,
)

__all__ = [
    "count_events",
    "get_event_summary",
    "get_last_timestamp_for_turn",
    "slice_events_for_fork",
    "slice_events_to_timestamp",
]
