"""Tell people and programs about a run: terminal output, events, the audit log, the progress file."""
