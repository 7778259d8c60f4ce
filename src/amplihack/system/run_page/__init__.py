"""The page of a run: markup, style and script, and what puts a run into them."""
