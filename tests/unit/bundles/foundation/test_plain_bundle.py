from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.bundles.world import bundle, plain

from amplihack.bundles.foundation.plain_bundle import (
    FIELDS,
    PlainBundle,
    bundle_of,
    module_table,
    plain_extra,
    plain_includes,
    shape_problems,
)
from amplihack.bundles.model import Bundle
from amplihack.bundles.provenance import why
from amplihack.bundles.tree import Origin

LOADED = bundle(
    """\
    bundle: {name: mine, version: 2.0.0}
    includes: [a, {bundle: b}]
    tools:
      - {module: t, config: {timeout: 5, gone-: }}
    agents:
      ann: {description: d}
      bob: {description: e}
    context: {include: [guide.md, "ns:x.md"]}
    routing: {m: 1}
    """
)


def data(known: Bundle, **changes: Any) -> PlainBundle:
    sections = {name: plain(known, name) for name in FIELDS}
    whole = PlainBundle(
        name=known.name,
        version=known.shown_version,
        description=known.description,
        includes=plain_includes(known),
        namespace_root=known.namespace_root,
        sections={**sections, **changes.pop("sections", {})},
        extra=plain_extra(known),
        context=known.resolved_context,
        pending=known.pending_context,
        instruction=known.system_instruction,
        base_path=known.base_path,
        source_base_paths=known.source_base_paths,
        known=known,
    )
    return replace(whole, **changes)


def test_data_that_nobody_changed_is_the_bundle_it_came_from() -> None:
    assert bundle_of(data(LOADED)) == LOADED
    assert bundle_of(data(LOADED)).section("tools") is LOADED.section("tools")
    assert why(bundle_of(data(LOADED)), "tools.t.config.timeout")[0].line == 4


def test_what_was_changed_was_written_by_the_program_and_the_rest_keeps_its_lines() -> None:
    agents = {"ann": {"description": "changed"}, "bob": {"description": "e"}}
    changed = bundle_of(data(LOADED, sections={"agents": agents}))
    assert plain(changed, "agents") == agents
    assert [changed.agents.entries[name].line for name in ("ann", "bob")] == [0, 7]
    assert changed.section("tools") is LOADED.section("tools")


def test_a_change_of_type_alone_is_a_change() -> None:
    for value in (5.0, "5"):
        changed = data(LOADED, sections={"tools": [{"module": "t", "config": {"timeout": value}}]})
        timeout = plain(bundle_of(changed), "tools")[0]["config"]["timeout"]
        assert (type(timeout), timeout) == (type(value), value)


def test_context_keeps_its_order_until_it_is_changed() -> None:
    assert list(bundle_of(data(LOADED)).context.entries) == ["guide.md", "ns:x.md"]
    more = bundle_of(data(LOADED, context={**LOADED.resolved_context, "new": "/n.md"}))
    assert list(more.resolved_context) == ["guide.md", "new"]
    assert more.pending_context == {"ns:x.md": "ns:x.md"}
    assert more.context.entries["guide.md"].line == 8


def test_includes_of_another_shape_lead_nowhere() -> None:
    found = bundle_of(data(Bundle(name="x"), includes=["a", {"bundle": "b"}, {"behavior": "c"}, 3]))
    assert plain_includes(found) == ["a", {"bundle": "b"}]


def test_module_lists_merge_by_id_and_pass_over_what_has_none() -> None:
    listed = [{"module": "a", "config": {"x": 1}}, {"config": {}}, {"module": "a", "config": {"y": 2}}]
    assert list(module_table(listed, Origin("p")).entries) == ["a"]
    with pytest.raises(TypeError, match="Malformed module config at index 1"):
        module_table([{"module": "a"}, 3], Origin("p"))
    assert list(module_table([*listed, 3], Origin("p"), tolerant=True).entries) == ["a", "#1", "#3"]


def test_shapes_that_cannot_be_looked_into_are_told() -> None:
    sections: dict[str, Any] = {name: plain(LOADED, name) for name in FIELDS}
    assert list(shape_problems(sections, {})) == []
    wrong = {**sections, "session": [], "tools": {}, "providers": [{"module": "p"}, {"module": "p"}]}
    assert [problem.code for problem in shape_problems(wrong, {})] == [
        "wrong-type",
        "wrong-type",
        "two-defaults",
    ]
