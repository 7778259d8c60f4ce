"""Find agents that are markdown files, by reference."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from amplihack.documents import Document, Mapping, Scalar, split_frontmatter
from amplihack.documents.suggest import closest
from amplihack.errors import InputError, NotFound
from amplihack.recipes.naming import (
    AgentReference,
    agent_candidates,
    agent_reference_of,
    parse_agent_reference,
)
from amplihack.records import Record, replace
from amplihack.system.files import inside, read_text, real
from amplihack.system.home import Home
from amplihack.system.recipe_files import Refused
from amplihack.system.search_dirs import PACKAGED_BUNDLE, distinct, is_directory

_DEEPEST = 3  # namespace, category, name


class AgentPage(Record):
    """The text of an agent's file below the frontmatter, and the model that it asks for."""

    text: str
    model: str | None
    path: Path
    namesake: str = ""  # the agent that this is, if another one of the same name was asked for


class AgentFiles(Record):
    """Finds agents in directories, searched in order."""

    directories: tuple[Path, ...]
    framework: tuple[Path, ...] = ()  # those of them that hold our own agents

    @classmethod
    def of(cls, home: Home, working_dir: Path) -> AgentFiles:
        """Search the user's agents, the project's, then the staged and the packaged framework bundle's."""
        project = home.cwd / working_dir
        framework = (home.staged_bundle / "agents", PACKAGED_BUNDLE / "agents")
        return cls(
            (
                home.root / ".claude" / "agents",
                project / ".claude" / "agents",
                project / "amplifier-bundle" / "agents",
                project / "src" / "amplihack" / "amplifier-bundle" / "agents",
                project / "src" / "amplihack" / ".claude" / "agents",
                *framework,
            ),
            framework,
        )

    def resolve(self, reference: str) -> AgentPage:
        """Return the agent that a reference names.

        Raises InvalidReference, NotFound, Refused for a link that leaves its directory, or InputError for a
        file that cannot be read.
        """
        wanted = parse_agent_reference(reference)
        searched = self._searched()
        for directory in searched:
            for candidate in agent_candidates(wanted):
                path = directory / candidate
                if os.path.lexists(path) and not is_directory(path):
                    page = _persona(_contained(path, directory))
                    return replace(page, namesake=self._namesake(wanted, path, directory))
        raise NotFound(
            f"Agent '{reference}' not found. Searched: {len(searched)} directories searched",
            fix=self._fix(reference, searched),
        )

    def _namesake(self, wanted: AgentReference, path: Path, directory: Path) -> str:
        """Return which of our own agents a file is, if it was asked for as somebody else's."""
        found = _reference(path, directory) if directory in self.framework else None
        return str(found) if found and found.namespace != wanted.namespace else ""

    def known(self) -> tuple[str, ...]:
        """Return references to all agents, sorted."""
        found = {
            str(reference)
            for directory in self._searched()
            for path in _pages(directory)
            if (reference := _reference(path, directory)) is not None
        }
        return tuple(sorted(found))

    def _searched(self) -> tuple[Path, ...]:
        return distinct(directory for directory in self.directories if is_directory(directory))

    def _fix(self, reference: str, searched: tuple[Path, ...]) -> str:
        if near := closest(reference, self.known()):
            return f'did you mean "{near}"?'
        listed = ", ".join(str(directory) for directory in searched or self.directories)
        return f"put its .md file into one of: {listed}"


def _contained(path: Path, directory: Path) -> Path:
    if not inside(path, directory):
        raise Refused(
            f"{path} is refused: it leads out of {directory}", fix="copy the file into the directory"
        )
    return real(path)


def _persona(path: Path) -> AgentPage:
    page = split_frontmatter(read_text(path, kind="Agent file"), str(path))
    if page.body_line == 1:
        return AgentPage(page.body, None, path)
    return AgentPage(page.body.lstrip("\r\n"), _model(page.frontmatter), path)


def _model(frontmatter: Document | None) -> str | None:
    if frontmatter is None or not isinstance(frontmatter.root, Mapping):
        return None
    node = frontmatter.root.entries.get("model")
    if node is None or (isinstance(node, Scalar) and (node.absent or not node.text.strip())):
        return None
    if not isinstance(node, Scalar):
        raise InputError("the model of an agent is one word", where=node.where, fix="write `model: name`")
    # Files made for hosts say `inherit` for "the model of whoever asks": the same as saying nothing.
    return None if node.text == "inherit" else node.text


def _pages(directory: Path) -> Iterator[Path]:
    """Yield the markdown files of a directory, no deeper than a reference can reach."""
    for parent, children, files in os.walk(directory):
        if len(Path(parent).relative_to(directory).parts) >= _DEEPEST - 1:
            children.clear()
        yield from (Path(parent, name) for name in files if name.endswith(".md"))


def _reference(path: Path, directory: Path) -> AgentReference | None:
    reference = agent_reference_of(path.relative_to(directory).as_posix())
    return reference if reference and inside(path, directory) else None
