"""Read the bundles that a recipe names for its agents, and tell where an agent that is not here comes from.

Nothing is fetched for it: the user decides which bundle answers.
"""

from __future__ import annotations

from pathlib import PurePath

from amplihack.credentials import hide_credentials
from amplihack.documents import Mapping, Node, Scalar, Sequence
from amplihack.recipes.model import Dependency, Recipe
from amplihack.recipes.reading import Report


def read_dependencies(node: Node | None, report: Report) -> tuple[Dependency, ...]:
    """Return the bundles of `dependencies:`; an entry without a source is told and left out."""
    found: list[Dependency] = []
    for entry in node.items if isinstance(node, Sequence) else ():
        source = entry.entries.get("source") if isinstance(entry, Mapping) else entry
        if isinstance(source, Scalar) and source.text:
            agents = entry.entries.get("required_agents") if isinstance(entry, Mapping) else None
            found.append(Dependency(source.text, _texts(agents)))
        else:
            what = "dependencies: an entry names no bundle"
            report.add("no-source", what, entry.where, "write `- source: <bundle>`", "warning")
    return tuple(found)


def _texts(node: Node | None) -> tuple[str, ...]:
    items = node.items if isinstance(node, Sequence) else ()
    return tuple(item.text for item in items if isinstance(item, Scalar))


def how_to_get(agent: str, recipe: Recipe) -> str:
    """Return how to run with the bundle that supplies an agent, or "" where the recipe names none for it."""
    named = [each for each in recipe.dependencies if agent in each.agents]
    sources = [_source(each, recipe) for each in named or recipe.dependencies]
    if not sources:
        return ""
    said = "the recipe says that it comes from" if named else "the recipe's `dependencies:` may have it:"
    return f"{said} {', '.join(sources)}; run with `--agent session:{sources[0]}`"


def _source(dependency: Dependency, recipe: Recipe) -> str:
    """Return the source as a command takes it: a path counts from the recipe's own directory."""
    source = dependency.source
    if ":" in source or source.startswith(("~", "@")):
        return hide_credentials(source)
    path = PurePath(recipe.where.file).parent / source
    return str(path) if path.is_absolute() else f"./{path}"
