"""Do disk work that only the facade `amplifier_foundation` needs."""
