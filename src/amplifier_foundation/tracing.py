"""Make ids of sub-sessions."""

from amplihack.sessions.ids import generate_sub_session_id

__all__ = ["generate_sub_session_id"]
