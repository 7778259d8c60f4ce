"""What parts of a bundle cost and refer to, for pages about it."""
