"""Make the system prompt of a session anew for each request, at the cost of what changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from amplihack.bundles.completion import prompt_scope
from amplihack.bundles.context_files import keep_reachable, resolve_context
from amplihack.bundles.gathered_mentions import MentionResult
from amplihack.bundles.mentions import MentionScope
from amplihack.bundles.model import Bundle
from amplihack.bundles.prompt import SEPARATOR, Prompt, assemble, is_current
from amplihack.records import replace
from amplihack.system.bundle_files import BundleFiles


class PromptSource:
    """The prompt of one session. `bundle` is asked each time: a program may change it meanwhile.

    `more` returns references that were added to the context while the session runs.
    """

    def __init__(
        self,
        bundle: Callable[[], Bundle],
        scope: Callable[[], MentionScope],
        more: Callable[[], Sequence[str]] = lambda: (),
    ) -> None:
        self._bundle, self._scope, self._more = bundle, scope, more
        self._made: tuple[Bundle, MentionScope, tuple[str, ...], Prompt] | None = None
        self._told: set[str] = set()

    async def prompt(self) -> Prompt:
        """Return the prompt as the files are now."""
        return await asyncio.to_thread(self._prompt)

    def _prompt(self) -> Prompt:
        bundle, scope, more = self._bundle(), self._scope(), tuple(self._more())
        files = BundleFiles()
        if self._made is not None and self._made[:3] == (bundle, scope, more):
            prompt = self._made[3]
            if is_current(prompt, bundle, {path: files.stamp(path) for path in prompt.stamps}):
                return prompt
        resolved = keep_reachable(resolve_context(bundle, home=scope.home).bundle, files).bundle
        whole = _with_more(resolved, more)
        prompt = assemble(whole, prompt_scope(whole, scope), files, files.stamp)
        if more:
            prompt = _without_added(prompt, bundle.system_instruction or "")
        self._made = (bundle, scope, more, prompt)
        return prompt

    def news(self, prompt: Prompt) -> dict[str, Any] | None:
        """Return the payload of `mentions:resolved` for what was not told yet; None if there is nothing."""
        found, failed, repeated = [], [], 0
        for each in _all(prompt.results):
            if each.reason is not None:
                mark = f"{each.mention} {each.reason}"
                if mark not in self._told:
                    failed.append({"mention": each.mention, "reason": each.reason})
            else:
                mark = each.sha256 or str(each.path)
                if mark in self._told:
                    repeated += 1
                else:
                    found.append(_told(each))
            self._told.add(mark)
        if not found and not failed:
            return None
        return {
            "source": "bundle_context",
            "resolutions": found,
            "failed": failed,
            "deduplicated_count": repeated,
            "turn": None,
        }


def _told(result: MentionResult) -> dict[str, Any]:
    return {
        "mention": result.mention,
        "resolved_path": result.path,
        "source_type": result.source,
        "content_hash": result.sha256,
        "is_new": True,
    }


def _all(results: Sequence[MentionResult]) -> Iterator[MentionResult]:
    for each in results:
        yield each
        yield from _all(each.nested)


def _with_more(bundle: Bundle, more: Sequence[str]) -> Bundle:
    """Mention what was added at the end of the instruction, where mentions are looked for."""
    if not more:
        return bundle
    from amplihack.bundles.tree import Leaf

    text = "\n".join((bundle.system_instruction or "", *(f"@{each.removeprefix('@')}" for each in more)))
    return replace(
        bundle, instruction=Leaf(text, *(() if bundle.instruction is None else (bundle.instruction.origin,)))
    )


def _without_added(prompt: Prompt, instruction: str) -> Prompt:
    """Show the instruction as it was written; what was added is in the context below it."""
    context = prompt.text[len(prompt.instruction) :].removeprefix(SEPARATOR)
    text = SEPARATOR.join(part for part in (instruction, context) if part)
    return replace(prompt, text=text, instruction=instruction)
