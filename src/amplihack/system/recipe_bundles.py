"""Find a file that a recipe names by its bundle, `@bundle:path`, in the bundles that lie around recipes.

Nothing is fetched: a bundle counts if the calling recipe, the run or a search directory lies in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from amplihack.bundles.includes import BUNDLE_FILES
from amplihack.documents import Mapping, Node, Scalar, read_document
from amplihack.documents.frontmatter import split_frontmatter
from amplihack.errors import AmplihackError
from amplihack.recipes.naming import InBundle, file_names
from amplihack.system.files import read_text, real
from amplihack.system.recipe_files import require_inside
from amplihack.system.search_dirs import is_directory, others_can_write


def in_bundle(wanted: InBundle, places: Iterable[Path]) -> Path | None:
    """Return the file, or None if no place lies in a bundle with it. Raises Refused for a way out of it."""
    if not wanted.bundle or not wanted.path:
        return None
    for root in _roots(wanted.bundle, places):
        for name in file_names(wanted.path):
            path = root / name
            if os.path.lexists(path) and not is_directory(path):
                return require_inside(path, (root,))
    return None


def _roots(bundle: str, places: Iterable[Path]) -> Iterator[Path]:
    """Yield the directories at and above the places that hold the bundle of this name, nearest first."""
    seen: set[Path] = set()
    for place in map(real, places):
        for level in (place, *place.parents):
            if level in seen or (level != place and others_can_write(level)):
                break  # what is above was looked through, or is not only ours
            seen.add(level)
            if any(_name(level / file) == bundle for file in BUNDLE_FILES if (level / file).is_file()):
                yield level


def _name(file: Path) -> str:
    """Return the name that a bundle gives itself, or "" where it cannot be read."""
    try:
        text = read_text(file)
        page = split_frontmatter(text, str(file)).frontmatter if file.suffix == ".md" else None
        root = (page if file.suffix == ".md" else read_document(text, str(file))) if text else None
    except AmplihackError:
        return ""
    return _text(_entry(_entry(root.root, "bundle"), "name")) if root else ""


def _entry(node: Node | None, key: str) -> Node | None:
    return node.entries.get(key) if isinstance(node, Mapping) else None


def _text(node: Node | None) -> str:
    return node.text if isinstance(node, Scalar) else ""
