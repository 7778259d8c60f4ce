"""Decide whether a framework bundle may be staged, and what staging it means; no files, no clock."""
