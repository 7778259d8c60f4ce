"""Answer each thing that a user can ask of what is installed with one function."""
