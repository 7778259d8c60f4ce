"""Framework bundles for tests: a small good one, and whatever a test makes of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from amplihack.install.contract import CONTRACT, recipe_path
from amplihack.install.identity import ShippedFile, identify, identity_text

COMPANIONS = CONTRACT.companions
PARENT = recipe_path(CONTRACT.parent)
MANIFEST = CONTRACT.manifest_path
HELPER = "bin/multitask-orchestrator.sh"


def good_files(mark: str = "") -> dict[str, bytes]:
    """Return the files of a bundle that fulfils the contract; `mark` makes one that is not the same."""
    files = {recipe_path(name): _companion(name) for name in COMPANIONS}
    files[PARENT] = _parent()
    files[MANIFEST] = json.dumps(dict.fromkeys(CONTRACT.recipes, "0123456789abcdef")).encode()
    files["bundle.md"] = f"---\nbundle: {{name: amplihack}}\n---\nFramework {mark}\n".encode()
    files[HELPER] = b"#!/bin/sh\necho multitask\n"
    files["context/Straße und Weg.md"] = f"A name with spaces {mark}\n".encode()
    return files


def _parent() -> bytes:
    steps = "".join(f"  - {{id: {name}, type: recipe, recipe: {name}}}\n" for name in COMPANIONS)
    return f"name: smart-orchestrator\nsteps:\n{steps}".encode()


def _companion(name: str) -> bytes:
    return f"name: {name}\nsteps:\n  - {{id: one, command: echo {name}}}\n".encode()


def write_bundle(
    root: Path, changes: Mapping[str, bytes | None] | None = None, *, mark: str = "", version: str = ""
) -> Path:
    """Write `<root>/amplifier-bundle` with some files changed or left out, and return it.

    With a `version` it has a BUNDLE.json that fits its files.
    """
    files = {**good_files(mark), **(changes or {})}
    bundle = root / "amplifier-bundle"
    kept = {path: data for path, data in files.items() if data is not None}
    for path, data in kept.items():
        (bundle / path).parent.mkdir(parents=True, exist_ok=True)
        (bundle / path).write_bytes(data)
    if (bundle / HELPER).exists():
        (bundle / HELPER).chmod(0o755)
    if version and "BUNDLE.json" not in files:
        (bundle / "BUNDLE.json").write_text(identity_of(kept, version), "utf-8")
    return bundle


def identity_of(files: Mapping[str, bytes], version: str) -> str:
    shipped = [
        ShippedFile(path, hashlib.sha256(data).hexdigest(), len(data), 0o755 if path == HELPER else 0o644)
        for path, data in files.items()
    ]
    return identity_text(identify(shipped, bundle_version=version, product_version=version))
