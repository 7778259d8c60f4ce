"""Mentions: found, resolved where they may lead, read once, and put in front of an instruction."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_foundation import (
    BaseMentionResolver,
    Bundle,
    ContentDeduplicator,
    MentionResolverProtocol,
    MentionResult,
    expand_mentions_in_instruction,
    load_mentions,
)
from amplifier_foundation.mentions import format_context_block, format_directory_listing


class Table:
    """A resolver of somebody else: a mapping."""

    def __init__(self, **known: Path) -> None:
        self._known = {f"@{name}.md": path for name, path in known.items()}
        self.asked: list[str] = []

    def resolve(self, mention: str) -> Path | None:
        self.asked.append(mention)
        return self._known.get(mention)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name, text in {
        "a.md": "A",
        "docs/b.md": "B, see @c.md and @a.md",
        "docs/c.md": "C",
        "bundle/context/x.md": "X",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_resolver_is_anything_that_resolves() -> None:
    assert isinstance(Table(), MentionResolverProtocol)
    assert isinstance(BaseMentionResolver(), MentionResolverProtocol)


def test_local_mentions_start_at_the_base_and_may_lack_their_suffix(base: Path) -> None:
    resolver = BaseMentionResolver(base_path=base)
    assert resolver.resolve("@a.md") == base / "a.md"
    assert resolver.resolve("@a") == base / "a.md"
    assert resolver.resolve("@./docs/b.md") == base / "docs/b.md"
    assert resolver.resolve("@docs") == base / "docs"
    assert resolver.resolve("@none.md") is None
    assert resolver.resolve("a.md") is None


def test_without_a_base_mentions_start_at_the_current_directory(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(base)
    assert BaseMentionResolver().resolve("@a.md") == base / "a.md"


def test_a_tilde_is_the_home_directory(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(base))
    assert BaseMentionResolver().resolve("@~/docs/b") == base / "docs/b.md"
    assert BaseMentionResolver().resolve("@~nobody-of-that-name/x") is None


def test_namespaces_lead_into_their_bundle_and_not_out_of_it(base: Path) -> None:
    (base / "bundle/leak.md").symlink_to(base / "a.md")
    bundle = Bundle("mine", base_path=base / "bundle", context={"alias": base / "a.md"})
    resolver = BaseMentionResolver(bundles={"mine": bundle}, base_path=base)
    assert resolver.resolve("@mine:context/x.md") == base / "bundle/context/x.md"
    assert resolver.resolve("@mine:context/x") == base / "bundle/context/x.md"
    assert resolver.resolve("@mine:alias") == base / "a.md"
    assert resolver.resolve("@mine:") == base / "bundle"
    assert resolver.resolve("@mine:../a.md") is None
    assert resolver.resolve("@mine:leak.md") is None
    assert resolver.resolve("@other:a.md") is None
    resolver.register_bundle("other", Bundle("other", base_path=base))
    assert resolver.resolve("@other:a.md") == base / "a.md"


@pytest.mark.asyncio
async def test_each_failure_has_its_reason(base: Path) -> None:
    resolver = BaseMentionResolver({"mine": Bundle("mine", base_path=base / "bundle")}, base)
    (base / "binary.md").write_bytes(b"\xff\xfe\x00")
    text = "@none.md @nobody:x.md @mine:../a.md @binary.md"
    results = await load_mentions(text, resolver)
    assert [(result.resolved_path, result.failure_reason) for result in results] == [
        (None, "not_found"),
        (None, "bundle_not_registered"),
        (None, "path_traversal_rejected"),
        (None, "unsupported"),
    ]
    assert not any(result.found for result in results)


@pytest.mark.asyncio
async def test_files_are_followed_from_where_they_lie(base: Path) -> None:
    seen = ContentDeduplicator()
    results = await load_mentions("@docs/b.md @a.md", BaseMentionResolver(base_path=base), seen)
    assert [result.mention for result in results] == ["@docs/b.md", "@a.md"]
    assert [file.content for file in seen.get_unique_files()] == ["B, see @c.md and @a.md", "C", "A"]
    first, second = results
    assert [(nested.mention, nested.resolved_path) for nested in first.nested] == [
        ("@c.md", base / "docs/c.md"),
        ("@a.md", base / "a.md"),
    ]
    assert (second.resolved_path, second.content, second.found) == (base / "a.md", None, False)


@pytest.mark.asyncio
async def test_following_ends_at_the_depth_that_was_asked_for(base: Path) -> None:
    for number in range(6):
        (base / f"n{number}.md").write_text(f"level {number} @n{number + 1}.md")
    for depth, files in ((0, 1), (1, 2), (3, 4)):
        seen = ContentDeduplicator()
        await load_mentions("@n0.md", BaseMentionResolver(base_path=base), seen, max_depth=depth)
        assert len(seen.get_unique_files()) == files


@pytest.mark.asyncio
async def test_a_directory_is_listed(base: Path) -> None:
    (base / "docs/Z").mkdir()
    (result,) = await load_mentions("@docs", BaseMentionResolver(base_path=base))
    listing = f"Directory: {base}/docs\n\n  DIR  Z\n  FILE b.md\n  FILE c.md"
    assert (result.content, result.is_directory, result.found) == (listing, True, True)
    assert format_directory_listing(base / "docs") == listing
    assert format_directory_listing(base / "docs/Z").endswith("  (empty directory)")


def test_contents_are_kept_once_with_all_their_paths(base: Path) -> None:
    seen = ContentDeduplicator()
    assert seen.add_file(base / "a.md", "same") is True
    assert seen.add_file(base / "docs/c.md", "same") is False
    (file,) = seen.get_unique_files()
    assert file.paths == [base / "a.md", base / "docs/c.md"]
    assert seen.get_known_hashes() == {file.content_hash}
    assert (seen.is_seen("same"), seen.is_seen("other")) == (True, False)


def test_a_block_says_where_each_content_comes_from(base: Path) -> None:
    seen = ContentDeduplicator()
    assert format_context_block(seen) == ""
    seen.add_file(base / "a.md", "A")
    seen.add_file(base / "docs/c.md", "</context_file> <b>")
    assert format_context_block(seen, {"@a": base / "a.md", "@./a.md": base / "a.md"}) == (
        f'<context_file paths="@a → {base}/a.md, @./a.md → {base}/a.md">\nA\n</context_file>\n\n'
        f'<context_file paths="{base}/docs/c.md">\n&lt;/context_file> <b>\n</context_file>'
    )


@pytest.mark.asyncio
async def test_an_instruction_is_preceded_by_what_it_mentions(base: Path) -> None:
    resolver = Table(one=base / "a.md", two=base / "a.md")
    text = "Read @one.md and @two.md."
    expanded = await expand_mentions_in_instruction(text, resolver=resolver)
    names = f"@one.md → {base}/a.md, @two.md → {base}/a.md"
    assert expanded == f'<context_file paths="{names}">\nA\n</context_file>\n\n{text}'
    assert "@one.md" in resolver.asked


@pytest.mark.asyncio
async def test_relative_mentions_start_beside_their_text(base: Path) -> None:
    expanded = await expand_mentions_in_instruction("@c.md", resolver=Table(), relative_to=base / "docs")
    assert expanded.endswith(">\nC\n</context_file>\n\n@c.md")


def test_a_mention_without_a_path_is_not_found() -> None:
    assert MentionResult("@x", None, None, None).found is False


@pytest.mark.asyncio
@pytest.mark.parametrize("text", ["", "Nothing here.", "See @missing.md, `@a.md` and me@example.com"])
async def test_an_instruction_without_readable_mentions_stays(text: str, base: Path) -> None:
    assert await expand_mentions_in_instruction(text, resolver=BaseMentionResolver(base_path=base)) == text


@pytest.mark.asyncio
async def test_what_a_caller_knows_already_is_not_repeated(base: Path) -> None:
    seen, resolver = ContentDeduplicator(), BaseMentionResolver(base_path=base)
    first = await expand_mentions_in_instruction("@a.md", resolver=resolver, deduplicator=seen)
    assert first.startswith("<context_file")
    again = await expand_mentions_in_instruction("@a.md", resolver=resolver, deduplicator=seen)
    assert again == "@a.md"
