"""The command line: arguments in, one call to `app`, text or JSON and an exit code out."""
