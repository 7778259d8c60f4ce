"""Writes `_recipe_manifest.json` and `BUNDLE.json` of the framework bundle: `make bundle`."""

from __future__ import annotations

from pathlib import Path

from amplihack.install.contract import BUNDLE, IDENTITY, RECIPES
from amplihack.install.identity import identify, identity_text
from amplihack.system.bundle_tree import describe_files, list_files
from amplihack.system.recipe_manifest import update_manifest
from amplihack.version import __version__

FRAMEWORK = Path(__file__).parents[1] / BUNDLE


def identity_of(bundle: Path) -> str:
    """Return the text that BUNDLE.json of these files must have."""
    files = describe_files(list_files(bundle))
    return identity_text(identify(files, bundle_version=__version__, product_version=__version__))


def write(bundle: Path) -> None:
    """Write both files; the manifest first, since BUNDLE.json lists it."""
    update_manifest(bundle / RECIPES)
    (bundle / IDENTITY).write_text(identity_of(bundle), "utf-8")


if __name__ == "__main__":
    write(FRAMEWORK)
