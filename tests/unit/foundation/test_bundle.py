"""Bundles as programs hold them: made, composed, turned into plans, and asked for files."""

from __future__ import annotations

import copy
import logging
from pathlib import Path
from typing import Any

import pytest

from amplifier_foundation import Bundle, BundleLoadError, BundleValidationError, validate_bundle
from amplifier_foundation.configurator import Origin

COLLECTIONS = (
    "includes", "session", "providers", "tools", "hooks", "spawn", "agents", "context", "source_base_paths",
    "_pending_context", "origins", "extra", "load_report",
)  # fmt: skip


def write(base: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return base


def test_a_name_is_enough() -> None:
    bundle = Bundle("test")
    assert (bundle.name, bundle.version, bundle.description) == ("test", "1.0.0", "")
    assert [getattr(bundle, name) for name in COLLECTIONS if getattr(bundle, name)] == []
    assert (bundle.namespace_root, bundle.instruction, bundle.base_path) == (None, None, None)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_none_stands_for_an_empty_collection(name: str) -> None:
    bundle = Bundle("test", **{name: None})  # type: ignore[arg-type]  # what callers do nevertheless
    assert getattr(bundle, name) == getattr(Bundle("test"), name)
    assert bundle.compose(Bundle("other")).name == "other"


def test_later_bundles_win_by_the_rules_of_each_section() -> None:
    base = Bundle(
        "base",
        version="2.0.0",
        description="first",
        includes=["x"],
        session={"orchestrator": "loop-basic", "context": {"module": "c", "config": {"a": [1]}}},
        providers=[{"module": "p", "config": {"x": 1, "y": 2}}],
        tools=[{"module": "t", "source": "s"}],
        spawn={"exclude_tools": ["tool-task"]},
        agents={"one": {"description": "old", "tools": []}, "full": {"name": "full", "description": "d"}},
        context={"guide": Path("/b/guide.md")},
        instruction="Base",
        extra={"routing": {"a": 1}},
    )
    child = Bundle(
        "child",
        session={"orchestrator": "loop-streaming", "context": {"config": {"a": [2]}}},
        providers=[{"module": "p", "config": {"y": 3}}, {"module": "q"}],
        tools=[{"module": "t", "config": {"k": 1}}],
        spawn={"exclude_tools": ["tool-bash"]},
        agents={"one": {"description": "new"}, "full": {"name": "full"}},
        context={"guide": Path("/c/guide.md")},
        extra={"routing": {"b": 2}},
    )
    result = base.compose(child)
    assert (result.name, result.version, result.description) == ("child", "1.0.0", "first")
    assert result.includes == ["x"]
    assert result.session == {
        "orchestrator": "loop-streaming",
        "context": {"module": "c", "config": {"a": [1, 2]}},
    }
    assert result.providers == [{"module": "p", "config": {"x": 1, "y": 3}}, {"module": "q"}]
    assert result.tools == [{"module": "t", "source": "s", "config": {"k": 1}}]
    assert result.spawn == {"exclude_tools": ["tool-task", "tool-bash"]}
    assert result.agents == {"one": {"description": "new"}, "full": {"name": "full", "description": "d"}}
    assert result.context == {"base:guide": Path("/b/guide.md"), "child:guide": Path("/c/guide.md")}
    assert (result.instruction, result.extra) == ("Base", {"routing": {"a": 1, "b": 2}})


@pytest.mark.parametrize(("mode", "text"), [("replace", "B"), ("keep", "A"), ("append", "A\n\nB")])
def test_the_caller_says_what_a_later_instruction_does(mode: Any, text: str) -> None:
    assert (
        Bundle("a", instruction="A").compose(Bundle("b", instruction="B"), instruction=mode).instruction
        == text
    )


def test_composing_shares_nothing_with_what_was_composed() -> None:
    base = Bundle("base", tools=[{"module": "t", "config": {"a": [1]}}], agents={"x": {"tools": []}})
    child = Bundle("child", hooks=[{"module": "h", "config": {}}])
    before = copy.deepcopy((base, child))
    result = base.compose(child)
    result.tools[0]["config"]["a"].append(2)
    result.hooks[0]["config"]["b"] = 1
    result.agents["x"]["description"] = "changed"
    assert (base, child) == before


def test_composing_nothing_gives_a_copy_with_prefixed_context() -> None:
    base = Bundle("base", tools=[{"module": "t"}], context={"a": Path("/a")})
    copied = base.compose()
    assert copied.context == {"base:a": Path("/a")}
    assert copied.tools == base.tools
    assert copied.tools[0] is not base.tools[0]


def test_inherited_things_can_be_replaced_and_removed() -> None:
    base = Bundle("base", tools=[{"module": "a", "config": {"paths": [1]}}, {"module": "b"}])
    top = Bundle("top", tools=[{"module": "a", "config": {"paths!": [2]}}, {"module": "b", "remove": True}])
    assert base.compose(top).tools == [{"module": "a", "config": {"paths": [2]}}]


def test_the_first_to_claim_a_namespace_keeps_it() -> None:
    base = Bundle("base", base_path=Path("/base"), source_base_paths={"ns": Path("/one")})
    child = Bundle(
        "child", base_path=Path("/child"), source_base_paths={"ns": Path("/two"), "child": Path("/r")}
    )
    result = base.compose(child)
    assert result.source_base_paths == {"ns": Path("/one"), "base": Path("/base"), "child": Path("/r")}
    assert result.base_path == Path("/child")


def test_composing_a_malformed_list_says_which_entry() -> None:
    broken = Bundle("a", tools=[{"module": "x"}, "tool-bash"])  # type: ignore[list-item]  # the mistake
    with pytest.raises(
        TypeError, match=r"Malformed module config at index 1.*expected dict.*got str.*'tool-bash'"
    ):
        broken.compose(Bundle("b"))


def test_a_plan_holds_what_is_not_empty_and_nothing_else() -> None:
    assert Bundle("test", instruction="Hi", includes=["x"], context={"a": Path("/a")}).to_mount_plan() == {}
    bundle = Bundle(
        "test",
        session={"orchestrator": "loop-basic"},
        providers=[{"module": "p", "id": "fast"}],
        tools=[{"module": "t"}],
        agents={"a": {"name": "a"}},
        spawn={"tools": ["t"]},
    )
    assert bundle.to_mount_plan() == {
        "session": {"orchestrator": "loop-basic"},
        "providers": [{"module": "p", "id": "fast", "instance_id": "fast"}],
        "tools": [{"module": "t"}],
        "agents": {"a": {"name": "a"}},
        "spawn": {"tools": ["t"]},
    }


def test_changing_a_plan_changes_no_bundle() -> None:
    bundle = Bundle("test", tools=[{"module": "t", "config": {"a": 1}}])
    bundle.to_mount_plan()["tools"][0]["config"]["a"] = 2
    assert bundle.tools == [{"module": "t", "config": {"a": 1}}]


def test_parsed_yaml_becomes_a_bundle() -> None:
    bundle = Bundle.from_dict(
        {
            "bundle": {"name": "full", "version": 2, "description": "D", "namespace_root": "src"},
            "includes": ["a", {"bundle": "b"}],
            "session": {"orchestrator": "loop"},
            "tools": [{"module": "t", "source": "./modules/t"}],
            "context": {"include": ["local.md", "ns:context/x.md"], "named": "docs/n.md"},
            "agents": {"include": ["full:one"], "two": {"description": "x"}},
            "routing": {"matrix": "m"},
        },
        base_path=Path("/base"),
    )
    assert (bundle.name, bundle.version, bundle.namespace_root) == ("full", "2", "src")
    assert bundle.includes == ["a", {"bundle": "b"}]
    assert bundle.tools == [{"module": "t", "source": "/base/modules/t"}]
    assert bundle.context == {"local.md": Path("/base/local.md"), "named": Path("/base/docs/n.md")}
    assert bundle._pending_context == {"ns:context/x.md": "ns:context/x.md"}
    assert bundle.agents == {"full:one": {"name": "full:one"}, "two": {"description": "x"}}
    assert bundle.extra == {"routing": {"matrix": "m"}}


@pytest.mark.parametrize("section", ["providers", "tools", "hooks"])
def test_a_module_list_with_a_bare_name_is_explained(section: str) -> None:
    with pytest.raises(BundleValidationError) as caught:
        Bundle.from_dict({"bundle": {"name": "mine"}, section: [{"module": "ok"}, "bare"]})
    for part in ("mine", f"{section}[1]", "expected dict", "got str", "'bare'", "Correct format:", "source"):
        assert part in str(caught.value)


@pytest.mark.parametrize(("data", "owner"), [({}, "/some/where"), ({"bundle": None}, "/some/where")])
def test_a_nameless_bundle_is_called_by_its_directory(data: dict[str, Any], owner: str) -> None:
    with pytest.raises(BundleValidationError, match=owner):
        Bundle.from_dict({**data, "tools": "tool-bash"}, base_path=Path(owner))


def test_a_head_that_is_no_mapping_cannot_be_loaded() -> None:
    with pytest.raises(BundleLoadError, match="`bundle` should be a mapping"):
        Bundle.from_dict({"bundle": "name"})


def test_pending_context_is_resolved_where_its_namespace_lies(caplog: pytest.LogCaptureFixture) -> None:
    bundle = Bundle(
        "own",
        base_path=Path("/own"),
        source_base_paths={"ns": Path("/ns")},
        _pending_context={name: name for name in ("ns:c/a.md", "own:c/b.md", "nobody:c.md", "ns:../x.md")},
    )
    bundle.resolve_pending_context()
    assert bundle.context == {"ns:c/a.md": Path("/ns/c/a.md"), "own:c/b.md": Path("/own/c/b.md")}
    assert list(bundle._pending_context) == ["nobody:c.md", "ns:../x.md"]
    assert "no bundle is called 'nobody'" in caplog.text
    bundle.resolve_pending_context()
    assert [entry["reason"] for entry in bundle.load_report] == [
        "context 'nobody:c.md': no bundle is called 'nobody'",
        "context 'ns:../x.md' leads out of 'ns'",
    ]


def test_context_names_lead_to_files_also_after_composing(tmp_path: Path) -> None:
    write(tmp_path, {"context/a.md": "A"})
    bundle = Bundle("me", base_path=tmp_path, context={"alias": Path("/x.md")})
    assert bundle.resolve_context_path("alias") == Path("/x.md")
    assert bundle.resolve_context_path("context/a.md") == tmp_path / "context/a.md"
    assert bundle.resolve_context_path("context/none.md") is None
    assert bundle.resolve_context_path("../outside.md") is None
    assert bundle.compose().resolve_context_path("alias") == Path("/x.md")
    assert Bundle("bare").resolve_context_path("a") is None


def test_agents_are_found_and_filled_from_their_files(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    agent = "---\nmeta: {name: Ann, description: from file, model_role: fast}\ntools: [tool-x]\n---\nDo it.\n"
    write(tmp_path, {"agents/ann.md": agent})
    bundle = Bundle(
        "me",
        base_path=tmp_path,
        agents={"me:ann": {"name": "me:ann"}, "ann": {"description": "mine"}, "me:gone": {"name": "me:gone"}},
    )
    assert bundle.resolve_agent_path("me:ann") == tmp_path / "agents/ann.md"
    assert bundle.resolve_agent_path("me:agents/ann.md") == tmp_path / "agents/ann.md"
    assert bundle.resolve_agent_path("other:ann") is None
    with caplog.at_level(logging.WARNING):
        bundle.load_agent_metadata()
    assert bundle.agents["me:ann"] == {
        "name": "me:ann",
        "description": "from file",
        "model_role": "fast",
        "tools": [{"module": "tool-x"}],
        "instruction": "Do it.",
        "display_name": "Ann",
    }
    assert bundle.agents["ann"]["description"] == "mine"
    assert bundle.agents["me:gone"] == {"name": "me:gone"}
    assert "agent 'me:gone' has no file" in caplog.text


def test_mode_files_are_checked_and_never_raise(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(
        tmp_path,
        {
            "modes/a.md": "---\nmode: {name: a, contributes: [x]}\n---\n",
            "modes/b.md": "---\nmode: {contributes: {skills: x, colour: red}}\n---\n",
            "modes/c.md": "---\nmode: {contributes: {agents: {x: {description: d}}, context: [a]}}\n---\n",
            "modes/d.md": "---\nmode: [\n---\n",
        },
    )
    warnings = Bundle("me", base_path=tmp_path).validate_modes()
    assert len(warnings) == 4
    for said, part in zip(warnings, ("a.md", "b.md", "b.md", "d.md"), strict=True):
        assert part in said
        assert said in caplog.text
    assert Bundle("bare").validate_modes() == []
    assert Bundle("none", base_path=tmp_path / "empty").validate_modes() == []


def test_a_fingerprint_follows_everything_that_a_session_is_made_of(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "A"})
    bundle = Bundle("me", tools=[{"module": "t"}], context={"a": tmp_path / "a.md"}, instruction="Hi")
    first = bundle.fingerprint()
    assert (
        first
        == Bundle(
            "me", tools=[{"module": "t"}], context={"a": tmp_path / "a.md"}, instruction="Hi"
        ).fingerprint()
    )
    seen = {first}
    bundle.instruction = "Hello"
    seen.add(bundle.fingerprint())
    write(tmp_path, {"a.md": "B"})
    seen.add(bundle.fingerprint())
    bundle.tools[0]["config"] = {"x": 1}
    seen.add(bundle.fingerprint())
    assert len(seen) == 4


def test_the_system_instruction_is_the_instruction() -> None:
    assert Bundle("a", instruction="Hi").get_system_instruction() == "Hi"


def test_composing_tracks_who_brought_what_in() -> None:
    inner = Bundle("a", tools=[{"module": "x"}], instruction="A")
    middle = inner.compose(Bundle("b", tools=[{"module": "y"}, {"module": "x", "config": {}}]))
    assert middle.origins["tool:x"] == [Origin("a", None)]
    assert middle.origins["tool:y"] == [Origin("b", None)]
    assert middle.modified_by == {"tool:x": ["b"]}
    whole = Bundle("c", tools=[{"module": "z"}]).compose(middle)
    assert whole.origins["tool:z"] == [Origin("c", None)]
    assert whole.origins["tool:x"] == [Origin("b", None), Origin("a", "b")]
    assert whole.origins["instruction:"] == [Origin("b", None), Origin("a", "b")]


def test_a_nameless_bundle_claims_nothing() -> None:
    result = Bundle("a", tools=[{"module": "x"}]).compose(Bundle("", tools=[{"module": "y"}]))
    assert list(result.origins) == ["tool:x"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"agents": {5: {"description": "d"}}}, "`agents`: the name 5 should be text, got int"),
        ({"agents": {True: {"description": "d"}}}, "`agents`: the name True should be text, got bool"),
        ({"context": {None: "a.md"}}, "`context`: the name None should be text, got NoneType"),
        ({"bundle": {"name": True}}, "`bundle.name` should be text, got bool: True"),
        ({"bundle": {"name": ["x"]}}, "`bundle.name` should be text, got list: ['x']"),
        ({"bundle": {"version": {"a": 1}}}, "`bundle.version` should be text, got dict: {'a': 1}"),
        (["bundle"], "the data of a bundle should be a mapping, got list: ['bundle']"),
    ],
)
def test_names_that_are_no_text_are_told_with_a_fix(data: Any, told: str) -> None:
    with pytest.raises(BundleLoadError) as caught:
        Bundle.from_dict(data)
    assert (caught.value.what, bool(caught.value.fix)) == (told, True)


def test_a_name_that_is_a_number_is_its_text() -> None:
    assert Bundle.from_dict({"bundle": {"name": 5, "version": 1.5}}).version == "1.5"


@pytest.mark.parametrize(
    "fields",
    [
        {"name": 5},
        {"name": ["x"]},
        {"includes": 5},
        {"context": ["a.md"]},
        {"context": {5: Path("a.md")}},
        {"source_base_paths": 5},
        {"agents": {None: {}}},
        {"tools": ["tool-bash"]},
    ],
)
def test_fields_that_cannot_be_read_are_told_by_whoever_reads_them(fields: dict[str, Any]) -> None:
    made = Bundle(**{"name": "n", **fields})
    with pytest.raises(BundleValidationError) as caught:
        made.compose(Bundle(name="other"))
    assert caught.value.fix or all(each.fix for each in caught.value.found)
    assert not validate_bundle(made).valid


def test_a_directory_that_is_no_path_is_told() -> None:
    with pytest.raises(BundleLoadError, match="base_path should be a path, got int: 5"):
        Bundle.from_dict({"bundle": {"name": "n"}}, base_path=5)  # type: ignore[arg-type]
