from __future__ import annotations

from dataclasses import replace

from tests.unit.bundles.world import bundle

from amplihack.bundles.compose import compose_includes
from amplihack.bundles.foundation.source_list import repository, sources_of
from amplihack.bundles.model import Bundle


def at(text: str, uri: str, name: str) -> Bundle:
    found = bundle(text, f"/{name}/bundle.yaml")
    return replace(found, lineage=replace(found.lineage, uri=uri))


def test_every_source_is_listed_once_bundles_first() -> None:
    inner = at(
        """\
        bundle: {name: inner}
        session: {orchestrator: {module: loop, source: git+https://h/loop@main}, context: simple}
        hooks: [{module: h, source: "git+https://h/inner@main#subdirectory=modules/h"}]
        """,
        "git+https://h/inner@main#subdirectory=behaviors/x.yaml",
        "inner",
    )
    outer = at(
        """\
        bundle: {name: outer}
        tools: [{module: t, source: git+https://h/t@v1}, {module: u}]
        agents:
          ann:
            tools: [{module: special, source: git+https://h/special}]
            session: {context: {module: c, source: git+https://h/c}}
        """,
        "file:///outer",
        "outer",
    )
    assert sources_of(compose_includes(outer, [inner])) == (
        "file:///outer",
        "git+https://h/inner@main#subdirectory=behaviors/x.yaml",
        "git+https://h/loop@main",
        "git+https://h/t@v1",
        "git+https://h/c",
        "git+https://h/special",
    )


def test_places_inside_a_repository_are_fetched_as_one() -> None:
    assert repository("git+https://h/r#subdirectory=a") == repository(
        "git+https://h/r.git@main#subdirectory=b"
    )
    assert repository("file:///r#subdirectory=a") != repository("file:///r#subdirectory=b")
