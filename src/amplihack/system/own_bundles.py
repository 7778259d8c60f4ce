"""Say where the bundles lie that the program brings along. Each is found by the name of its directory."""

from __future__ import annotations

from pathlib import Path

OWN_BUNDLES = Path(__file__).parents[1] / "own_bundles"

# What stands in for a repository that cannot be had, by its address.
OWN_INSTEAD = {"https://github.com/microsoft/amplifier-foundation": str(OWN_BUNDLES / "foundation")}


def own_agents() -> tuple[str, ...]:
    """Return references to the agents of our own bundles: sessions know them."""
    return tuple(sorted(f"{each.parts[-3]}:{each.stem}" for each in OWN_BUNDLES.glob("*/agents/*.md")))
