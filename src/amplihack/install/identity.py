"""Read and write the identity of a bundle, `BUNDLE.json`: its version, and every file with its digest.

A bundle without one is allowed where the user names it; nobody can then tell which version it is of.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from amplihack.install.contract import CONTRACTS, IDENTITY, LATEST
from amplihack.install.errors import BundleIdentityMismatch
from amplihack.patterns import pattern
from amplihack.records import Record

SCHEMA = 1
FILE_MODE, PROGRAM_MODE = 0o644, 0o755
_DIGEST = pattern(r"[0-9a-f]{64}")
_MOST_PARTS = 64
_LONGEST_NAME = 255


class ShippedFile(Record):
    """A file of a bundle: its path inside the bundle, with `/`, and what it holds."""

    path: str
    sha256: str
    size: int
    mode: int


class BundleIdentity(Record, kw_only=True):
    """What a bundle says about itself. `product_version` is empty for a bundle of somebody else."""

    bundle_version: str
    product_version: str
    contract: int
    files: tuple[ShippedFile, ...]
    tree_digest: str


def identify(
    files: Iterable[ShippedFile], *, bundle_version: str, product_version: str, contract: int = LATEST
) -> BundleIdentity:
    """Return the identity of a bundle with these files. BUNDLE.json is never one of them."""
    listed = tuple(sorted((file for file in files if file.path != IDENTITY), key=lambda file: file.path))
    return BundleIdentity(
        bundle_version=bundle_version,
        product_version=product_version,
        contract=contract,
        files=listed,
        tree_digest=tree_digest(listed),
    )


def tree_digest(files: Iterable[ShippedFile]) -> str:
    """Return the SHA-256 over the sorted list of path, mode and digest of every file."""
    import hashlib  # deferred: a check without an identity needs none

    total = hashlib.sha256()
    for file in sorted(files, key=lambda each: each.path):
        total.update(f"{file.path}\0{file.mode:04o}\0{file.sha256}\n".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def identity_text(identity: BundleIdentity) -> str:
    """Return the text of BUNDLE.json; `read_identity` reads it back."""
    files = [
        {"path": file.path, "sha256": file.sha256, "size": file.size, "mode": f"{file.mode:04o}"}
        for file in identity.files
    ]
    value = {
        "schema": SCHEMA,
        "bundle_version": identity.bundle_version,
        "product_version": identity.product_version,
        "contract": identity.contract,
        "tree_digest": identity.tree_digest,
        "files": files,
    }
    return json.dumps(value, indent=1) + "\n"


def read_identity(data: bytes, path: Path) -> BundleIdentity:
    """Return what BUNDLE.json says. Raises BundleIdentityMismatch, also where it contradicts itself."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise BundleIdentityMismatch(path, found="it is not JSON", expected="an object") from None
    reader = _IdentityReader(path)
    said = reader.mapping(value, "the file")
    reader.require(said.get("schema") == SCHEMA, "an unknown schema", f"schema {SCHEMA}")
    reader.require(said.get("contract") in CONTRACTS, "an unknown contract", f"a level up to {LATEST}")
    files = reader.files(said.get("files"))
    reader.require(
        said.get("tree_digest") == tree_digest(files), "a tree_digest", "the digest of its own list of files"
    )
    return BundleIdentity(
        bundle_version=reader.text(said, "bundle_version"),
        product_version=reader.text(said, "product_version"),
        contract=int(said["contract"]),
        files=files,
        tree_digest=said["tree_digest"],
    )


def is_safe_path(path: str) -> bool:
    """Tell whether a path with `/` stays inside the directory that it starts from, on every system."""
    parts = path.split("/")
    return (
        path.isprintable()
        and "\\" not in path
        and len(parts) <= _MOST_PARTS
        and all(part not in ("", ".", "..") and len(part.encode()) <= _LONGEST_NAME for part in parts)
    )


class _IdentityReader:
    """Takes values out of BUNDLE.json. Whatever does not fit raises BundleIdentityMismatch."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def require(self, holds: bool, found: str, expected: str) -> None:
        if not holds:
            raise BundleIdentityMismatch(self._path, found=f"it has {found}", expected=expected)

    def mapping(self, value: Any, what: str) -> dict[str, Any]:
        self.require(isinstance(value, dict), f"{what} that is no object", "an object")
        found: dict[str, Any] = value
        return found

    def text(self, said: dict[str, Any], key: str) -> str:
        value = said.get(key)
        self.require(isinstance(value, str), f"no {key}", "a text")
        return str(value)

    def files(self, value: Any) -> tuple[ShippedFile, ...]:
        self.require(isinstance(value, list), "no list of files", "a list")
        found = tuple(self._file(self.mapping(each, "a file")) for each in value)
        names = {file.path for file in found}
        self.require(len(names) == len(found), "a file twice", "each file once")
        self.require(IDENTITY not in names, "itself among its files", "every other file")
        return found

    def _file(self, said: dict[str, Any]) -> ShippedFile:
        path, digest, size = self.text(said, "path"), self.text(said, "sha256"), said.get("size")
        self.require(is_safe_path(path), "a path that leads out of the bundle", "a path inside it")
        self.require(bool(_DIGEST.fullmatch(digest)), f"no sha256 of {path}", "64 hexadecimal digits")
        is_size = isinstance(size, int) and not isinstance(size, bool) and size >= 0
        self.require(is_size, f"no size of {path}", "a number of bytes")
        return ShippedFile(path, digest, int(size or 0), self._mode(said.get("mode"), path))

    def _mode(self, value: Any, path: str) -> int:
        is_octal = (
            isinstance(value, str) and value.isascii() and value.isdigit() and not set(value) & {"8", "9"}
        )
        mode = int(value, 8) if is_octal else value
        known = mode in (FILE_MODE, PROGRAM_MODE)
        self.require(known, f"a mode of {path}", f"{FILE_MODE:04o} or {PROGRAM_MODE:04o}")
        return int(mode)
