"""Decide what can be decided about a session from its messages, events and metadata alone.

So far only the facade `amplifier_foundation` asks for it.
"""
