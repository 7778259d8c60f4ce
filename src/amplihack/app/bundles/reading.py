"""From a place on the disk to a node of the graph: the bundle file that is meant, decoded and placed."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from amplihack.app.bundles.model import Node
from amplihack.bundles.decode import STRICT_CODES, Decoded, decode_bundle
from amplihack.bundles.errors import BundleError, BundleLoadError, Subject
from amplihack.bundles.graph import BUNDLE_FILES
from amplihack.bundles.roots import Root, root_directories, standing
from amplihack.bundles.uris import canonical, shown, without_fragment
from amplihack.errors import AmplihackError, Problem
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.files import read_bytes
from amplihack.system.sources import ResolvedSource


@dataclass(slots=True)
class Reader:
    """Reads each file once. `tolerant` takes what can be read of a wrong file, its errors among the problems.

    Blocking: belongs into a thread.
    """

    files: BundleFiles
    strict: bool = True
    tolerant: bool = False
    _decoded: dict[str, Decoded] = field(default_factory=dict)

    def node(self, uri: str, source: ResolvedSource) -> Node:
        """The bundle of a source. Raises BundleError."""
        file = self._bundle_file(str(source.active_path), uri)
        decoded = self._decode(file)
        problems = _judged(decoded.problems) if self.strict else decoded.problems
        own = decoded.bundle if self.tolerant else decoded.checked(strict=self.strict)
        where = standing(own.name, own.base_path or "", own.namespace_root, self._root_above(file, source))
        placed = replace(
            own,
            source_base_paths=MappingProxyType(dict(where.source_base_paths)),
            lineage=replace(own.lineage, uri=shown(uri)),
        )
        return Node(self._key(uri, file, source), uri, file, placed, source, where, problems)

    def _key(self, uri: str, file: str, source: ResolvedSource) -> str:
        if source.kind == "local":
            return f"file://{self.files.real(file) or file}"
        inside = posixpath.relpath(file, str(source.source_root))
        return f"{canonical(without_fragment(uri))}#subdirectory={inside}"

    def _bundle_file(self, path: str, uri: str) -> str:
        if self.files.is_file(path):
            return path
        for name in BUNDLE_FILES:
            if self.files.is_file(f"{path}/{name}"):
                return f"{path}/{name}"
        raise BundleLoadError(
            f"there is no bundle in {path}",
            fix=f"it should hold {', '.join(BUNDLE_FILES[:-1])} or {BUNDLE_FILES[-1]}",
            subject=Subject(uri=shown(uri), path=path),
        )

    def _decode(self, file: str) -> Decoded:
        if file not in self._decoded:
            try:
                data = read_bytes(Path(file), kind="Bundle file")
            except AmplihackError as error:
                raise as_bundle_error(error, file) from error
            self._decoded[file] = decode_bundle(data, file)
        return self._decoded[file]

    def _root_above(self, file: str, source: ResolvedSource) -> Root | None:
        """The nearest root bundle above a nested one, within the same source."""
        for directory in root_directories(posixpath.dirname(file), str(source.source_root)):
            for name in BUNDLE_FILES:
                candidate = f"{directory}/{name}"
                if self.files.is_file(candidate):
                    root = self._decode(candidate).bundle
                    return Root(root.name, directory, root.namespace_root)
        return None


def as_bundle_error(error: AmplihackError, file: str = "") -> BundleError:
    """The same failure as one of a bundle."""
    if isinstance(error, BundleError):
        return error
    return BundleLoadError(error.what, where=error.where, fix=error.fix, subject=Subject(path=file or None))


def _judged(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Includes that would be lost without a word are errors."""
    return tuple(replace(each, severity="error") if each.code in STRICT_CODES else each for each in problems)
