"""Make a composed bundle usable, and list what it then holds.

References are resolved, agents are read and the system prompt is assembled. Only then is it known what each
part costs in every prompt.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence

from amplihack.bundles.context_files import Resolved, keep_reachable, resolve_context
from amplihack.bundles.file_report import place_of
from amplihack.bundles.gathered_mentions import MAX_DEPTH, Gathered, MentionResult, Unfollowed, gather
from amplihack.bundles.mention_syntax import find_mentions, written
from amplihack.bundles.mentions import PROJECT_FILE, MentionScope
from amplihack.bundles.model import Bundle
from amplihack.bundles.module_sources import keep_named_modules, keep_reachable_modules
from amplihack.bundles.near_paths import longer_name, meant_reference, nearest_file
from amplihack.bundles.ports import FileText, StampedTexts, Texts
from amplihack.bundles.prompt import Prompt, PromptPart, assemble, failures_of
from amplihack.bundles.reach import ESCAPES, is_within
from amplihack.bundles.roster import fill_roster
from amplihack.bundles.sections.row import Costs, Row, row
from amplihack.bundles.sections.table import SECTIONS
from amplihack.bundles.tokens import estimate_tokens
from amplihack.bundles.tree import Leaf, Table
from amplihack.bundles.uris import parse_uri, split_namespace
from amplihack.documents.suggest import closest
from amplihack.errors import Location, Problem, Severity
from amplihack.records import Record, replace

INSTRUCTION = "instruction"
_NO_PROMPT = Prompt("", (), (), {}, "")
_REASONS = {
    "not_found": "there is no such file",
    "permission_error": "it may not be read",
    "unsupported": "it is not a text file of a usable size",
    "path_traversal_rejected": "it leads out of where it may look",
    "bundle_not_registered": "no bundle of that name takes part",
}

_FIXES = {
    "permission_error": "check who may read it",
    "unsupported": "a file of the prompt is UTF-8 text of up to 1 MiB: split it, or name it without the @",
}


class CompletedBundle(Record, repr=False):
    """A bundle with its agents, its system prompt, and what is missing."""

    bundle: Bundle
    prompt: Prompt
    problems: tuple[Problem, ...]


def complete(
    bundle: Bundle,
    files: StampedTexts,
    scope: MentionScope | None,
    lay: Callable[[Bundle], Resolved] = Resolved,
) -> CompletedBundle:
    """Read every agent and context file; what is missing is told and left out.

    `lay` changes the bundle once its agents are read: modules of agents are changed like all others.

    `scope` says where mentions may lead besides the bundle. Without it there is no prompt, and references to
    context stay as they are, for a program that resolves them itself.
    """
    reachable = keep_reachable(bundle, files)
    bundle, told = reachable.bundle, [*reachable.problems]
    if scope is not None:
        resolved = resolve_context(bundle, home=scope.home)
        reachable = keep_reachable(resolved.bundle, files)
        bundle = reachable.bundle
        told += (*resolved.problems, *reachable.problems)
    filled = fill_roster(bundle, files, home=scope.home if scope is not None else None)
    laid = lay(filled.bundle)
    named = keep_named_modules(laid.bundle)
    modules = keep_reachable_modules(named.bundle, files)
    bundle = modules.bundle
    told += (*filled.problems, *laid.problems, *named.problems, *modules.problems)
    if scope is None:
        return CompletedBundle(bundle, _NO_PROMPT, tuple(told))
    prompt = assemble(bundle, prompt_scope(bundle, scope), files, files.stamp)
    lost = _lost_mentions(bundle, bundle.instruction, prompt.failures, files)
    told += (*_missing_context(bundle, files), *lost, *_told_unfollowed(bundle, prompt.unfollowed))
    return CompletedBundle(bundle, prompt, tuple(told))


def lost_agent_mentions(bundle: Bundle, scope: MentionScope, files: Texts) -> Iterator[Problem]:
    """Report what the instructions of agents mention and cannot have: they are prompts once it is spawned."""
    for _, agent in bundle.agents:
        text = agent.get("instruction") if isinstance(agent, Table) else None
        if isinstance(text, Leaf) and isinstance(text.value, str):
            inside = prompt_scope(replace(bundle, instruction=text), scope)
            gathered = Gathered()
            results = gather(text.value, inside, files, gathered)
            yield from _lost_mentions(bundle, text, failures_of(results), files)
            yield from _told_unfollowed(bundle, gathered.unfollowed)


def _told_unfollowed(bundle: Bundle, mentions: Iterable[Unfollowed]) -> Iterator[Problem]:
    """Tell mentions that lie too deep; those of downloaded bundles concern only their authors."""
    for each in mentions:
        what = f"{each.mention} is not followed: files that mention others are read {MAX_DEPTH} levels deep"
        fix = "mention it further up"
        severity: Severity = "warning" if bundle.reach.source_of(each.where.file) is None else "note"
        yield Problem(what, each.where, fix, severity, "mention-too-deep")


def prompt_scope(bundle: Bundle, scope: MentionScope) -> MentionScope:
    """Return where mentions of a bundle may lead: its namespaces, and what is around the user."""
    own = (bundle.base_path,) if bundle.base_path else ()
    return replace(
        scope,
        namespaces=bundle.source_base_paths,
        context=bundle.resolved_context,
        holder=bundle.instruction.origin.file if bundle.instruction else "",
        tops=frozenset((*own, *bundle.source_base_paths.values(), *bundle.reach.downloads)),
        reach=bundle.reach,
    )


def _missing_context(bundle: Bundle, files: Texts) -> Iterator[Problem]:
    for name, path in bundle.resolved_context.items():
        answer = files.read(path)
        if not isinstance(answer, FileText):
            entry = bundle.context.entries[name]
            near = nearest_file(path, files) if answer == "not_found" else None
            is_allowed = near is not None and bundle.reach.allows(entry.origin.file, near, files)
            fix = _FIXES.get(answer, "check the path; it starts at the bundle's directory")
            fix = f"did you mean {meant_reference(name, path, near)}?" if near and is_allowed else fix
            what, where = f"context {name!r}: {path}: {_REASONS[answer]}", place_of(entry)
            yield Problem(what, where, fix, "warning", "missing-context")


def _lost_mentions(
    bundle: Bundle, text: Leaf | None, failures: Sequence[MentionResult], files: Texts
) -> Iterator[Problem]:
    places = _mention_places(text)
    for failure in failures:
        if failure.mention is None or failure.reason is None:
            continue
        what = f"{_shown(failure.mention)}: {_REASONS[failure.reason]}"
        where = failure.where or places.get(failure.mention)
        if failure.reason == "path_traversal_rejected":
            yield Problem(what, where, "mention a file of the bundle, as @name:path", "error", ESCAPES)
        elif posixpath.basename(failure.mention.removeprefix("@")) == PROJECT_FILE:
            yield Problem(f"{what} in this project", where, "", "note", "mention-not-found")
        else:
            fix = _FIXES.get(failure.reason) or _meant_in_bundle(bundle, failure.mention, files)
            yield Problem(what, where, fix, "warning", "mention-not-found")


def _shown(mention: str) -> str:
    """Return a mention as it may be shown: one of an address ends at its second @, behind a password."""
    scheme, sign, _ = mention.partition("://")
    return f"{scheme}{sign}…" if sign else mention


def _meant_in_bundle(bundle: Bundle, mention: str, files: Texts) -> str:
    """Suggest the file that a mention probably means: the namespace that it lacks, or nearly its path."""
    said = mention.removeprefix("@").removeprefix("./")
    unknown = "check the path; if no file is meant, write \\@ or put it between backticks"
    namespace, path = split_namespace(said) or ("", said)
    if namespace and namespace not in bundle.source_base_paths:
        namespace = closest(namespace, bundle.source_base_paths) or namespace
    root = bundle.source_base_paths.get(namespace) if namespace else bundle.base_path
    if root is None or not path or path.startswith(("/", "~", ".")):
        return unknown
    place = posixpath.join(root, path)
    near = nearest_file(place, files) or longer_name(place, files)
    name = namespace or bundle.name
    if near is None or not name or not is_within(files.real(near) or near, root):
        return unknown
    meant = written(f"{name}:{posixpath.relpath(near, root)}")
    return f"did you mean {meant}?" if namespace else f"write {meant}"


def _mention_places(leaf: Leaf | None) -> dict[str, Location]:
    """Return where an instruction says each mention first."""
    if leaf is None or not leaf.line:
        return {}
    found: dict[str, Location] = {}
    for mention in find_mentions(str(leaf.value)):
        place = Location(leaf.origin.file, leaf.line + mention.line - 1, mention.column)
        found.setdefault(mention.text, place)
    return found


class Contents(Record):
    """`total_tokens` is the system prompt, the descriptions of agents, and tools as far as they are known."""

    rows: tuple[Row, ...]
    total_tokens: int


def contents_of(bundle: Bundle, prompt: Prompt, tool_tokens: Callable[[str], int | None]) -> Contents:
    """List everything; `tool_tokens` tells what the module in a directory costs, None where it cannot."""
    declared = {path: name for name, path in bundle.resolved_context.items()}
    costs: dict[str, int] = {}
    mentioned: list[Row] = []
    for part in prompt.parts:
        owner = part.owner or declared.get(part.path, "")
        if owner:
            costs[owner] = costs.get(owner, 0) + estimate_tokens(part.text)
        elif part.name != INSTRUCTION:
            mentioned.append(_mention(part, bundle))
    listed = [_with_tool_cost(each, tool_tokens) for each in rows(bundle, costs)]
    outside = {section.name for section in SECTIONS if section.costs_beside_prompt}
    beside = sum(each.tokens for each in listed if each.section in outside)
    return Contents((*listed, *mentioned), estimate_tokens(prompt.text) + beside)


def rows(bundle: Bundle, costs: Costs) -> tuple[Row, ...]:
    """List the entries of all sections, then the instruction; `costs` are those of context by name."""
    found = [
        each
        for section in SECTIONS
        for each in section.rows(section.name, bundle.section(section.name), costs)
    ]
    leaf = bundle.instruction
    if leaf is not None:
        found.append(row(INSTRUCTION, INSTRUCTION, leaf, "", estimate_tokens(str(leaf.value))))
    return tuple(found)


def _with_tool_cost(each: Row, tool_tokens: Callable[[str], int | None]) -> Row:
    if each.section != "tools" or not each.source or not parse_uri(each.source).is_file:
        return each
    tokens = tool_tokens(parse_uri(each.source).path)
    return replace(each, tokens=tokens) if tokens is not None else each


def _mention(part: PromptPart, bundle: Bundle) -> Row:
    """Show what the instruction mentions, directly or through what it mentions."""
    by = bundle.instruction.origin.bundle if bundle.instruction else ""
    return Row("mentions", mention_of(part), part.path, by, part.path, 1, estimate_tokens(part.text))


def mention_of(part: PromptPart) -> str:
    """Return the words that led to a file; the prompt shows the path that they stand for behind them."""
    return part.name.partition(" → ")[0]
