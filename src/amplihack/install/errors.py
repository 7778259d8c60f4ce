"""Define why a framework bundle must not be used.

BundleCompatibilityError                the base; `code` and the class say which rule is broken
├── MissingBundleRoot                   no amplifier-bundle/ there
├── SymlinkedPath                       the bundle, or its recipes/, is a link
├── MissingSmartOrchestrator            no parent recipe, or it is no regular file
├── MissingCompanionRecipe              one of the companions is not there, or it is no regular file
├── IncompatibleSmartOrchestrator       the parent does not call a companion, or has another name
├── StaleSmartOrchestrator              the parent holds a marker of the monolithic recipe
├── UnreadableRecipe                    a required recipe cannot be read
├── InvalidRecipeYaml                   a required recipe is no YAML that we accept
├── InvalidCompanionRecipe              a companion breaks the rules of companions
├── MissingRecipeManifest, UnreadableRecipeManifest, InvalidRecipeManifest
├── MissingManifestEntry, InvalidManifestEntry
├── OversizeFile                        a file is larger than it may be
└── BundleIdentityMismatch              BUNDLE.json contradicts itself, the tree or this program

InstallFailed is what an install ends with, whatever the cause.

A message names the path and the broken rule. It never repeats what a file says.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from amplihack.errors import AmplihackError, InputError

_OTHER_BUNDLE = "use the bundle of this release: `amplihack install`, or name another one with --local"


def shown_path(path: Path | str) -> str:
    """Return a path on one line, with escapes for characters that could control a terminal."""
    text = str(path)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


class BundleCompatibilityError(InputError):
    """A rule that a bundle breaks. Callers look at the class or at `code`, never at the text."""

    code: ClassVar[str] = "incompatible"

    def __init__(self, what: str, *, path: Path, fix: str = _OTHER_BUNDLE) -> None:
        super().__init__(what, fix=fix)
        self.path = path


class InstallFailed(AmplihackError):
    """Raised when nothing was installed, or not all of it; the text says what is staged now."""

    def __init__(self, what: str, *, fix: str) -> None:
        super().__init__(f"install failed: {what}", fix=fix)


class MissingBundleRoot(BundleCompatibilityError):
    code = "missing-bundle"

    def __init__(self, path: Path, *, cause: str = "") -> None:
        what = f"there is no directory amplifier-bundle at {shown_path(path)}{_because(cause)}"
        super().__init__(what, path=path, fix="name a directory that holds amplifier-bundle/, or is it")


class SymlinkedPath(BundleCompatibilityError):
    code = "symlink"

    def __init__(self, path: Path) -> None:
        fix = "put the directory itself there, or name the directory that the link leads to"
        super().__init__(f"a link is not followed here: {shown_path(path)}", path=path, fix=fix)


class MissingSmartOrchestrator(BundleCompatibilityError):
    code = "missing-parent"

    def __init__(self, path: Path, *, cause: str = "") -> None:
        what = f"missing required smart-orchestrator recipe: {shown_path(path)}{_because(cause)}"
        super().__init__(what, path=path)
        self.recipe, self.cause = path.stem, cause


class MissingCompanionRecipe(BundleCompatibilityError):
    code = "missing-companion"

    def __init__(self, path: Path, *, recipe: str, cause: str = "") -> None:
        what = f"missing required smart-orchestrator companion recipe: {shown_path(path)}{_because(cause)}"
        super().__init__(what, path=path)
        self.recipe, self.cause = recipe, cause


class IncompatibleSmartOrchestrator(BundleCompatibilityError):
    """The parent recipe does not call `recipes`; none are named where its own name is wrong."""

    code = "missing-reference"

    def __init__(self, path: Path, *, recipes: tuple[str, ...] = (), reason: str = "") -> None:
        self.recipes = recipes
        self.recipe = recipes[0] if recipes else path.stem
        self.reason = reason or f"no step of type recipe calls {', '.join(recipes)}"
        super().__init__(f"{shown_path(path)} is not the composable recipe: {self.reason}", path=path)


class StaleSmartOrchestrator(BundleCompatibilityError):
    code = "stale-parent"

    def __init__(self, path: Path, *, marker: str, companions: tuple[str, ...]) -> None:
        what = (
            f"{shown_path(path)} contains stale monolithic smart-orchestrator behavior ({marker}): "
            f"expected composable sub-recipes {', '.join(companions)}"
        )
        super().__init__(what, path=path)
        self.recipe, self.marker = path.stem, marker


class UnreadableRecipe(BundleCompatibilityError):
    code = "unreadable"

    def __init__(self, path: Path, *, cause: str) -> None:
        what = f"the required recipe {shown_path(path)} cannot be read: {cause}"
        super().__init__(what, path=path, fix="make it readable for you, or use another bundle")
        self.recipe, self.cause = path.stem, cause


class InvalidRecipeYaml(BundleCompatibilityError):
    """A required recipe that is no YAML, or YAML that we do not accept. Line and column count from 1."""

    code = "invalid-yaml"

    def __init__(self, path: Path, *, cause: str, line: int = 1, column: int = 1) -> None:
        what = f"the required recipe {shown_path(path)}:{line}:{column} is not valid: {cause}"
        super().__init__(what, path=path)
        self.recipe, self.cause, self.line, self.column = path.stem, cause, line, column


class InvalidCompanionRecipe(BundleCompatibilityError):
    code = "invalid-companion"

    def __init__(self, path: Path, *, recipe: str, reason: str) -> None:
        super().__init__(f"the companion recipe {shown_path(path)} is not valid: {reason}", path=path)
        self.recipe, self.reason = recipe, reason


class MissingRecipeManifest(BundleCompatibilityError):
    code = "missing-manifest"

    def __init__(self, path: Path, *, cause: str = "") -> None:
        what = f"missing recipe manifest: {shown_path(path)}{_because(cause)}"
        super().__init__(what, path=path, fix="`amplihack recipe manifest --update` writes one")
        self.cause = cause


class UnreadableRecipeManifest(BundleCompatibilityError):
    code = "unreadable-manifest"

    def __init__(self, path: Path, *, cause: str) -> None:
        what = f"the recipe manifest {shown_path(path)} cannot be read: {cause}"
        super().__init__(what, path=path, fix="make it readable for you, or use another bundle")
        self.cause = cause


class InvalidRecipeManifest(BundleCompatibilityError):
    code = "invalid-manifest"

    def __init__(self, path: Path, *, cause: str) -> None:
        super().__init__(f"the recipe manifest {shown_path(path)} is not valid: {cause}", path=path)
        self.cause = cause


class MissingManifestEntry(BundleCompatibilityError):
    code = "missing-manifest-entry"

    def __init__(self, path: Path, *, recipe: str) -> None:
        super().__init__(f"the recipe manifest {shown_path(path)} does not list {recipe}", path=path)
        self.recipe = recipe


class InvalidManifestEntry(BundleCompatibilityError):
    code = "invalid-manifest-entry"

    def __init__(self, path: Path, *, recipe: str) -> None:
        what = (
            f"the recipe manifest {shown_path(path)} has no hash for {recipe}: a non-empty text is required"
        )
        super().__init__(what, path=path)
        self.recipe = recipe


class OversizeFile(BundleCompatibilityError):
    code = "oversize"

    def __init__(self, path: Path, *, size: int, limit: int) -> None:
        what = f"{shown_path(path)} is too large: {size} bytes, and {limit} are allowed"
        super().__init__(what, path=path)
        self.size, self.limit = size, limit


class BundleIdentityMismatch(BundleCompatibilityError):
    """BUNDLE.json cannot be used, or says something else than the tree or this program."""

    code = "identity"

    def __init__(self, path: Path, *, found: str, expected: str) -> None:
        what = f"{shown_path(path)}: {shown_path(found)}, and {shown_path(expected)} is expected"
        super().__init__(what, path=path)
        self.found, self.expected = found, expected


def _because(cause: str) -> str:
    return f" ({cause})" if cause else ""
