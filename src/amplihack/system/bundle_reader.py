"""Fetch the sources of bundles and read the files in them: from addresses to nodes of the include graph."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from amplihack.bundles.decode import DecodedBundle, decode_bundle
from amplihack.bundles.errors import BundleDependencyError, BundleError, BundleLoadError, Subject
from amplihack.bundles.include_graph import Checkout, Node
from amplihack.bundles.includes import BUNDLE_FILES
from amplihack.bundles.lock import pinned
from amplihack.bundles.model import Bundle
from amplihack.bundles.module_sources import repair_sources
from amplihack.bundles.reach import ESCAPES, NO_DOWNLOADS, Download, Reach
from amplihack.bundles.roots import Root, root_directories, standing
from amplihack.bundles.uris import address_inside, canonical, parse_uri, shown, without_fragment
from amplihack.errors import AmplihackError, Location, Problem
from amplihack.records import Record, field, replace
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.files import read_bytes
from amplihack.system.sources import ResolvedSource, Sources


class BundleReader(Record, frozen=False):
    """Reads each bundle file once.

    `strict` makes includes that would be lost silently errors of the file. `tolerant` accepts what can be
    read of a wrong file and keeps its errors as problems. `pins` maps each source that may be fetched to its
    exact version; None allows any version. `instead` names directories of ours for repositories that cannot
    be had: which one was used is told.
    """

    sources: Sources
    files: BundleFiles
    strict: bool = True
    tolerant: bool = False
    pins: Mapping[str, str] | None = None
    instead: Mapping[str, str] = field(default_factory=dict)
    _failed: dict[str, BundleError] = field(default_factory=dict)  # sources that something of ours stands for
    _decoded: dict[str, DecodedBundle] = field(default_factory=dict)

    async def fetch(self, uri: str, base: Path) -> Node:
        """Fetch and read one bundle; relative addresses start at `base`. Raises BundleError."""
        answer = (await self.fetch_all([uri], base))[uri]
        if isinstance(answer, BundleError):
            raise answer
        return answer

    async def fetch_all(self, uris: Sequence[str], base: Path | None = None) -> dict[str, Node | BundleError]:
        """Fetch all at once, then read all in one thread; answers stand in the order of asking."""
        remote = [uri for uri in uris if not parse_uri(uri).is_file]
        fetched = await asyncio.gather(*(self._fetched(uri, base) for uri in remote)) if remote else ()
        found = dict(zip(remote, fetched, strict=True))
        return await asyncio.to_thread(self._read_all, {uri: found.get(uri) for uri in uris}, base)

    async def _fetched(self, uri: str, base: Path | None) -> ResolvedSource | BundleError:
        try:
            return await self._resolve(uri, base)
        except AmplihackError as error:
            failure = as_bundle_error(error)
            return await asyncio.to_thread(self._our_own, uri, failure) or failure

    def _our_own(self, uri: str, failure: BundleError) -> ResolvedSource | None:
        """Return what we have ourselves in place of a repository that cannot be had, or None."""
        repository, _, fragment = uri.partition("#")
        own = self.instead.get(repository.removeprefix("git+").partition("@")[0].removesuffix(".git"))
        inside = fragment.removeprefix("subdirectory=")
        if own is None or self.pins is not None:
            return None
        try:
            found = self.sources.local(f"file://{posixpath.join(own, inside)}", base=None)
        except AmplihackError:
            return None
        self._failed[uri] = failure
        return found

    async def _resolve(self, uri: str, base: Path | None) -> ResolvedSource:
        """Resolve an address; what is cached for a branch is used if that is the locked version."""
        exact = self._pinned(uri)
        if exact != uri and not await self.sources.missing((uri,)):
            cached = await self.sources.resolve(uri, base=base)
            locked = parse_uri(exact)
            if (cached.commit or cached.sha256) in (locked.ref, locked.sha256):
                return cached
        return await self.sources.resolve(exact, base=base)

    def _pinned(self, uri: str) -> str:
        """Return the address that the lock names for a source, in place of a branch that may have moved."""
        if self.pins is None:
            return uri
        exact = pinned(uri, self.pins)
        if exact is None:
            raise BundleDependencyError(
                f"{shown(without_fragment(uri))} is not in the lock file",
                fix="`amplihack bundle lock` locks what is used now",
                subject=Subject(uri=shown(uri)),
            )
        return exact

    def _read_all(
        self, found: Mapping[str, ResolvedSource | BundleError | None], base: Path | None
    ) -> dict[str, Node | BundleError]:
        """Read what was found; None stands for what lies on this disk, where it has yet to be looked for."""
        answers: dict[str, Node | BundleError] = {}
        for uri, source in found.items():
            if isinstance(source, BundleError):
                answers[uri] = source
                continue
            try:
                answers[uri] = self._read(uri, source or self.sources.local(uri, base=base))
            except AmplihackError as error:
                answers[uri] = as_bundle_error(error)
        return answers

    def _read(self, uri: str, source: ResolvedSource) -> Node:
        """Read the bundle file of a source. Raises BundleError."""
        checkout = Checkout(
            str(source.source_root), source.kind == "local", source.commit or "", source.sha256 or ""
        )
        reach = self._reach(uri, checkout)
        file = self._bundle_file(str(source.active_path), uri)
        self._require_reachable(file, reach, uri)
        decoded = self._decode(file)
        told = [*decoded.judged(strict=self.strict), *self._stands_in(uri)]
        own = decoded.bundle if self.tolerant else decoded.checked(strict=self.strict)
        own = self._with_namespace_inside(own, reach, told)
        above = self._root_above(file, checkout.root, reach)
        where = standing(own.name, own.base_path or "", own.namespace_root, above)
        repaired = repair_sources(own, checkout.root, self.files)
        placed = replace(
            repaired.bundle,
            source_base_paths=MappingProxyType(dict(where.source_base_paths)),
            lineage=replace(own.lineage, uri=shown(uri)),
            reach=reach,
        )
        key = self._key(uri, file, checkout)
        return Node(key, uri, file, placed, checkout, where, above, (*told, *repaired.problems))

    def _stands_in(self, uri: str) -> list[Problem]:
        if uri not in self._failed:
            return []
        why = self._failed[uri].what
        what = f"{shown(uri)} cannot be had ({why}): our own bundle of that name stands in for it"
        fix = self._failed[uri].fix or "check the network, or include ours by its name"
        return [Problem(what, None, fix, "warning", "stands-in")]

    def _reach(self, uri: str, checkout: Checkout) -> Reach:
        """Return what the text in a source may name: anything, unless it was downloaded."""
        if checkout.is_local and not self.sources.has_cached(Path(checkout.root)):
            return NO_DOWNLOADS
        parsed = parse_uri(uri)
        return Reach({checkout.root: Download(networked=parsed.is_remote or parsed.is_file)})

    def _require_reachable(self, file: str, reach: Reach, uri: str) -> None:
        """Raise BundleLoadError for a bundle file that is a link out of a downloaded source."""
        if not reach.allows(file, file, self.files):
            raise BundleLoadError(
                f"{posixpath.basename(file)} is a link that leads out of {shown(without_fragment(uri))}",
                fix="a downloaded bundle must hold its own files",
                subject=Subject(uri=shown(uri), path=file),
            )

    def _with_namespace_inside(self, own: Bundle, reach: Reach, told: list[Problem]) -> Bundle:
        """Return a bundle without a namespace root that leads out of its downloaded source."""
        file = own.lineage.file
        if own.namespace_root is None:
            return own
        place = self.sources.at_home(own.namespace_root)
        if self._is_namespace_inside(file, place, reach):
            return own if place == own.namespace_root else replace(own, namespace_root=place)
        what = f"`namespace_root: {own.namespace_root}` leads out of the downloaded bundle, and is ignored"
        told.append(Problem(what, Location(file, 1, 1), "name a directory in it", "error", ESCAPES))
        return replace(own, namespace_root=None)

    def _is_namespace_inside(self, file: str, namespace_root: str, reach: Reach) -> bool:
        place = posixpath.normpath(posixpath.join(posixpath.dirname(file), namespace_root))
        return reach.allows(file, place, self.files)

    def _key(self, uri: str, file: str, checkout: Checkout) -> str:
        if checkout.is_local:
            return f"file://{self.files.real(file) or file}"
        return canonical(address_inside(uri, posixpath.relpath(file, checkout.root)))

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

    def _decode(self, file: str) -> DecodedBundle:
        if file not in self._decoded:
            try:
                data = read_bytes(Path(file), kind="Bundle file")
            except AmplihackError as error:
                raise as_bundle_error(error, file) from error
            self._decoded[file] = decode_bundle(data, file)
        return self._decoded[file]

    def _root_above(self, file: str, source_root: str, reach: Reach) -> Root | None:
        """Find the nearest root bundle above a nested one, in the same source."""
        for directory in root_directories(posixpath.dirname(file), source_root):
            for name in BUNDLE_FILES:
                candidate = f"{directory}/{name}"
                if self.files.is_file(candidate) and reach.allows(candidate, candidate, self.files):
                    root = self._decode(candidate).bundle
                    inside = root.namespace_root
                    inside = None if inside is None else self.sources.at_home(inside)
                    if inside is not None and not self._is_namespace_inside(candidate, inside, reach):
                        inside = None
                    return Root(root.name, directory, inside)
        return None


def as_bundle_error(error: AmplihackError, file: str = "") -> BundleError:
    """Convert a failure to a BundleError."""
    if isinstance(error, BundleError):
        return error
    return BundleLoadError(error.what, where=error.where, fix=error.fix, subject=Subject(path=file or None))
