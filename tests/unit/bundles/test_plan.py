from __future__ import annotations

import pytest
from tests.unit.bundles.world import World, bundle, decoded, plain

from amplihack.bundles.compose import compose
from amplihack.bundles.context_files import check_context, context_path, resolve_context
from amplihack.bundles.decode import decode_data
from amplihack.bundles.lock import LockEntry, drift, make_lock, print_lock
from amplihack.bundles.module_sources import repair_sources
from amplihack.bundles.mount_plan import fingerprint, for_kernel, mount_plan
from amplihack.bundles.validate import validate, validate_completeness

FULL = """\
bundle: {name: full}
session:
  orchestrator: loop
  context: {module: simple}
providers:
  - {module: p, id: one}
tools:
  - {module: t, config: {x: 1}}
spawn: {exclude_tools: [t]}
"""


def test_a_plan_holds_what_the_kernel_takes() -> None:
    plan = mount_plan(bundle(FULL))
    assert plan == {
        "session": {"orchestrator": {"module": "loop"}, "context": {"module": "simple"}},
        "providers": [{"module": "p", "id": "one", "instance_id": "one"}],
        "tools": [{"module": "t", "config": {"x": 1}}],
        "spawn": {"exclude_tools": ["t"]},
    }
    kernel = for_kernel(plan)
    assert "spawn" not in kernel
    assert kernel["providers"] == [{"module": "p", "instance_id": "one"}]
    assert mount_plan(bundle("")) == {}


def test_a_source_beside_a_bare_role_is_the_source_of_its_module() -> None:
    short = bundle(
        "bundle: {name: a}\nsession: {orchestrator: loop, orchestrator_source: ./loop, context: simple}\n"
    )
    assert mount_plan(short)["session"] == {
        "orchestrator": {"module": "loop", "source": "/w/loop"},
        "context": {"module": "simple"},
    }
    elsewhere = bundle("bundle: {name: b}\nsession: {context_source: ./simple}\n")
    assert mount_plan(compose(short, elsewhere))["session"]["context"] == {
        "module": "simple",
        "source": "/w/simple",
    }
    long = bundle("bundle: {name: a}\nsession: {orchestrator: {module: x, source: y, config: {z: 1}}}\n")
    assert mount_plan(compose(long, short))["session"]["orchestrator"] == {
        "module": "loop",
        "source": "/w/loop",
    }


def test_a_source_beside_a_mapping_is_told() -> None:
    text = "bundle: {name: a}\nsession: {orchestrator: {module: x}, orchestrator_source: ./z}\n"
    (problem,) = decoded(text).problems
    assert (problem.code, problem.fix) == ("no-effect", "write it as `source:` below `orchestrator:`")


def test_a_fingerprint_takes_keys_that_are_no_text() -> None:
    one = decode_data({"bundle": {"name": "b"}, "spawn": {1: 2, "a": 3, None: 4}}).bundle
    other = decode_data({"bundle": {"name": "b"}, "spawn": {"a": 3, None: 4, 1: 2}}).bundle
    assert fingerprint(one) == fingerprint(other)


def test_a_fingerprint_changes_with_anything_a_session_is_made_of() -> None:
    one = fingerprint(bundle(FULL))
    assert one == fingerprint(bundle(FULL))
    assert one != fingerprint(bundle(FULL.replace("x: 1", "x: 2")))
    assert one != fingerprint(bundle(FULL), context_hashes={"a": "0"})
    assert one != fingerprint(bundle(FULL), commits={"u": "0"})


def test_a_complete_bundle_has_nothing_wrong_with_it() -> None:
    assert validate_completeness(bundle(FULL)) == ()


def test_what_is_missing_before_a_session_is_listed() -> None:
    problems = validate_completeness(bundle("bundle: {name: a}\n"))
    assert [problem.code for problem in problems] == [
        "no-session",
        "no-orchestrator",
        "no-context",
        "no-provider",
    ]
    assert all("incomplete for mounting" in problem.what for problem in problems)


