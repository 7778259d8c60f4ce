"""Implement the command line: parse arguments, call `app` once, print text or JSON, return an exit code."""
