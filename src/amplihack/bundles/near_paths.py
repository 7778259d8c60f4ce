"""Find the file that was probably meant by a path that leads nowhere."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from amplihack.bundles.ports import Texts
from amplihack.documents.suggest import closest
from amplihack.patterns import pattern

_PATH_SIGN = pattern(r"[\w.:~-]")
_SUFFIXES = (".md", ".yaml", ".yml")


def nearest_path(path: str, files: Texts, found: Callable[[str], str | None]) -> str | None:
    """Return what is found at the path that differs from one that leads nowhere in one mistyped part."""
    here, rest = posixpath.split(path)
    below: list[str] = [rest]
    while not files.is_dir(here) and here != posixpath.dirname(here):
        here, last = posixpath.split(here)
        below.insert(0, last)
    inside = files.list(here)
    stems = (posixpath.splitext(name) for name in inside.files)
    known = {*inside.directories, *inside.files, *(stem for stem, suffix in stems if suffix in _SUFFIXES)}
    meant = closest(below[0], known)
    return found(posixpath.join(here, meant, *below[1:])) if meant else None


def nearest_file(path: str, files: Texts) -> str | None:
    """Return the file that was probably meant; its suffix may be missing or another one."""

    def there(near: str) -> str | None:
        tried = (near, *(near + suffix for suffix in _SUFFIXES))
        return next((each for each in tried if files.is_file(each)), None)

    return there(path) or nearest_path(path, files, there)


def longer_name(path: str, files: Texts) -> str | None:
    """Return the only file whose name goes on with a blank or a sign where a path ends."""
    here, name = posixpath.split(path)
    inside = files.list(here).files if name and files.is_dir(here) else ()
    longer = [each for each in inside if each.startswith(name) and not _PATH_SIGN.match(each, len(name))]
    return posixpath.join(here, longer[0]) if len(longer) == 1 else None


def meant_reference(reference: str, path: str, near: str) -> str:
    """Return a reference to the file that was meant, spelled like the one to a path that leads nowhere."""
    head, colon, inside = reference.rpartition(":")
    root = path.removesuffix(inside) if inside and path.endswith(inside) else ""
    return f"{head}{colon}{near.removeprefix(root)}" if root and near.startswith(root) else near
