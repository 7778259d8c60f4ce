"""Bundles kept under a key, in memory and on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_foundation import Bundle, CacheProviderProtocol, DiskCache, SimpleCache
from amplifier_foundation.configurator import Origin

FULL = Bundle(
    "full",
    version="2.0.0",
    description="all of it",
    includes=["a", {"bundle": "b"}],
    namespace_root="src",
    session={"orchestrator": "loop"},
    providers=[{"module": "p"}],
    tools=[{"module": "t", "config": {"a": [1, None, True]}}],
    hooks=[{"module": "h"}],
    spawn={"exclude_tools": ["t"]},
    agents={"one": {"description": "ü"}},
    context={"c": Path("/c.md")},
    instruction="Hi",
    base_path=Path("/base"),
    source_base_paths={"full": Path("/base/src")},
    _pending_context={"ns:x": "ns:x"},
    origins={"tool:t": [Origin("inner", None), Origin("full", "inner")]},
    extra={"routing": {"m": 1}},
)


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_a_cache_gives_back_what_was_put_in(kind: str, tmp_path: Path) -> None:
    cache: CacheProviderProtocol = SimpleCache[Bundle]() if kind == "memory" else DiskCache(tmp_path / "new")
    assert isinstance(cache, CacheProviderProtocol)
    assert cache.get("key") is None
    cache.set("key", FULL)
    assert "key" in cache
    assert cache.get("key") == FULL
    cache.clear()
    assert "key" not in cache


def test_a_disk_cache_outlives_its_object_and_names_its_files(tmp_path: Path) -> None:
    DiskCache(tmp_path).set("git+https://example.com/org/repo@main", FULL)
    (file,) = tmp_path.glob("*.json")
    assert file.name.startswith("git_https_example_com_org_repo-"[:20])
    kept = DiskCache(tmp_path).get("git+https://example.com/org/repo@main")
    assert kept == FULL
    assert kept is not None
    assert kept.compose(Bundle("top")).tools == FULL.tools


@pytest.mark.parametrize("text", ["{", "[]", '{"name": "x"}'])
def test_an_entry_that_cannot_be_read_is_removed(text: str, tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    cache.set("key", FULL)
    (file,) = tmp_path.glob("*.json")
    file.write_text(text)
    assert cache.get("key") is None
    assert not file.exists()
