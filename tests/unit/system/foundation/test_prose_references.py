from __future__ import annotations

from pathlib import Path

import pytest

from amplihack.system.foundation.prose_references import (
    extract_delegation_targets,
    extract_mentions,
    resolve_local_mention,
)


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("Hello world, @local/file.md", []),
        ("See @ns:context/a.md and @ns:b.md, again @ns:b.md.", ["@ns:context/a.md", "@ns:b.md"]),
        ("`@ns:code.md` and\n```\n@ns:fenced.md\n```\n@ns:real.md", ["@ns:real.md"]),
    ],
)
def test_only_mentions_of_a_namespace_count(text: str, mentions: list[str]) -> None:
    assert extract_mentions(text) == mentions


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("Hello world", []),
        ("delegate to a:builder, then python-dev:code-intel.", ["a:builder", "python-dev:code-intel"]),
        ("foundation:builder and foundation:builder", ["foundation:builder"]),
        ("see foundation:context/file.md or foundation:file.md", []),
        ("https://example.com git:thing http:thing", []),
        ("@foundation:agent", []),
        ("`ns:code`\n```\nns:fenced\n```\nns:real", ["ns:real"]),
        ("~~~\nns:never-closed", []),
    ],
)
def test_agents_are_named_in_prose(text: str, targets: list[str]) -> None:
    assert extract_delegation_targets(text) == targets


def test_a_mention_leads_to_a_file_of_the_repository(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    (root / "context").mkdir(parents=True)
    for name in ("context/a.md", "b.yaml", "c.yml"):
        (root / name).touch()
    (tmp_path / "outside.md").touch()
    assert resolve_local_mention("@ns:context/a.md", root) == root / "context/a.md"
    assert resolve_local_mention("@ns:context/a", root) == root / "context/a.md"
    assert resolve_local_mention("@ns:b", root) == root / "b.yaml"
    assert resolve_local_mention("c", root) == root / "c.yml"
    for mention in ("@ns:missing", "@ns:../outside.md", "@ns:context", "@ns:"):
        assert resolve_local_mention(mention, root) is None
