"""Providers: the models that a session can ask."""
