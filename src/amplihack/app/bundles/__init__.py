"""Bundles on this machine: found, loaded, composed and explained."""
