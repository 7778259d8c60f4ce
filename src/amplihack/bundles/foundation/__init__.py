"""Decide about bundles what only the facade `amplifier_foundation` needs."""
