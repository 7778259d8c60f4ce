from __future__ import annotations

from tests.unit.bundles.world import bundle

from amplihack.bundles.compose import compose, compose_includes
from amplihack.bundles.model import Bundle
from amplihack.bundles.provenance import Claim, modified_by, origins, why


def overlay(name: str, timeout: int) -> str:
    return f"bundle: {{name: {name}}}\ntools:\n  - {{module: tool-bash, config: {{timeout: {timeout}}}}}\n"


def layered() -> Bundle:
    """x includes y includes z."""
    z = bundle(
        """\
        bundle: {name: z}
        tools:
          - module: tool-bash
            config:
              timeout: 10
              paths: [a]
        context:
          include: [docs/a.b.md]
        agents:
          include: ["z:helper"]
        """,
        "/z/bundle.yaml",
    )
    y = bundle(
        "bundle: {name: y}\ntools:\n  - {module: tool-bash, config: {timeout: 20}}\n", "/y/bundle.yaml"
    )
    x = bundle(
        "bundle: {name: x}\ntools:\n  - {module: tool-bash, config: {timeout: 30}}\n", "/x/bundle.yaml"
    )
    return compose_includes(x, [compose_includes(y, [z])])


def test_a_value_tells_who_wrote_it_where_and_what_it_replaced() -> None:
    entries = why(layered(), "tools.tool-bash.config.timeout")
    assert [(each.value, each.bundle, each.file, each.line, each.via, each.status) for each in entries] == [
        (30, "x", "/x/bundle.yaml", 3, ("x",), "used"),
        (20, "y", "/y/bundle.yaml", 3, ("x", "y"), "replaced"),
        (10, "z", "/z/bundle.yaml", 5, ("x", "y", "z"), "replaced"),
    ]
    assert entries[0].as_json()["via"] == ["x"]


def test_a_module_alone_explains_all_that_is_in_it() -> None:
    paths = [each.path for each in why(layered(), "tool-bash") if each.status == "used"]
    assert paths == [
        "tools.tool-bash.module",
        "tools.tool-bash.config.timeout",
        "tools.tool-bash.config.paths.0",
    ]


def test_names_with_dots_and_list_items_are_found() -> None:
    whole = layered()
    (context,) = why(whole, "context.z:docs/a.b.md")
    assert (context.value, context.line) == ("/z/docs/a.b.md", 8)
    (item,) = why(whole, "tools.tool-bash.config.paths.0")
    assert (item.value, item.line) == ("a", 6)
    (agent,) = why(whole, "z:helper")
    assert (agent.path, agent.via) == ("agents.z:helper.name", ("x", "y", "z"))


def test_a_module_stands_for_all_entries_that_have_ids() -> None:
    made = bundle(
        """\
        bundle: {name: b}
        providers:
          - {module: p, instance_id: fast, config: {model: a}}
          - {module: p, id: slow, config: {model: b}}
        agents:
          helper: {tools: [{module: t}, {module: u, config: {n: 1}}]}
        """,
        "/b/bundle.yaml",
    )
    for path in ("providers.p.config.model", "p.config.model"):
        assert [(each.path, each.value) for each in why(made, path)] == [
            ("providers.fast.config.model", "a"),
            ("providers.slow.config.model", "b"),
        ]
    assert [each.value for each in why(made, "agents.helper.tools.u.config.n")] == [1]
    assert why(made, "providers.p.config.nothing") == ()


def test_what_is_not_there_has_no_history() -> None:
    assert why(layered(), "tools.nope") == ()
    assert why(layered(), "tools.tool-bash.config.paths.9") == ()
    assert why(layered(), "instruction") == ()


def test_what_was_removed_says_by_whom() -> None:
    remover = bundle("bundle: {name: r}\nexclude: {tools: [tool-bash]}\n", "/r/bundle.yaml")
    entries = why(compose(layered(), remover), "tools.tool-bash")
    assert [(each.status, each.bundle) for each in entries] == [("removed", "r"), ("replaced", "z")]


def test_a_diamond_is_counted_once() -> None:
    z = bundle("bundle: {name: z}\nspawn: {a: 1}\n", "/z.yaml")
    left = compose_includes(bundle("bundle: {name: l}\nspawn: {a: 2}\n", "/l.yaml"), [z])
    right = compose_includes(bundle("bundle: {name: r}\nspawn: {a: 3}\n", "/r.yaml"), [z])
    top = compose_includes(bundle("bundle: {name: t}\n", "/t.yaml"), [left, right])
    assert [each.value for each in why(top, "spawn.a")] == [3, 1, 2]


def test_origins_run_from_the_introducer_outwards() -> None:
    whole = layered()
    assert origins(whole)["tool:tool-bash"] == [Claim("z", None), Claim("y", "z"), Claim("x", "y")]
    assert origins(whole)["context:z:docs/a.b.md"][0] == Claim("z", None)
    assert modified_by(whole) == {"tool:tool-bash": ["x", "y"]}
