"""Decide which names of recipes and agents are safe, and which files they may mean."""

from __future__ import annotations

from typing import TypeAlias

from amplihack.errors import InputError
from amplihack.patterns import pattern
from amplihack.records import Record

_SEGMENT = pattern(r"[A-Za-z0-9_-]+")
_SUFFIXES = (".yaml", ".yml")
_FORM = "Agent reference must be in 'namespace:name' format"


class InvalidReference(InputError):
    """Raised for a name of an agent or a recipe that no file could have."""


# Recipes ----------------------------------------------------------------------------------------------


class ByName(Record):
    """A recipe to find in the search directories, by one safe word."""

    name: str


class ByPath(Record):
    """A recipe to find from the calling file; `searchable` if a search directory may hold it too."""

    candidates: tuple[str, ...]
    searchable: bool


class InBundle(Record):
    """A file of a bundle, `@bundle:path`."""

    bundle: str
    path: str


Reference: TypeAlias = ByName | ByPath | InBundle


def unsafe_name(name: str) -> str | None:
    """Return why a recipe cannot be looked up by this name; None if it can."""
    if not name:
        return "the name is empty"
    if name.startswith("."):
        return "the name begins with a dot"
    if "\0" in name:
        return "the name contains a NUL character"
    if "/" in name or "\\" in name:
        return "the name contains a path separator"
    return "the name contains '..'" if ".." in name else None


def recipe_reference(text: str) -> Reference:
    """Parse the `recipe` of a step: a name, a path or a bundle's file. Raises InvalidReference."""
    if text.startswith("@"):
        bundle, _, path = text[1:].partition(":")
        return InBundle(bundle, path)
    if "\0" in text or "\\" in text:
        raise InvalidReference(
            f"'{_shown(text)}' cannot name a recipe: it contains a backslash or a NUL character",
            fix="separate directories with /",
        )
    if "/" in text or text.endswith(_SUFFIXES):
        return ByPath(file_names(text), _plain_path(text))
    if not _SEGMENT.fullmatch(text):
        raise InvalidReference(
            f"'{_shown(text)}' cannot name a recipe",
            fix="a name has letters, digits, - and _ only; a path ends in .yaml",
        )
    return ByName(text)


def file_names(stem: str) -> tuple[str, ...]:
    """Return the files that a name or path without its suffix may mean, preferred ones first."""
    return (stem,) if stem.endswith(_SUFFIXES) else tuple(stem + suffix for suffix in _SUFFIXES)


def _plain_path(text: str) -> bool:
    stem = text.removesuffix(".yaml").removesuffix(".yml")
    return all(_SEGMENT.fullmatch(segment) for segment in stem.split("/"))


# Agents -----------------------------------------------------------------------------------------------


class AgentReference(Record):
    """The parts of `namespace:category:name`."""

    namespace: str
    name: str
    category: str | None = None

    def __str__(self) -> str:
        return ":".join(part for part in (self.namespace, self.category, self.name) if part)


def parse_agent_reference(text: str) -> AgentReference:
    """Parse `namespace:name` or `namespace:category:name`. Raises InvalidReference."""
    if ":" not in text:
        raise _invalid(f"{_FORM} or 'namespace:category:name', got '{_shown(text)}'")
    segments = text.split(":")
    for segment in segments:
        if not _SEGMENT.fullmatch(segment):
            raise _invalid(
                f"Invalid agent reference segment '{_shown(segment)}': use letters, digits, - and _ only"
            )
    match segments:
        case [namespace, name]:
            return AgentReference(namespace, name)
        case [namespace, category, name]:
            return AgentReference(namespace, name, category)
        case _:
            raise _invalid(
                f"{_FORM} or 'namespace:category:name', got {len(segments)} parts in '{_shown(text)}'"
            )


def agent_candidates(reference: AgentReference) -> tuple[str, ...]:
    """Return the files of a search directory that may hold the agent, in order."""
    namespace, name, category = reference.namespace, reference.name, reference.category
    by_category = (f"{namespace}/{category}/{name}.md", f"{category}/{name}.md") if category else ()
    return (
        *by_category,
        # Where framework bundles keep their agents, the specific directories before the general ones.
        f"{namespace}/core/{name}.md",
        f"{namespace}/specialized/{name}.md",
        f"core/{name}.md",
        f"specialized/{name}.md",
        f"{namespace}/{name}.md",
        f"{name}.md",
    )


def agent_reference_of(path: str, namespace: str = "amplihack") -> AgentReference | None:
    """Return a reference that leads to a file of a search directory; None if no reference does."""
    segments = path.removesuffix(".md").split("/")
    if not path.endswith(".md") or not all(_SEGMENT.fullmatch(segment) for segment in segments):
        return None
    match segments:
        case [name] | ["core" | "specialized", name]:
            return AgentReference(namespace, name)
        case [owner, name] | [owner, "core" | "specialized", name]:
            return AgentReference(owner, name)
        case [owner, category, name]:
            return AgentReference(owner, name, category)
        case _:
            return None


def _invalid(what: str) -> InvalidReference:
    return InvalidReference(f"Invalid agent reference: {what}", fix="write it like amplihack:builder")


def _shown(text: str) -> str:
    """Return the text shortened and on one line, for a message."""
    plain = text.encode("unicode_escape").decode("ascii") if not text.isprintable() else text
    return plain if len(plain) <= 80 else plain[:79] + "…"
