"""Load the files that a text mentions, each once, and those that they mention themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from amplifier_foundation.mentions.deduplicator import ContentDeduplicator
from amplifier_foundation.mentions.models import ContextFile, MentionResult
from amplifier_foundation.mentions.protocol import MentionResolverProtocol
from amplifier_foundation.mentions.resolver import BaseMentionResolver
from amplihack.bundles import gathered_mentions, mentions
from amplihack.bundles.gathered_mentions import MAX_DEPTH, Gathered, context_element
from amplihack.bundles.mentions import Answer, Found, Lost, MentionScope
from amplihack.bundles.uris import split_namespace
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.files import real

__all__ = ["expand_mentions_in_instruction", "format_context_block", "load_mentions"]


async def load_mentions(
    text: str,
    resolver: MentionResolverProtocol,
    deduplicator: ContentDeduplicator | None = None,
    relative_to: Path | None = None,
    max_depth: int = MAX_DEPTH,
) -> list[MentionResult]:
    """Return one result for each mention of the text, in order, also for files that are not found."""
    gathered = deduplicator._gathered if deduplicator is not None else Gathered()
    return await asyncio.to_thread(_load, text, resolver, gathered, relative_to, max_depth)


async def expand_mentions_in_instruction(
    instruction: str,
    *,
    resolver: MentionResolverProtocol,
    deduplicator: ContentDeduplicator | None = None,
    relative_to: Path | None = None,
) -> str:
    """Return the instruction with the newly mentioned content in front of it."""
    seen = deduplicator if deduplicator is not None else ContentDeduplicator()
    before = seen.get_known_hashes()
    results = await load_mentions(instruction, resolver, seen, relative_to)
    new = [file for file in seen.get_unique_files() if file.content_hash not in before]
    block = _format(new, _mentioned(results))
    return f"{block}\n\n{instruction}" if block else instruction


def format_context_block(
    deduplicator: ContentDeduplicator, mention_to_path: dict[str, Path] | None = None
) -> str:
    """Return each content once, in an element that names its origin; empty if there is none."""
    return _format(deduplicator.get_unique_files(), mention_to_path or {})


def _load(
    text: str,
    resolver: MentionResolverProtocol,
    gathered: Gathered,
    relative_to: Path | None,
    max_depth: int,
) -> list[MentionResult]:
    bases = (str(real(relative_to)),) if relative_to is not None else ()
    files = BundleFiles()
    scope = MentionScope(bases=bases, finder=_finder(resolver, files))
    if isinstance(resolver, BaseMentionResolver):
        scope = resolver.around(scope)
    results = gathered_mentions.gather(text, scope, files, gathered, max_depth=max_depth)
    return [_result(each) for each in results]


def _finder(
    resolver: MentionResolverProtocol, files: BundleFiles
) -> Callable[[str, tuple[str, ...]], Answer]:
    """Resolve local mentions beside the text that holds them; ask the resolver for all others."""

    def find(mention: str, bases: tuple[str, ...]) -> Answer:
        name = mention.removeprefix("@")
        is_local = split_namespace(name) is None and not name.startswith("~")
        beside = mentions.resolve(mention, MentionScope(bases=bases), files) if is_local and bases else None
        if isinstance(beside, Found):
            return beside
        if isinstance(resolver, BaseMentionResolver) and not resolver.is_overridden:
            return resolver.explain(mention)
        path = resolver.resolve(mention)
        if path is None:
            return Lost("not_found", "relative_path")
        return Found(str(real(path)), "relative_path")

    return find


def _result(found: gathered_mentions.MentionResult) -> MentionResult:
    return MentionResult(
        mention=found.mention or "",
        resolved_path=Path(found.path) if found.path is not None else None,
        content=found.content,
        error=None,
        is_directory=found.is_directory,
        failure_reason=found.reason,
        nested=[_result(each) for each in found.nested],
    )


def _mentioned(results: Iterable[MentionResult]) -> dict[str, Path]:
    """Return all mentions that lead to a file, including nested ones."""
    found: dict[str, Path] = {}
    for each in results:
        if each.resolved_path is not None:
            found.setdefault(each.mention, each.resolved_path)
        for mention, path in _mentioned(each.nested).items():
            found.setdefault(mention, path)
    return found


def _format(files: Iterable[ContextFile], mention_to_path: dict[str, Path]) -> str:
    names: dict[Path, list[str]] = {}
    for mention, path in mention_to_path.items():
        names.setdefault(real(path), []).append(mention)

    def shown(path: Path) -> list[str]:
        return [f"{mention} → {path}" for mention in names.get(path, ())] or [str(path)]

    return "\n\n".join(
        context_element([name for path in file.paths for name in shown(path)], file.content) for file in files
    )
