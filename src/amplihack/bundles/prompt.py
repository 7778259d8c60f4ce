"""Assemble the system prompt: the instruction, what it mentions, and declared context.

Assembling reads files, so a prompt remembers the stamps of all it looked at; as long as they are the
same, it is still the prompt.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from amplihack.bundles.context_files import expands_mentions
from amplihack.bundles.gathered_mentions import (
    MAX_DEPTH,
    Gathered,
    MentionResult,
    Unfollowed,
    context_element,
    gather,
    gather_nested,
)
from amplihack.bundles.mentions import MentionScope
from amplihack.bundles.model import Bundle
from amplihack.bundles.ports import DirectoryListing, FileText, Texts, Unreadable
from amplihack.bundles.provenance import Entry, include_chains
from amplihack.bundles.tree import Leaf
from amplihack.records import Record, field

SEPARATOR = "\n\n---\n\n"
Stamp: TypeAlias = tuple[int, int] | None  # mtime_ns and size; None when nothing is there


class PromptPart(Record):
    """A stretch of the prompt: the instruction itself, or one context file."""

    name: str  # "instruction", a context name or a mention
    path: str
    text: str
    sha256: str
    first_line: int = 1  # of the file that the text begins at
    owner: str = ""  # the context name that led to it; empty when the instruction did
    declared: bool = False  # named by a `context:` section itself


class Prompt(Record):
    """A system prompt, its parts, and the files that it depends on."""

    text: str
    parts: tuple[PromptPart, ...]
    results: tuple[MentionResult, ...]  # mentions and declared files, found or not
    stamps: Mapping[str, Stamp]
    instruction: str
    unfollowed: tuple[Unfollowed, ...] = ()

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def failures(self) -> tuple[MentionResult, ...]:
        """Return what was asked for and is not there, nested mentions included."""
        return failures_of(self.results)


def failures_of(results: Sequence[MentionResult]) -> tuple[MentionResult, ...]:
    """Return those of the results that failed, nested ones included, in the order of the text."""
    found: list[MentionResult] = []
    waiting = list(reversed(results))
    while waiting:
        result = waiting.pop()
        found += [result] if result.reason else []
        waiting.extend(reversed(result.nested))
    return tuple(found)


def assemble(bundle: Bundle, scope: MentionScope, world: Texts, stamp: Callable[[str], Stamp]) -> Prompt:
    """Assemble a prompt: instruction, its mentions, then declared context, each content once."""
    instruction = bundle.system_instruction or ""
    gathered = Gathered()
    watch = _Watch(world)
    results = list(gather(instruction, scope, watch, gathered))
    declared: set[str] = set()
    expand = expands_mentions(bundle)
    for name, path in bundle.resolved_context.items():
        gathered.owner = name
        result = _declared(path, scope, watch, gathered, expand=expand)
        results.append(result)
        if result.content is not None and result.sha256:
            declared.add(result.sha256)
    parts = _parts(bundle, gathered, declared)
    stamps = {path: stamp(path) for path in watch.touched}
    text = _render(instruction, parts, gathered)
    return Prompt(text, parts, tuple(results), stamps, instruction, gathered.unfollowed)


class _Watch(Record, frozen=False):
    """Passes questions on and notes what an answer depends on, files that are not there included."""

    world: Texts
    touched: dict[str, None] = field(default_factory=dict)

    def real(self, path: str) -> str | None:
        found = self.world.real(path)
        if found is None:
            self.touched[path] = None
        return found

    def is_dir(self, path: str) -> bool:
        return self.world.is_dir(path)

    def is_file(self, path: str) -> bool:
        return self.world.is_file(path)

    def read(self, path: str) -> FileText | Unreadable:
        self.touched[path] = None
        return self.world.read(path)

    def list(self, path: str) -> DirectoryListing:
        self.touched[path] = None
        return self.world.list(path)


def is_current(prompt: Prompt, bundle: Bundle, stamps: Mapping[str, Stamp]) -> bool:
    """Tell whether a prompt would come out the same, given the stamps of `prompt.stamps` as they are now."""
    return prompt.instruction == (bundle.system_instruction or "") and stamps == prompt.stamps


def _declared(
    path: str, scope: MentionScope, world: Texts, gathered: Gathered, *, expand: bool
) -> MentionResult:
    text = world.read(path)
    if not isinstance(text, FileText):
        return MentionResult(None, None, reason=text, source="bundle_context_decl")
    is_new = gathered.add(path, text)
    nested: tuple[MentionResult, ...] = ()
    if is_new and expand:
        nested = gather_nested(path, text.content, scope, world, gathered, MAX_DEPTH, 1)
    content = text.content if is_new else None
    return MentionResult(None, path, content, False, None, "bundle_context_decl", text.sha256, nested)


def _parts(bundle: Bundle, gathered: Gathered, declared: set[str]) -> tuple[PromptPart, ...]:
    found: list[PromptPart] = []
    if bundle.instruction:
        text = str(bundle.instruction.value)
        mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        file, line = bundle.instruction.origin.file, bundle.instruction.line or 1
        found.append(PromptPart("instruction", file, text, mark, line))
    for each in gathered.files.values():
        own = each.sha256 in declared
        name = each.owner if own else each.names[0]
        found.append(PromptPart(name, each.paths[0], each.content, each.sha256, 1, each.owner, own))
    return tuple(found)


def _render(instruction: str, parts: tuple[PromptPart, ...], gathered: Gathered) -> str:
    """Render the parts: declared context below its name, after what the instruction mentions."""
    blocks = []
    for part in parts:
        if part.sha256 in gathered.files and part.name != "instruction":
            element = context_element(gathered.files[part.sha256].names, part.text)
            blocks.append(f"# Context: {part.name}\n\n{element}" if part.declared else element)
    context = "\n\n".join(blocks)
    return SEPARATOR.join(text for text in (instruction, context) if text)


def with_mentioned(text: str, bundle_scope: MentionScope, world: Texts) -> str:
    """Return a text with the files that it mentions in front of it, each content once."""
    gathered = Gathered()
    gather(text, bundle_scope, world, gathered)
    blocks = [context_element(each.names, each.content) for each in gathered.files.values()]
    return "\n\n".join((*blocks, text))


def why_sentence(bundle: Bundle, prompt: Prompt, sentence: str) -> tuple[Entry, ...]:
    """Return where a sentence of the prompt comes from: each part that says it, with file and line."""
    wanted = " ".join(sentence.split())
    if not wanted:
        return ()
    chains = include_chains(bundle.lineage)
    found: list[Entry] = []
    for part in prompt.parts:
        line = _line_of(part.text, wanted)
        if line is not None:
            name = _contributor(bundle, part)
            via = next((chain for key, chain in chains.items() if key[0] == name), ())
            found.append(Entry(part.name, sentence, name, part.path, part.first_line + line, via))
    return tuple(found)


def _line_of(text: str, wanted: str) -> int | None:
    """Return the line, from 0, on which a text says something, however its white space runs."""
    words = text.split()
    at = " ".join(words).find(wanted)
    if at < 0:
        return None
    before = len(" ".join(words)[:at].replace(" ", ""))
    for number, line in enumerate(text.split("\n")):
        before -= len("".join(line.split()))
        if before < 0:
            return number
    return 0


def _contributor(bundle: Bundle, part: PromptPart) -> str:
    """Return the bundle that brought a part in: it declared the context, or wrote the instruction."""
    leaf = bundle.context.entries.get(part.owner) if part.owner else bundle.instruction
    return leaf.origin.bundle if isinstance(leaf, Leaf) else ""
