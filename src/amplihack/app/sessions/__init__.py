"""Prepare bundles and run sessions, as a program or a user asks for it."""