def test_structural_mistakes_are_found_after_composition() -> None:
    found = decoded(
        """\
        tools:
          - {id: only}
          - {module: t, config: 7, source: [x]}
        session:
          orchestrator: {config: {}}
        context:
          include: ["nobody:x.md"]
        """
    )
    problems = validate(compose(found.bundle))
    assert [problem.code for problem in problems] == [
        "no-name",
        "module-missing",
        "module-config",
        "module-source",
        "session-module",
        "unknown-namespace",
    ]
    assert "tools[0]" in problems[1].what


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        ("tools: [{id: q}]", []),
        ("tools: [{id: r}]", ["agents.a: tools[0] names no module, and there is none of that id"]),
        ("session: {orchestrator: {config: {x: 1}}}", []),
        (
            "session: {orchestrator: {name: z}}",
            ["agents.a: session.orchestrator names neither a module nor a source"],
        ),
        (
            "session: {context: {config: {x: 1}}}",
            ["agents.a: session.context names neither a module nor a source"],
        ),
    ],
)
def test_modules_of_an_agent_are_named_or_inherited(agent: str, told: list[str]) -> None:
    text = (
        "bundle: {name: b}\nsession: {orchestrator: loop}\ntools: [{module: t, id: q}]\n"
        f"agents: {{a: {{description: d, {agent}}}}}\n"
    )
    assert [each.what for each in validate(decoded(text).bundle)] == told


def test_context_references_lead_into_their_namespaces_only() -> None:
    text = "bundle: {name: w}\ncontext:\n  include: ['w:a.md', 'x:b.md', 'w:../out.md', c.md]\n"
    found = resolve_context(compose(bundle(text)))
    assert found.bundle.resolved_context == {"w:a.md": "/w/a.md", "w:c.md": "/w/c.md"}
    assert [(each.code, each.severity) for each in found.problems] == [
        ("unknown-namespace", "warning"),
        ("escapes", "error"),
    ]
    assert str(found.problems[0].where) == "/w/bundle.yaml:3:23"


def test_context_that_is_missing_or_lies_elsewhere_is_reported() -> None:
    text = "bundle: {name: w}\ncontext:\n  include: ['w:a.md', 'w:gone.md', 'w:leak.md']\n"
    world = World({"/w/a.md": "", "/secret.md": ""}, links={"/w/leak.md": "/secret.md"})
    found = check_context(resolve_context(compose(bundle(text))).bundle, world)
    assert [each.code for each in found.problems] == ["missing-context", "escapes"]
    assert list(found.bundle.resolved_context) == ["w:a.md", "w:gone.md"]


def test_a_near_namespace_is_suggested() -> None:
    text = "bundle: {name: recipes}\ncontext:\n  include: ['recipe:b.md']\n"
    assert resolve_context(compose(bundle(text))).problems[0].fix == "did you mean recipes:b.md?"


def test_a_context_name_still_works_after_it_got_its_namespace() -> None:
    world = World(
        {"/w/docs/guide.md": "", "/w/x.md": "", "/secret.md": ""}, links={"/w/leak.md": "/secret.md"}
    )
    composed = compose(bundle("bundle: {name: w}\ncontext:\n  guide: docs/guide.md\n"))
    assert list(composed.context.entries) == ["w:guide"]
    assert context_path(composed, "guide", world) == "/w/docs/guide.md"
    assert context_path(composed, "x.md", world) == "/w/x.md"
    assert context_path(composed, "leak.md", world) is None
    assert context_path(composed, "../secret.md", world) is None


def test_a_module_beside_the_root_bundle_is_found_from_a_behavior() -> None:
    behavior = bundle("tools:\n  - {module: t, source: ./modules/t}\n", "/w/behaviors/b.yaml")
    world = World({"/w/modules/t/pyproject.toml": ""})
    fixed = repair_sources(behavior, "/w", world)
    assert plain(fixed.bundle, "tools")[0]["source"] == "/w/modules/t"
    (problem,) = fixed.problems
    assert (problem.code, problem.fix) == ("source-elsewhere", "write ../modules/t")
    there = World({"/w/behaviors/modules/t/pyproject.toml": ""})
    assert repair_sources(behavior, "/w", there).problems == ()


def test_drift_from_a_lock_is_told_source_by_source() -> None:
    lock = make_lock([LockEntry("git+https://h/a@main", "1" * 40), LockEntry("git+https://h/b", "2" * 40)])
    now = [LockEntry("git+https://h/a.git", "3" * 40), LockEntry("git+https://h/c", "4" * 40)]
    assert [(each.uri, each.change) for each in drift(lock, now)] == [
        ("git+https://h/a@main", "commit"),
        ("git+https://h/b@main", "gone"),
        ("git+https://h/c@main", "new"),
    ]
    assert drift(lock, lock.entries) == ()
    assert lock.find("git+https://h/b@main") is not None
    assert "111111111111" in drift(lock, now)[0].problem.what


def test_a_lock_never_holds_a_secret() -> None:
    assert "hunter2" not in print_lock(make_lock([LockEntry("git+https://me:hunter2@h/a@main", "1")]))
