"""Prepare values for JSON."""

from amplihack.sessions.serialise import sanitize_for_json, sanitize_message

__all__ = ["sanitize_for_json", "sanitize_message"]
