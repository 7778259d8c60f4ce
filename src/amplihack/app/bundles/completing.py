"""The last steps to a usable bundle: references resolved, agents read, the system prompt assembled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from amplihack.app.workspace import Workspace
from amplihack.bundles.agents import fill_roster
from amplihack.bundles.assemble import Prompt, assemble
from amplihack.bundles.context import repair_sources, resolve_context
from amplihack.bundles.mention_syntax import find_mentions
from amplihack.bundles.mentions import Scope
from amplihack.bundles.model import Bundle
from amplihack.bundles.ports import Text
from amplihack.bundles.reading import place_of
from amplihack.errors import Location, Problem
from amplihack.system.bundle_files import BundleFiles

_REASONS = {
    "not_found": "there is no such file",
    "permission_error": "it may not be read",
    "unsupported": "it is not a text file of a usable size",
    "path_traversal_rejected": "it leads out of where it may look",
    "bundle_not_registered": "no bundle of that name takes part",
}


@dataclass(frozen=True, slots=True, repr=False)
class Completed:
    bundle: Bundle
    prompt: Prompt
    problems: tuple[Problem, ...]


def complete(workspace: Workspace, bundle: Bundle, files: BundleFiles) -> Completed:
    """Reads every context and agent file; what is missing is told and left out."""
    resolved = resolve_context(bundle)
    root = resolved.bundle.source_base_paths.get(resolved.bundle.name) or resolved.bundle.base_path or ""
    repaired = repair_sources(resolved.bundle, root, files)
    filled = fill_roster(repaired.bundle, files)
    prompt = assemble(filled.bundle, prompt_scope(workspace, filled.bundle), files, files.stamp)
    problems = (
        *resolved.problems,
        *repaired.problems,
        *filled.problems,
        *_missing_context(filled.bundle, files),
        *_lost_mentions(filled.bundle, prompt),
    )
    return Completed(filled.bundle, prompt, problems)


def prompt_scope(workspace: Workspace, bundle: Bundle) -> Scope:
    """Where mentions of a bundle may lead."""
    base = (str(workspace.directory),) + ((bundle.base_path,) if bundle.base_path else ())
    return Scope(
        namespaces=bundle.source_base_paths,
        bases=base,
        home=str(workspace.home.user),
        user=str(workspace.home.root),
        project=str(workspace.directory / ".amplihack"),
        context=bundle.resolved_context,
    )


def _missing_context(bundle: Bundle, files: BundleFiles) -> Iterator[Problem]:
    for name, path in bundle.resolved_context.items():
        answer = files.read(path)
        if not isinstance(answer, Text):
            what = f"context {name!r}: {path}: {_REASONS[answer]}"
            fix = "check the path; it starts at the bundle's directory"
            where = place_of(bundle.context.entries[name])
            yield Problem(what, where, fix, "warning", "missing-context")


def _lost_mentions(bundle: Bundle, prompt: Prompt) -> Iterator[Problem]:
    places = _mention_places(bundle)
    for failure in prompt.failures:
        if failure.mention is not None and failure.reason is not None:
            what = f"{failure.mention}: {_REASONS[failure.reason]}"
            yield Problem(what, places.get(failure.mention), "", "warning", "mention-not-found")


def _mention_places(bundle: Bundle) -> dict[str, Location]:
    """Where the instruction says each mention first."""
    leaf = bundle.instruction
    if leaf is None or not leaf.line:
        return {}
    found: dict[str, Location] = {}
    for mention in find_mentions(str(leaf.value)):
        place = Location(leaf.origin.file, leaf.line + mention.line - 1, mention.column)
        found.setdefault(mention.text, place)
    return found
