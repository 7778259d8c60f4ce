"""Hooks: what listens to a session, and may have a say."""
