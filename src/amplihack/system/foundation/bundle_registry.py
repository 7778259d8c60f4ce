"""Keep the bundles that a program knows by name, in `registry.json` of a home."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from amplihack.bundles.foundation.bundle_states import BundleState, SeenBundle, forget, note, relate
from amplihack.bundles.includes import looks_like_path
from amplihack.bundles.uris import canonical, file_uri, parse_uri, shown
from amplihack.errors import AmplihackError
from amplihack.records import Record, field
from amplihack.system.files import real
from amplihack.system.registry_file import change_entries, read_entries

Lasting: TypeAlias = bool | Literal["named"]


class RegisteredBundles(Record, frozen=False):
    """The bundles that are known by name. Make it with `open_registry`.

    `lasting` decides what is written to disk: everything with a name (True), only bundles that are not on
    this machine or were registered before ("named"), or nothing (False).
    """

    home: Path
    lasting: Lasting
    warn: Callable[[str], None]
    states: dict[str, BundleState]
    _stored: Mapping[str, str] = field(default_factory=dict)  # addresses as the file had them
    _changed: set[str] = field(default_factory=set)
    _gone: set[str] = field(default_factory=set)

    @property
    def addresses(self) -> dict[str, str]:
        return {name: state.uri for name, state in self.states.items()}

    def add(self, bundles: Mapping[str, str]) -> None:
        """Give names to addresses. An existing entry keeps everything but its address."""
        for name, uri in bundles.items():
            self._gone.discard(name)
            if name in self.states:
                self.states[name].uri = uri
            else:
                self.states[name] = BundleState(uri=uri, name=name)

    def drop(self, name: str) -> bool:
        """Forget a name, and its includes in both directions."""
        known = forget(self.states, name)
        if known:
            self._gone.add(name)
            self._changed.discard(name)
        return known

    def request(self, name: str) -> None:
        """Record that somebody asked for this bundle itself."""
        state = self.states.get(name)
        if state is not None and not state.explicitly_requested:
            state.explicitly_requested = True
            self._changed.add(name)

    def checked(self, name: str, now: datetime) -> None:
        self.states[name].checked_at = now
        self._changed.add(name)

    def take(self, seen: Sequence[SeenBundle], now: datetime) -> None:
        """Register the bundles that a load has met."""
        for each in seen:
            moved = note(self.states, each, now)
            if moved is not None:
                before, after = shown(moved.before), shown(moved.after)
                self.warn(f"{moved.name!r} now means {after}; it was {before}")
            self._gone.discard(each.name)
        for each in seen:
            self._changed |= relate(self.states, each.name, each.includes)
        self._changed |= {each.name for each in seen}

    def keep(self) -> None:
        """Write what has changed and should last, in one step. A failure to write is only a warning."""
        names, self._changed = self._changed, set()
        try:
            self._write(name for name in sorted(names) if self._lasts(name))
        except AmplihackError as error:
            self.warn(f"what was loaded is not remembered: {error.what}")

    def save(self) -> None:
        """Write everything; entries that other processes added stay. Raises AmplihackError."""
        self._write(self.states, self._gone)
        self._changed.clear()
        self._gone.clear()

    def forget_lost_paths(self) -> None:
        """Forget paths that no longer exist."""
        for name, state in self.states.items():
            if state.local_path and not Path(state.local_path).exists():
                state.local_path = None
                self._changed.add(name)
        self.keep()

    def _lasts(self, name: str) -> bool:
        state = self.states.get(name)
        if state is None:
            return False
        if self.lasting == "named":
            return not parse_uri(state.uri).is_file or self._stored.get(name) == state.uri
        return True

    def _write(self, names: Iterable[str], gone: Iterable[str] = ()) -> None:
        if not self.lasting:
            return
        entries: dict[str, dict[str, Any]] = {}
        for name in names:
            state = self.states[name]
            if shown(state.uri) == state.uri:
                entries[name] = state.to_dict()
            else:
                self.warn(f"{name!r} is not kept: its address {shown(state.uri)} holds a secret")
        forgotten = tuple(gone)
        if entries or forgotten:
            change_entries(self.home, entries, forgotten, whole=True)


def open_registry(home: Path, *, lasting: Lasting, warn: Callable[[str], None]) -> RegisteredBundles:
    """Read the registered names of a home. Unreadable entries are left out with a warning."""
    states: dict[str, BundleState] = {}
    for name, entry in read_entries(home, warn).items():
        try:
            states[name] = BundleState.from_dict(name, entry)
        except (KeyError, ValueError, TypeError):
            warn(f"the entry of {name!r} in the registry cannot be read and is left out")
    stored = {name: state.uri for name, state in states.items()}
    register = RegisteredBundles(home, lasting, warn, states, stored)
    register.forget_lost_paths()
    return register


def registered_address(source: str | Path, registered: Mapping[str, str], base: Path) -> str:
    """Return the address that a caller means: of a registered name, of a path, or the text itself."""
    text = str(source)
    if text in registered:
        return registered[text]
    parsed = parse_uri(text)
    is_path = isinstance(source, Path) or parsed.is_file or ("://" not in text and looks_like_path(text))
    if not is_path or text.startswith("git+") or (parsed.subpath and parsed.is_file):
        return text
    path = base / Path(parsed.path if parsed.is_file else text).expanduser()
    return file_uri(str(real(path))) if path.exists() else text


def load_key(uri: str) -> str:
    """Return one spelling for each place; links are followed."""
    parsed = parse_uri(uri)
    if not parsed.is_file or not parsed.path.startswith("/"):
        return canonical(uri)
    return canonical(file_uri(str(real(Path(parsed.path))), parsed.subpath))
