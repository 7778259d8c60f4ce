"""Export the events for logging hooks."""

from amplihack.sessions.observability import FOUNDATION_OBSERVABILITY_EVENTS, inject_additional_events

__all__ = ["FOUNDATION_OBSERVABILITY_EVENTS", "inject_additional_events"]
