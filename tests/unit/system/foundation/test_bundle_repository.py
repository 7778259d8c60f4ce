from __future__ import annotations

import hashlib
import re
from pathlib import Path
from textwrap import dedent

import pytest

from amplihack.bundles.errors import BundleError
from amplihack.bundles.foundation.repo_graph import Edge
from amplihack.system.foundation.bundle_repository import bundle_repo_dot, look_through

FILES = {
    "bundle.md": """\
        ---
        bundle: {name: mine}
        includes:
          - bundle: git+https://github.com/org/other@main
          - bundle: git+https://github.com/org/other@main#subdirectory=providers/p.yaml
          - bundle: mine:behaviors/x
        ---
        Hello @mine:context/guide.md
        """,
    "behaviors/x.yaml": """\
        bundle: {name: x-behavior}
        includes: ["git+https://github.com/org/mine@main#subdirectory=behaviors/y.yaml"]
        agents: {include: ["mine:ann"]}
        tools: [{module: tool-t, source: ../modules/tool-t}]
        context: {include: ["mine:context/guide.md"]}
        """,
    "behaviors/y.yaml": "bundle: {name: y-behavior}\n",
    "behaviors/broken.yaml": "bundle: {\n",
    "bundles/full.yaml": "bundle: {name: full}\nincludes: [mine, mine:providers/p]\n",
    "experiments/wild.yaml": "bundle: {name: wild}\nincludes: [mine]\n",
    "providers/p.yaml": "bundle: {name: p}\n",
    "agents/ann.md": "---\nmeta: {name: ann, description: Helps with many things.}\n---\n",
    "context/guide.md": "word " * 1_000,
    "modules/tool-t/pyproject.toml": "",
    ".git/config": '[core]\n\tbare = false\n[remote "origin"]\n\turl = git@github.com:Org/mine.git\n',
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return tmp_path


def test_every_part_and_every_relation_is_found(repository: Path) -> None:
    graph = look_through(repository)
    assert [(part.key, part.kind) for part in graph.parts if part.kind != "external"] == [
        ("bundle.md", "root"),
        ("agents/ann.md", "agents"),
        ("behaviors/broken.yaml", "behaviors"),
        ("behaviors/x.yaml", "behaviors"),
        ("behaviors/y.yaml", "behaviors"),
        ("context/guide.md", "context"),
        ("experiments/wild.yaml", "experiments"),
        ("modules/tool-t", "modules"),
        ("providers/p.yaml", "providers"),
        ("bundles/full.yaml", "standalones"),
    ]
    external = "git+https://github.com/org/other@main"
    assert graph.edges == (
        Edge("behaviors/x.yaml", "agents/ann.md", "owns"),
        Edge("behaviors/x.yaml", "behaviors/y.yaml", "composes"),
        Edge("behaviors/x.yaml", "context/guide.md", "uses"),
        Edge("behaviors/x.yaml", "modules/tool-t", "uses"),
        Edge("bundle.md", "behaviors/x.yaml", "composes"),
        Edge("bundle.md", "context/guide.md", "uses"),
        Edge("bundle.md", external, "extends"),
        Edge("bundle.md", f"{external}#subdirectory=providers/p.yaml", "extends"),
        Edge("bundles/full.yaml", "bundle.md", "extends"),
        Edge("bundles/full.yaml", "providers/p.yaml", "uses"),
        Edge("experiments/wild.yaml", "bundle.md", "forks"),
    )


def test_the_picture_shows_costs_and_what_is_external(repository: Path) -> None:
    text = bundle_repo_dot(repository)
    assert text.startswith('digraph "mine" {\n  source_hash="')
    assert "  rankdir=LR;" in text
    for cluster in ("behaviors", "standalones", "agents", "modules", "providers", "experiments", "context"):
        assert f"subgraph cluster_{cluster} {{" in text
    assert "cluster_legend" in text
    assert 'context/guide.md\\n~1250 tokens", fillcolor="#fff9c4"' in text
    assert '"broken (unreadable)"' in text
    dashed = [line for line in text.splitlines() if "->" in line and "dashed" in line]
    assert [("color=red" in line) for line in dashed] == [True, False]


def test_the_same_repository_gives_the_same_text_and_its_hash_tells_changes(repository: Path) -> None:
    text = bundle_repo_dot(repository)
    assert bundle_repo_dot(repository) == text
    found = re.search(r'  source_hash="([0-9a-f]{64})";\n', text)
    assert found is not None
    assert hashlib.sha256(text.replace(found[0], "").encode()).hexdigest() == found[1]
    (repository / "context/guide.md").write_text("short")
    assert found[1] not in bundle_repo_dot(repository)


def test_a_directory_without_a_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"there is no bundle\.md"):
        bundle_repo_dot(tmp_path)
