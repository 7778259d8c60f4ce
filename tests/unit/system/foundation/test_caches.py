from __future__ import annotations

from pathlib import Path
from typing import Any

from amplihack.system.foundation.caches import FileCache, SimpleCache


def decode(data: Any) -> tuple[int, ...]:
    return tuple(data["numbers"])


def cache(directory: Path) -> FileCache[tuple[int, ...]]:
    return FileCache(directory, encode=lambda value: {"numbers": list(value)}, decode=decode)


def test_memory_keeps_the_value_itself() -> None:
    values: SimpleCache[object] = SimpleCache()
    value = object()
    assert values.get("key") is None
    values.set("key", value)
    assert values.get("key") is value
    assert "key" in values
    values.clear()
    assert "key" not in values


def test_the_disk_keeps_values_for_the_next_process(tmp_path: Path) -> None:
    cache(tmp_path / "new").set("key", (1, 2))
    again = cache(tmp_path / "new")
    assert again.get("key") == (1, 2)
    assert "key" in again
    assert again.get("other") is None
    again.clear()
    assert "key" not in again


def test_any_key_gives_a_safe_name_that_can_be_recognised(tmp_path: Path) -> None:
    values = cache(tmp_path)
    path = values.path_of("git+https://github.com/org/repo@main")
    assert path.parent == tmp_path
    assert path.name.startswith("git_https_github_com_org_rep")
    assert path.suffix == ".json"
    assert path != values.path_of("git+https://github.com/org/repo@next")


def test_an_entry_that_cannot_be_read_is_removed(tmp_path: Path) -> None:
    values = cache(tmp_path)
    for text in ("not json {{{", "[]", '{"numbers": 1}', "{}"):
        values.path_of("key").write_text(text)
        assert values.get("key") is None
        assert "key" not in values
