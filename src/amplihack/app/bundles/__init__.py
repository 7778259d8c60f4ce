"""Find, load, compose and explain the bundles on this machine."""
