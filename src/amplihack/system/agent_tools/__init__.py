"""Run the agents that answer steps: `table.py` lists them, `choose_agent` prepares one."""
