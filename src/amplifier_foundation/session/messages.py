"""Cut a conversation into turns."""

from amplihack.sessions.messages import (
    add_synthetic_tool_results,
    count_turns,
    find_orphaned_tool_calls,
    get_turn_boundaries,
    get_turn_summary,
    is_real_user_message,
    slice_to_turn,
)

__all__ = [
    "add_synthetic_tool_results",
    "count_turns",
    "find_orphaned_tool_calls",
    "get_turn_boundaries",
    "get_turn_summary",
    "is_real_user_message",
    "slice_to_turn",
]
