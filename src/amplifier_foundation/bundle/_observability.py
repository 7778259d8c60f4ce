"""Events that logging hooks are told to listen for."""

from amplihack.sessions.observability import FOUNDATION_OBSERVABILITY_EVENTS, inject_additional_events

__all__ = ["FOUNDATION_OBSERVABILITY_EVENTS", "inject_additional_events"]
