"""Let the modules of a session find the files that a text mentions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from amplihack.bundles.completion import prompt_scope
from amplihack.bundles.gathered_mentions import Gathered, text_of
from amplihack.bundles.mentions import Found, MentionScope, resolve
from amplihack.bundles.model import Bundle
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.files import real


class SessionMentions:
    """Resolves mentions as the session's own prompt does."""

    def __init__(self, bundle: Callable[[], Bundle], scope: MentionScope) -> None:
        self._bundle, self._scope = bundle, scope

    def resolve(self, mention: str) -> Path | None:
        """Return the file or directory that a mention names, or None."""
        found = resolve(mention, prompt_scope(self._bundle(), self._scope), BundleFiles())
        return Path(found.path) if isinstance(found, Found) else None


class SeenContents:
    """Remembers contents, so that a file is shown once in a session."""

    def __init__(self) -> None:
        self._gathered = Gathered()

    def add_file(self, path: Path, content: str) -> bool:
        """Add a file and tell whether its content is new."""
        return self._gathered.add(str(real(path)), text_of(content))

    def is_seen(self, content: str) -> bool:
        return text_of(content).sha256 in self._gathered.files

    def get_known_hashes(self) -> set[str]:
        return set(self._gathered.files)
