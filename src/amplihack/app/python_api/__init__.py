"""Recipes from Python: what `import amplihack` offers, and nothing else in this package uses."""
