"""One function per thing a user can ask for; the only place that wires the rooms together."""
