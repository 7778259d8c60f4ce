from __future__ import annotations

import pytest
from tests.unit.bundles.world import bundle, decoded

from amplihack.bundles.compose import compose, compose_includes, unmatched_removals
from amplihack.bundles.merge import deep_merge, merge_module_lists
from amplihack.bundles.model import Bundle
from amplihack.bundles.mount_plan import mount_plan


def base() -> Bundle:
    return bundle(
        """\
        bundle: {name: base, version: 1.2, description: The base}
        session:
          orchestrator: {module: loop, source: git+https://h/loop, config: {steps: 5, names: [a]}}
        tools:
          - {module: bash, source: git+https://h/bash, config: {timeout: 10, paths: [x, y]}}
          - {module: web}
        spawn: {exclude_tools: [task]}
        agents:
          helper: {description: full}
        context:
          include: [base.md]
        """,
        "/base/bundle.yaml",
    )


def test_the_merge_table_holds() -> None:
    top = bundle(
        """\
        bundle: {name: top}
        session:
          orchestrator: {config: {steps: 7, names: [b, a]}}
        tools:
          - {module: bash, config: {timeout: 20, paths: [y, z]}}
          - {module: new}
        spawn: {exclude_tools: [other], deep: {a: 1}}
        agents:
          helper: {description: other, tools: [t]}
        context:
          include: [base.md]
        """,
        "/top/bundle.yaml",
    )
    whole = compose(base(), top)
    assert (whole.name, whole.version, whole.description) == ("top", "1.2", "The base")
    assert mount_plan(whole) == {
        "session": {
            "orchestrator": {
                "module": "loop",
                "source": "git+https://h/loop",
                "config": {"steps": 7, "names": ["a", "b"]},
            }
        },
        "tools": [
            {
                "module": "bash",
                "source": "git+https://h/bash",
                "config": {"timeout": 20, "paths": ["x", "y", "z"]},
            },
            {"module": "web"},
            {"module": "new"},
        ],
        "agents": {"helper": {"description": "other", "tools": [{"module": "t"}]}},
        "spawn": {"exclude_tools": ["task", "other"], "deep": {"a": 1}},
    }
    assert whole.resolved_context == {"base:base.md": "/base/base.md", "top:base.md": "/top/base.md"}


def test_the_container_keeps_its_own_identity_and_includes() -> None:
    own = bundle("bundle: {name: own}\nincludes: [base]\n", "/own/bundle.yaml")
    whole = compose_includes(own, [base()])
    assert [each.source for each in whole.includes] == ["base"]
    assert (whole.name, whole.base_path) == ("own", "/own")
    assert whole.source_base_paths == {"base": "/base", "own": "/own"}


def test_an_include_never_takes_a_namespace_from_an_earlier_one() -> None:
    other = bundle("bundle: {name: base}\n", "/other/bundle.yaml")
    assert compose(base(), other).source_base_paths == {"base": "/base"}


def test_a_bare_agent_never_erases_a_fuller_one() -> None:
    bare = bundle("agents:\n  include: [helper]\n")
    full = {"helper": {"description": "full"}}
    assert mount_plan(compose(base(), bare))["agents"] == full
    assert mount_plan(compose(bare, base()))["agents"] == full


def test_an_exclamation_mark_replaces_and_a_minus_removes() -> None:
    top = bundle(
        """\
        session:
          orchestrator:
            config: {names!: [only], steps-: }
        tools:
          - {module: bash, config!: {fresh: true}}
        """
    )
    plan = mount_plan(compose(base(), top))
    assert plan["session"]["orchestrator"]["config"] == {"names": ["only"]}
    assert plan["tools"][0] == {"module": "bash", "source": "git+https://h/bash", "config": {"fresh": True}}


def test_a_whole_section_can_be_replaced() -> None:
    top = bundle("tools!:\n  - {module: mine}\n")
    assert mount_plan(compose(base(), top))["tools"] == [{"module": "mine"}]


def test_an_entry_is_removed_by_itself_or_by_exclude() -> None:
    by_entry = bundle("tools:\n  - {module: bash, remove: true}\n")
    by_list = bundle("exclude: {tools: [bash], agents: [helper], context: ['base:base.md']}\n")
    assert mount_plan(compose(base(), by_entry))["tools"] == [{"module": "web"}]
    whole = compose(base(), by_list)
    assert mount_plan(whole)["tools"] == [{"module": "web"}]
    assert "agents" not in mount_plan(whole)
    assert whole.resolved_context == {}


