"""Store sessions on disk: one directory each, with a transcript, metadata and events."""
