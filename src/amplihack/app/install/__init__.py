"""One function for each thing that a user can ask of what is installed."""
