"""Sessions on disk: a directory each, with a transcript, metadata and events."""
