"""Hold what a framework bundle must contain, as data, one contract for each level.

A later release adds a level. Nothing else in the program names these recipes or markers.
"""

from __future__ import annotations

from amplihack.records import Record

BUNDLE = "amplifier-bundle"
IDENTITY = "BUNDLE.json"
RECIPES = "recipes"

MAX_RECIPE_BYTES = 1_000_000
MAX_MANIFEST_BYTES = 256 * 1024
MAX_IDENTITY_BYTES = 4 * 1024 * 1024
MAX_RECIPE_DEPTH = 64
MAX_RECIPE_NODES = 100_000


class Contract(Record, kw_only=True):
    """What a bundle must hold: names of recipes, their manifest, and texts that the parent must not hold."""

    parent: str
    companions: tuple[str, ...]
    manifest: str
    stale_markers: tuple[str, ...]  # in the order in which they are looked for: the first hit is named

    @property
    def recipes(self) -> tuple[str, ...]:
        return (self.parent, *self.companions)

    @property
    def manifest_path(self) -> str:
        return f"{RECIPES}/{self.manifest}"


CONTRACTS = {
    1: Contract(
        parent="smart-orchestrator",
        companions=(
            "smart-classify-route",
            "smart-execute-routing",
            "smart-reflect-loop",
            "smart-validate-summarize",
        ),
        manifest="_recipe_manifest.json",
        stale_markers=(
            "orch_helper.py",
            "orch_helper",
            "importlib",
            "parse-decomposition",
            "resolve-bundle-asset helper-path",
        ),
    )
}
LATEST = max(CONTRACTS)
CONTRACT = CONTRACTS[LATEST]


def recipe_path(name: str) -> str:
    """Return where a bundle keeps a recipe, from the bundle's own directory."""
    return f"{RECIPES}/{name}.yaml"


def size_limits(contract: Contract = CONTRACT) -> dict[str, int]:
    """Return the files that the contract is about, each with the most bytes that it may have."""
    recipes = {recipe_path(name): MAX_RECIPE_BYTES for name in contract.recipes}
    return {**recipes, contract.manifest_path: MAX_MANIFEST_BYTES, IDENTITY: MAX_IDENTITY_BYTES}
