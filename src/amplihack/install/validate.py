"""Check the files of a framework bundle against the contract, and find every violation.

The order of the checks decides which violation is the first, and that is the one that is raised. Stale
markers come before YAML: a stale recipe that is no YAML either is best called stale.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from amplihack.documents import Mapping as YamlMapping
from amplihack.documents import Node, Scalar, Sequence, read_document
from amplihack.errors import DocumentError
from amplihack.install import errors
from amplihack.install.contract import (
    CONTRACT,
    IDENTITY,
    MAX_RECIPE_DEPTH,
    MAX_RECIPE_NODES,
    Contract,
    recipe_path,
)
from amplihack.install.errors import BundleCompatibilityError
from amplihack.install.identity import BundleIdentity, read_identity
from amplihack.records import Record


class Unusable(Record):
    """Why the bytes of a file are not there: it is missing, of another kind, unreadable or too large."""

    why: Literal["missing", "kind", "unreadable", "oversize"]
    cause: str = ""
    size: int = 0
    limit: int = 0


Content: TypeAlias = "bytes | Unusable"


class BundleContent(Record, kw_only=True):
    """What was read of a bundle. `links` are directories of it that are links; then there are no files."""

    root: Path  # as it was asked for
    bundle: Path | None  # the directory amplifier-bundle; None if there is none
    links: tuple[Path, ...] = ()
    cause: str = ""  # why there is no bundle, where that is not plain
    files: Mapping[str, Content]  # by path inside the bundle; a path that is not here is missing


class BundleReport(Record, kw_only=True):
    """Everything that is wrong with a bundle. `identity` is what its BUNDLE.json says; None without one."""

    root: Path
    bundle: Path | None
    violations: tuple[BundleCompatibilityError, ...]
    identity: BundleIdentity | None = None

    @property
    def ok(self) -> bool:
        return not self.violations

    def require(self) -> None:
        """Raise the first violation."""
        if self.violations:
            raise self.violations[0]


def report(content: BundleContent, contract: Contract = CONTRACT) -> BundleReport:
    """Return every violation of the contract, the most telling one first."""
    found = list(_violations(content, contract))
    identity: BundleIdentity | None = None
    if content.bundle is not None and not content.links:
        try:
            identity = _identity(content, content.bundle)
        except BundleCompatibilityError as error:
            found.append(error)
    return BundleReport(root=content.root, bundle=content.bundle, violations=tuple(found), identity=identity)


def _violations(content: BundleContent, contract: Contract) -> Iterator[BundleCompatibilityError]:
    bundle = content.bundle
    if bundle is None:
        yield errors.MissingBundleRoot(content.root, cause=content.cause)
        return
    if content.links:
        yield from map(errors.SymlinkedPath, content.links)
        return
    parent = _Parent(content, bundle, contract)
    yield from parent.violations()
    for name in contract.companions:
        yield from _companion(content, bundle, name)
        yield from parent.calls(name)
    yield from _manifest(content, bundle, contract)


# the parent -------------------------------------------------------------------------------------------------


class _Parent:
    """The parent recipe: what is wrong with it, and which companions it does not call."""

    def __init__(self, content: BundleContent, bundle: Path, contract: Contract) -> None:
        self._contract = contract
        self._path = bundle / recipe_path(contract.parent)
        self._content = content.files.get(recipe_path(contract.parent), Unusable("missing"))
        self._root: Node | None = None  # None as long as nobody knows what it calls

    def violations(self) -> Iterator[BundleCompatibilityError]:
        match self._content:
            case Unusable(why="missing" | "kind") as unusable:
                yield errors.MissingSmartOrchestrator(self._path, cause=unusable.cause)
            case Unusable() as unusable:
                yield _unreadable(self._path, unusable)
            case bytes() as data:
                yield from stale_marker(data, self._path, self._contract)
                yield from self._read(data)

    def _read(self, data: bytes) -> Iterator[BundleCompatibilityError]:
        try:
            self._root = _yaml(data, self._path)
        except BundleCompatibilityError as error:
            yield error
            return
        name = _text(self._root, "name")
        if name != self._contract.parent:
            reason = f"its name is not {self._contract.parent}"
            yield errors.IncompatibleSmartOrchestrator(self._path, reason=reason)

    def calls(self, companion: str) -> Iterator[BundleCompatibilityError]:
        if self._root is not None and companion not in called_recipes(self._root):
            yield errors.IncompatibleSmartOrchestrator(self._path, recipes=(companion,))


def called_recipes(root: Node) -> frozenset[str]:
    """Return the recipes that the top-level steps of type `recipe` call."""
    steps = root.entries.get("steps") if isinstance(root, YamlMapping) else None
    items = steps.items if isinstance(steps, Sequence) else []
    called = (_text(step, "recipe") for step in items if _text(step, "type") == "recipe")
    return frozenset(name for name in called if name is not None)


def stale_marker(
    data: bytes, path: Path, contract: Contract = CONTRACT
) -> Iterator[BundleCompatibilityError]:
    """Yield the first marker of the monolithic recipe that the text holds, comments and all."""
    for marker in contract.stale_markers:
        if marker.encode() in data:
            yield errors.StaleSmartOrchestrator(path, marker=marker, companions=contract.companions)
            return


# companions and the manifest ------------------------------------------------------------------------------


def _companion(content: BundleContent, bundle: Path, name: str) -> Iterator[BundleCompatibilityError]:
    path = bundle / recipe_path(name)
    match content.files.get(recipe_path(name), Unusable("missing")):
        case Unusable(why="missing" | "kind") as unusable:
            yield errors.MissingCompanionRecipe(path, recipe=name, cause=unusable.cause)
        case Unusable() as unusable:
            yield _unreadable(path, unusable)
        case bytes() as data:
            try:
                reason = _companion_fault(_yaml(data, path), name)
            except BundleCompatibilityError as error:
                yield error
                return
            if reason:
                yield errors.InvalidCompanionRecipe(path, recipe=name, reason=reason)


def _companion_fault(root: Node, name: str) -> str:
    """Return which rule of companions is broken, or an empty text."""
    if not isinstance(root, YamlMapping):
        return "the root must be a mapping"
    found = _text(root, "name")
    if found is None:
        return "it has a missing name field"
    if found != name:
        return f'its name is "{errors.shown_path(found[:80])}", not "{name}"'
    steps = root.entries.get("steps")
    if steps is None or (isinstance(steps, Scalar) and steps.absent):
        return "it has a missing steps field"
    if not isinstance(steps, Sequence):
        return "steps must be a sequence"
    return "" if steps.items else "at least one step is required"


def _manifest(content: BundleContent, bundle: Path, contract: Contract) -> Iterator[BundleCompatibilityError]:
    path = bundle / contract.manifest_path
    match content.files.get(contract.manifest_path, Unusable("missing")):
        case Unusable(why="missing" | "kind") as unusable:
            yield errors.MissingRecipeManifest(path, cause=unusable.cause)
        case Unusable(why="oversize") as unusable:
            yield errors.OversizeFile(path, size=unusable.size, limit=unusable.limit)
        case Unusable() as unusable:
            yield errors.UnreadableRecipeManifest(path, cause=unusable.cause)
        case bytes() as data:
            yield from _manifest_faults(data, path, contract)


def _manifest_faults(data: bytes, path: Path, contract: Contract) -> Iterator[BundleCompatibilityError]:
    try:
        listed = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_each_once)
    except UnicodeDecodeError:
        yield errors.UnreadableRecipeManifest(path, cause="it is not UTF-8")
        return
    except (ValueError, RecursionError) as error:
        cause = str(error) if isinstance(error, _RepeatedKeyError) else "it is not JSON"
        yield errors.InvalidRecipeManifest(path, cause=cause)
        return
    if not isinstance(listed, dict):
        yield errors.InvalidRecipeManifest(path, cause="the root must be an object")
        return
    for name in contract.recipes:
        if name not in listed:
            yield errors.MissingManifestEntry(path, recipe=name)
        elif not isinstance(listed[name], str) or not listed[name].strip():
            yield errors.InvalidManifestEntry(path, recipe=name)


class _RepeatedKeyError(ValueError):
    pass


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RepeatedKeyError("a key stands in it twice")
    return found


def _identity(content: BundleContent, bundle: Path) -> BundleIdentity | None:
    path = bundle / IDENTITY
    match content.files.get(IDENTITY, Unusable("missing")):
        case Unusable(why="missing"):
            return None
        case Unusable(why="oversize") as unusable:
            raise errors.OversizeFile(path, size=unusable.size, limit=unusable.limit)
        case Unusable() as unusable:
            found = f"it cannot be read ({unusable.cause})"
            raise errors.BundleIdentityMismatch(path, found=found, expected="a file")
        case bytes() as data:
            return read_identity(data, path)


# reading ---------------------------------------------------------------------------------------------------


def _unreadable(path: Path, unusable: Unusable) -> BundleCompatibilityError:
    if unusable.why == "oversize":
        return errors.OversizeFile(path, size=unusable.size, limit=unusable.limit)
    return errors.UnreadableRecipe(path, cause=unusable.cause)


def _yaml(data: bytes, path: Path) -> Node:
    """Return the root of a recipe. Raises UnreadableRecipe for no text and InvalidRecipeYaml."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        raise errors.UnreadableRecipe(path, cause="it is not UTF-8") from None
    try:
        document = read_document(data, path.name)
    except DocumentError as error:
        where = error.where
        raise errors.InvalidRecipeYaml(
            path,
            cause=error.what.removeprefix("YAML parse error: "),
            line=where.line if where else 1,
            column=where.column if where else 1,
        ) from error
    for problem in document.problems:
        line, column = (problem.where.line, problem.where.column) if problem.where else (1, 1)
        raise errors.InvalidRecipeYaml(path, cause="a key stands twice", line=line, column=column)
    _require_bounds(document.root, path)
    return document.root


def _require_bounds(root: Node, path: Path) -> None:
    """Raise InvalidRecipeYaml for more levels or values than a recipe has. Aliases count each time."""
    waiting, count = [(root, 1)], 0
    while waiting:
        node, depth = waiting.pop()
        count += 1
        if depth > MAX_RECIPE_DEPTH or count > MAX_RECIPE_NODES:
            cause = (
                f"nested more than {MAX_RECIPE_DEPTH} levels deep"
                if depth > MAX_RECIPE_DEPTH
                else f"more than {MAX_RECIPE_NODES} values"
            )
            raise errors.InvalidRecipeYaml(path, cause=cause, line=node.line + 1, column=node.column + 1)
        if isinstance(node, Sequence):
            waiting += [(item, depth + 1) for item in node.items]
        elif isinstance(node, YamlMapping):
            waiting += [(item, depth + 1) for item in node.entries.values()]


def _text(node: Node, key: str) -> str | None:
    """Return the text under a key of a mapping, or None for anything else."""
    value = node.entries.get(key) if isinstance(node, YamlMapping) else None
    found = value.value if isinstance(value, Scalar) else None
    return found if isinstance(found, str) else None
