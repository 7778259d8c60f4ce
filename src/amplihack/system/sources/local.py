"""Resolve sources that are already on the disk: paths and file:// addresses."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote

from amplihack.bundles.includes import BUNDLE_FILES
from amplihack.bundles.uris import ParsedURI, escapes
from amplihack.system.files import real
from amplihack.system.sources.errors import SourceError, SourceNotFound, SourceRefused
from amplihack.system.sources.model import ResolvedSource


def resolve_local(
    parsed: ParsedURI, *, base: Path | None, home: Path | None, cache_roots: tuple[Path, ...] = ()
) -> ResolvedSource:
    """Return the file or directory that a path means. Raises SourceNotFound or SourceRefused."""
    uri = str(parsed)
    start = _existing(_absolute(parsed.path, base=base, home=home, uri=uri), uri)
    if escapes(parsed.subpath):
        raise SourceRefused(f"{uri}: the subdirectory leads out of {start}", uri=uri)
    if not parsed.subpath.strip("/"):
        root = source_root(start, home=home, cache_roots=cache_roots)
        return ResolvedSource(active_path=start, source_root=root, uri=uri, kind="local")
    active = start / parsed.subpath.strip("/")
    if not active.exists():
        raise SourceNotFound(f"{uri}: not found: {active}", uri=uri, fix="check the subdirectory")
    return ResolvedSource(active_path=real(active), source_root=start, uri=uri, kind="local")


def source_root(path: Path, *, home: Path | None, cache_roots: tuple[Path, ...] = ()) -> Path:
    """Return the directory that holds the whole source of something inside it.

    That is the entry of the cache, if it is in one. Otherwise it is the nearest directory above with a bundle
    file, searched up to the top of the git checkout or the user's home. Otherwise it is its own directory.
    """
    for cache in cache_roots:
        if path.is_relative_to(cache) and path != cache:
            return cache / path.relative_to(cache).parts[0]
    own = path if path.is_dir() else path.parent
    # Texts, not paths: this is asked for every bundle of a load, and up to the root of the disk.
    above, top = str(own), str(home) if home else ""
    while above not in ("/", top) and not os.path.exists(f"{above}/.git"):
        above = os.path.dirname(above)
        if holds_bundle_file(above):
            return Path(above)
    return own


def holds_bundle_file(directory: str | Path) -> bool:
    return any(os.path.isfile(f"{directory}/{name}") for name in BUNDLE_FILES)


def inside_source(root: Path, subpath: str, uri: str) -> Path:
    """Return the path of a subdirectory of a fetched source. It must not leave it, not even by a link."""
    active = root / subpath if subpath else root
    try:
        there = active.exists()
    except OSError as error:
        what = f"{uri}: cannot look at {subpath}: {error.strerror}"
        raise SourceError(what, uri=uri, fix="check who may read it") from error
    if not there:
        raise SourceNotFound(
            f"{uri}: not found: there is no {subpath} in it", uri=uri, fix=f"check the path, or update {uri}"
        )
    if not real(active).is_relative_to(real(root)):
        what = f"{uri}: {subpath} is a link that leads out of the source"
        raise SourceRefused(what, uri=uri, fix="put the file itself into the source")
    return active


def _absolute(text: str, *, base: Path | None, home: Path | None, uri: str) -> Path:
    if text == "~" or text.startswith("~/"):
        if home is None:
            raise SourceNotFound(f"{uri}: there is no home directory", uri=uri, fix="set HOME")
        return home / text[2:]
    path = Path(text)
    if not path.is_absolute():
        if base is None:
            what = f"{uri}: not found: nothing says what it is relative to"
            raise SourceNotFound(what, uri=uri, fix="write the whole path")
        path = base / path
    return path


def _existing(path: Path, uri: str) -> Path:
    """Return the path with links followed; a path written as in a web address (`%20`) is tried too."""
    for candidate in (path, Path(unquote(str(path)))):
        try:
            os.stat(candidate)  # Path.exists hides why
            return real(candidate)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            continue
        except OSError as error:
            what = f"{uri}: cannot look at {path}: {error.strerror}"
            raise SourceError(what, uri=uri, fix="check who may read it") from error
    raise SourceNotFound(f"{uri}: not found: {path}", uri=uri, fix="check the path")
