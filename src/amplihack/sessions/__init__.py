"""Decide about sessions from their messages, events and metadata alone.

At present only the facade `amplifier_foundation` uses this.
"""
