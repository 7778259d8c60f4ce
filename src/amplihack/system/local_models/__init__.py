"""Models that run in this process: which there are, where they lie, how they are fetched."""
