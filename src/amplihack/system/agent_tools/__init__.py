"""Agents that answer for a step: `table.py` lists them, `choose_agent` makes one ready to be asked."""
