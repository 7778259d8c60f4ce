"""Make a composed bundle usable: resolve its references, read its agents, assemble its system prompt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from amplihack.bundles.context_files import repair_sources, resolve_context
from amplihack.bundles.file_report import place_of
from amplihack.bundles.mention_syntax import find_mentions
from amplihack.bundles.mentions import MentionScope
from amplihack.bundles.model import Bundle
from amplihack.bundles.ports import FileText, StampedTexts, Texts
from amplihack.bundles.prompt import Prompt, assemble
from amplihack.bundles.roster import fill_roster
from amplihack.errors import Location, Problem

_NO_PROMPT = Prompt("", (), (), {}, "")
_REASONS = {
    "not_found": "there is no such file",
    "permission_error": "it may not be read",
    "unsupported": "it is not a text file of a usable size",
    "path_traversal_rejected": "it leads out of where it may look",
    "bundle_not_registered": "no bundle of that name takes part",
}


@dataclass(frozen=True, slots=True, repr=False)
class CompletedBundle:
    """A bundle with its agents, its system prompt, and what is missing."""

    bundle: Bundle
    prompt: Prompt
    problems: tuple[Problem, ...]


def complete(bundle: Bundle, files: StampedTexts, scope: MentionScope | None) -> CompletedBundle:
    """Read every agent and context file; what is missing is told and left out.

    `scope` says where mentions may lead besides the bundle. Without it there is no prompt, and references to
    context stay as they are, for a program that resolves them itself.
    """
    told: list[Problem] = []
    if scope is not None:
        resolved = resolve_context(bundle)
        bundle, told = resolved.bundle, [*resolved.problems]
    root = bundle.source_base_paths.get(bundle.name) or bundle.base_path or ""
    repaired = repair_sources(bundle, root, files)
    filled = fill_roster(repaired.bundle, files)
    told += (*repaired.problems, *filled.problems)
    if scope is None:
        return CompletedBundle(filled.bundle, _NO_PROMPT, tuple(told))
    prompt = assemble(filled.bundle, _prompt_scope(filled.bundle, scope), files, files.stamp)
    told += (*_missing_context(filled.bundle, files), *_lost_mentions(filled.bundle, prompt))
    return CompletedBundle(filled.bundle, prompt, tuple(told))


def _prompt_scope(bundle: Bundle, scope: MentionScope) -> MentionScope:
    """Return where mentions of a bundle may lead: its namespaces and directory, and what is around it."""
    return replace(
        scope,
        namespaces=bundle.source_base_paths,
        bases=(*scope.bases, bundle.base_path) if bundle.base_path else scope.bases,
        context=bundle.resolved_context,
    )


def _missing_context(bundle: Bundle, files: Texts) -> Iterator[Problem]:
    for name, path in bundle.resolved_context.items():
        answer = files.read(path)
        if not isinstance(answer, FileText):
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
    """Return where the instruction says each mention first."""
    leaf = bundle.instruction
    if leaf is None or not leaf.line:
        return {}
    found: dict[str, Location] = {}
    for mention in find_mentions(str(leaf.value)):
        place = Location(leaf.origin.file, leaf.line + mention.line - 1, mention.column)
        found.setdefault(mention.text, place)
    return found
