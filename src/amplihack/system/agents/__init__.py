"""Agents as command-line tools: `choose_agent` finds the one to use, and it answers."""
