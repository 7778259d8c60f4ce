"""Bring the modules of a bundle here: their sources, their packages, and what those depend on."""
