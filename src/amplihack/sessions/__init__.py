"""What can be decided about a session from its messages, events and metadata alone."""
