"""Implement what `import amplihack` offers. Nothing else in this package uses it."""
