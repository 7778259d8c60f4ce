from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from amplihack.bundles.errors import BundleLoadError
from amplihack.system.foundation.app_yaml import parse_frontmatter, parse_page, read_yaml, write_yaml


@pytest.mark.asyncio
async def test_what_is_written_is_read_again_in_order(tmp_path: Path) -> None:
    file = tmp_path / "new" / "x.yaml"
    data = {"z": 1, "a": {"text": "größer", "list": [1, "on", "1.10"]}, "none": None}
    await write_yaml(file, data)
    read = await read_yaml(file)
    assert read == data
    assert list(read or {}) == ["z", "a", "none"]
    assert "größer" in file.read_text(encoding="utf-8")
    assert "{" not in file.read_text(encoding="utf-8")


@pytest.mark.asyncio
async def test_a_missing_file_is_none_and_an_empty_one_is_empty(tmp_path: Path) -> None:
    assert await read_yaml(tmp_path / "missing.yaml") is None
    (tmp_path / "empty.yaml").write_text("\ufeff# nothing\n", encoding="utf-8")
    assert await read_yaml(tmp_path / "empty.yaml") == {}


@pytest.mark.asyncio
async def test_what_is_no_mapping_or_no_yaml_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("- a\n")
    with pytest.raises(BundleLoadError, match=r"x\.yaml should hold a mapping, and holds a list"):
        await read_yaml(file)
    file.write_text("a: [")
    with pytest.raises(yaml.YAMLError):
        await read_yaml(file)
    file.write_text("!!python/object/apply:os.getcwd []")
    with pytest.raises(yaml.YAMLError):
        await read_yaml(file)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\na: 1\n---\n\n# Body\n", ({"a": 1}, "# Body\n")),
        ("\ufeff\ufeff---\na: 1\n---\nbody", ({"a": 1}, "body")),
        ("---  \r\na: 1\r\n---\t\r\nbody\r\n", ({"a": 1}, "body\r\n")),
        ("---\n---\nbody\n\n---\nrule", ({}, "body\n\n---\nrule")),
        ("---\n# only a comment\n---\n", ({}, "")),
        ("---\na: 1\n---text\n---\nbody", None),
        ("# heading\n\n---\na: 1\n---\n", ({}, "# heading\n\n---\na: 1\n---\n")),
        ("\n---\na: 1\n---\n", ({}, "\n---\na: 1\n---\n")),
        ("---\nnever closed\n", ({}, "---\nnever closed\n")),
        ("---\na: 1\na: 2\n---\n", ({"a": 2}, "")),
        ("", ({}, "")),
    ],
)
def test_frontmatter_stands_between_two_lines_at_the_top(
    text: str, expected: tuple[dict[str, int], str] | None
) -> None:
    if expected is None:
        with pytest.raises(yaml.YAMLError):
            parse_frontmatter(text)
    else:
        assert parse_frontmatter(text) == expected


def test_frontmatter_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(BundleLoadError, match="the frontmatter should hold a mapping, and holds a list"):
        parse_frontmatter("---\n- a\n---\n")


def test_a_yaml_page_is_all_frontmatter(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("\ufeffbundle:\n  name: x\n", encoding="utf-8")
    (tmp_path / "x.md").write_text("\ufeff---\nname: x\n---\nbody", encoding="utf-8")
    assert parse_page(tmp_path / "x.yaml") == ({"bundle": {"name": "x"}}, "")
    assert parse_page(tmp_path / "x.md") == ({"name": "x"}, "body")