def test_a_removal_inside_an_include_reaches_the_include_before_it() -> None:
    remover = compose_includes(
        bundle("tools:\n  - {module: bash, remove: true}\n"), [bundle("spawn: {a: 1}\n")]
    )
    own = bundle("bundle: {name: own}\n")
    assert mount_plan(compose_includes(own, [base(), remover]))["tools"] == [{"module": "web"}]


def test_what_is_added_after_a_removal_starts_anew() -> None:
    again = bundle("tools:\n  - {module: bash, config: {new: 1}}\n")
    remover = bundle("exclude: {tools: [bash]}\n")
    tools = mount_plan(compose(base(), compose(remover, again)))["tools"]
    assert tools == [{"module": "bash", "config": {"new": 1}}, {"module": "web"}]


def test_a_bundle_may_exclude_a_module_and_declare_its_own() -> None:
    top = bundle("exclude: {tools: [bash]}\ntools:\n  - {module: bash, config: {mine: 1}}\n")
    assert mount_plan(compose(base(), top))["tools"][0] == {"module": "bash", "config": {"mine": 1}}


def test_a_removal_without_a_target_is_reported() -> None:
    top = bundle("bundle: {name: top}\nexclude: {tools: [bsh]}\n", "/top/bundle.yaml")
    (problem,) = unmatched_removals(compose(base(), top))
    assert problem.code == "removes-nothing"
    assert "tools.bsh" in problem.what
    assert str(problem.where) == "/top/bundle.yaml:2:19"
    assert unmatched_removals(compose(base(), bundle("exclude: {tools: [bash]}\n"))) == ()


@pytest.mark.parametrize(("mode", "text"), [("replace", "two"), ("keep", "one"), ("append", "one\n\ntwo")])
def test_a_later_instruction_replaces_unless_it_is_asked_not_to(mode: str, text: str) -> None:
    one = decoded("one", "/w/one.md").bundle
    two = decoded("two", "/w/two.md").bundle
    whole = compose(one, Bundle(), two, instruction=mode)  # type: ignore[arg-type]  # a literal, by parametrize
    assert whole.system_instruction == text


def test_lists_unite_by_type_and_value() -> None:
    merged = deep_merge({"a": [1, True, {"x": 1, "y": 2}]}, {"a": [1.0, True, 1, {"y": 2, "x": 1}, None]})
    assert [(type(item), item) for item in merged["a"]] == [
        (int, 1),
        (bool, True),
        (dict, {"x": 1, "y": 2}),
        (float, 1.0),
        (type(None), None),
    ]


def test_items_that_cannot_be_compared_are_always_kept() -> None:
    thing = object()
    assert deep_merge({"a": [thing]}, {"a": [thing, {"b": thing}]})["a"] == [thing, thing, {"b": thing}]


def test_a_plain_merge_takes_operators_for_keys() -> None:
    assert deep_merge({"a": [1]}, {"a!": [2], "b-": None}) == {"a": [1], "a!": [2], "b-": None}


def test_a_merged_value_is_nobody_elses() -> None:
    parent: dict[str, dict[str, list[int]]] = {"a": {"b": [1]}}
    merged = deep_merge(parent, {})
    merged["a"]["b"].append(2)
    assert parent == {"a": {"b": [1]}}


def test_plain_modules_merge_by_id_and_refuse_what_is_no_mapping() -> None:
    merged = merge_module_lists(
        [{"module": "a", "source": "s"}, {"module": "a", "id": "two"}],
        [{"id": "two", "config": {"x": 1}}, {"module": "a", "config": {"y": 1}}, {"nothing": 1}],
    )
    assert merged == [
        {"module": "a", "source": "s", "config": {"y": 1}},
        {"module": "a", "id": "two", "config": {"x": 1}},
    ]
    with pytest.raises(TypeError, match="Malformed module config at index 1"):
        merge_module_lists([{"module": "a"}, "b"], [])  # type: ignore[list-item]  # what is refused


def test_a_value_remembers_only_so_many_others() -> None:
    parts = [bundle(f"bundle: {{name: b{n}}}\nspawn: {{x: {n}}}\n", f"/w/{n}.yaml") for n in range(60)]
    leaf = compose(*parts).section("spawn").entries["x"]
    assert len(leaf.over) == 50
    assert leaf.over[0].origin.bundle == "b58"
