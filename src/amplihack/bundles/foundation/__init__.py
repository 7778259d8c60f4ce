"""Decisions about bundles that only the facade `amplifier_foundation` asks for."""
