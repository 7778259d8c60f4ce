"""Those who listen to a run: people, other programs, the audit log, the progress file."""
