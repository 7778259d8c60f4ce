"""Disk work that only the facade `amplifier_foundation` asks for."""
