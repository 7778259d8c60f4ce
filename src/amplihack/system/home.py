"""Hold our home directory, the user's home and the current directory, decided once at the start."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from amplihack.errors import UsageError
from amplihack.records import Record, replace

GENERATION = "AMPLIHACK_ACTIVE_GENERATION"
_BUNDLE, _GENERATIONS = "amplifier-bundle", "generations"
_LONGEST_NAME, _LONGEST_PATH, _MOST_PARTS = 255, 4_000, 200


class Home(Record):
    """The directories that everything else is found from; built once and passed down."""

    root: Path  # ours: settings, the staged bundle, runs
    user: Path
    cwd: Path
    generation: str | None = None  # of the staged bundle, that this process works with to its end

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], cwd: Path) -> Home:
        """Return the home that the environment describes. An empty variable is unset. Raises UsageError."""
        user = _absolute(environment.get("HOME") or _login_directory(), cwd)
        chosen = environment.get("AMPLIHACK_HOME")
        root = _absolute(_expanded(chosen, user), cwd) if chosen else user / ".amplihack"
        return cls(root, user, cwd, environment.get(GENERATION) or _active(root))

    @property
    def bundle_link(self) -> Path:
        """Return where the staged bundle is for everybody: a link to the active generation."""
        return self.root / _BUNDLE

    @property
    def staged_bundle(self) -> Path:
        """Return the staged bundle as it was when this process began, or the run around it."""
        if self.generation is None:
            return self.bundle_link
        return self.root / _GENERATIONS / self.generation / _BUNDLE

    def at_generation(self, generation: str) -> Home:
        """Return the home with that generation of the staged bundle, if it is still here."""
        there = generation and (self.root / _GENERATIONS / generation / _BUNDLE).is_dir()
        return replace(self, generation=generation) if there else self

    def path(self, text: str | Path) -> Path:
        """Resolve a path as typed: `~` is the user's home, relative means from the current directory.

        Raises UsageError for what no system takes for a path.
        """
        _require_length(str(text))
        return _absolute(_expanded(str(text), self.user), self.cwd)


def this_process() -> tuple[Mapping[str, str], Path]:
    """Return the environment and directory of this process. Nothing else asks for them."""
    try:
        return dict(os.environ), Path.cwd()
    except FileNotFoundError as error:
        raise UsageError(
            "the current directory no longer exists", fix="change to a directory that does"
        ) from error


def login_name() -> str:
    """Return the name of the user of this process, or the number where it has none."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"user {os.getuid()}"


def _active(root: Path) -> str | None:
    """Return the generation that the link in a home root names; `install.generations` writes it."""
    try:
        first, generation, last = os.readlink(root / _BUNDLE).split("/")  # noqa: PTH115 - the text as it is
    except (OSError, ValueError):
        return None
    return generation if (first, last) == (_GENERATIONS, _BUNDLE) else None


def _require_length(text: str) -> None:
    if len(text) <= _LONGEST_NAME:
        return
    parts = text.split("/")
    if max(map(len, parts)) > _LONGEST_NAME or len(parts) > _MOST_PARTS or len(text) > _LONGEST_PATH:
        raise UsageError(f"this is too long for a path: {text[:40]}…", fix="check the path")


def _absolute(text: str | Path, cwd: Path) -> Path:
    return Path(os.path.normpath(cwd / text))


def _expanded(text: str, user: Path) -> str:
    if text == "~" or text.startswith("~/"):
        return f"{user}{text[1:]}"
    return text


def _login_directory() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError as error:
        raise UsageError(
            "there is no home directory: HOME is not set and this user has no account entry",
            fix="set HOME to a directory that you can write to",
        ) from error
