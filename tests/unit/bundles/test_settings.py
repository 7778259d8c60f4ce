from __future__ import annotations

from textwrap import dedent

import pytest
from tests.unit.bundles.world import bundle, decoded

from amplihack.bundles.compose import compose
from amplihack.bundles.errors import BundleLoadError
from amplihack.bundles.laid_settings import apply_settings, compose_policies
from amplihack.bundles.model import Bundle
from amplihack.bundles.mount_plan import mount_plan
from amplihack.bundles.provenance import why
from amplihack.bundles.settings import (
    Settings,
    decode_settings,
    merge_settings,
    policies_of,
    redirect_include,
)
from amplihack.bundles.variables import expand_plan


def said(text: str, file: str = "/home/settings.yaml") -> Settings:
    return decode_settings(dedent(text), file, scope="global")


def base() -> Bundle:
    return bundle(
        """\
        bundle: {name: b}
        session:
          orchestrator: loop
          context: {module: simple}
        providers:
          - {module: provider-x, source: git+https://h/x, config: {model: small, tags: [a]}}
        tools:
          - {module: tool-fs, config: {allowed_write_paths: [/a], list: [1]}}
        agents:
          helper:
            description: d
            tools: [{module: tool-fs}]
        """
    )


def test_settings_extend_a_bundle_by_module() -> None:
    settings = said(
        """\
        providers:
          - {module: provider-x, config: {api_key: "${KEY}"}}
        modules:
          tools:
            - {module: tool-fs, config: {allowed_write_paths: [/b], list: [2]}}
            - {module: tool-new}
        """
    )
    plan = mount_plan(apply_settings(base(), settings))
    assert plan["providers"][0]["config"] == {"model": "small", "tags": ["a"], "api_key": "${KEY}"}
    assert plan["tools"] == [
        {"module": "tool-fs", "config": {"allowed_write_paths": ["/a", "/b"], "list": [2]}},
        {"module": "tool-new"},
    ]


def test_scopes_merge_by_module_and_a_plus_appends() -> None:
    wide = said(
        "config:\n  providers:\n    - {module: p, id: one, config: {a: 1, l: [1]}}\nrouting: {matrix: x}\n"
    )
    near = said(
        "providers:\n  - {module: p, id: one, config: {b: 2, l+: [2], m+: [3]}}\n"
        "routing: {overrides: {y: 1}}\n"
    )
    merged = merge_settings([wide, near])
    plan = mount_plan(apply_settings(Bundle(name="b"), merged))
    assert plan["providers"] == [
        {"module": "p", "id": "one", "instance_id": "one", "config": {"a": 1, "l": [1, 2], "b": 2, "m": [3]}}
    ]
    assert merged.at("routing").text("matrix") == "x"
    assert [key for key, _ in merged.at("routing", "overrides")] == ["y"]


def test_overrides_reach_everywhere() -> None:
    settings = said(
        """\
        overrides:
          tool-fs: {source: /dev/fs, config: {mode: safe}}
          loop: {config: {steps: 3}}
          simple: {source: /dev/simple}
        """
    )
    plan = mount_plan(apply_settings(base(), settings))
    assert plan["tools"][0]["source"] == "/dev/fs"
    assert plan["agents"]["helper"]["tools"] == [
        {"module": "tool-fs", "source": "/dev/fs", "config": {"mode": "safe"}}
    ]
    assert plan["session"]["orchestrator"] == {"module": "loop", "config": {"steps": 3}}
    assert plan["session"]["context"]["source"] == "/dev/simple"


def test_the_nearest_word_on_a_source_wins() -> None:
    sources = "sources:\n  modules: {provider-x: one}\n"
    overrides = sources + "overrides:\n  provider-x: {source: two}\n"
    entry = overrides + "providers:\n  - {module: provider-x, source: three}\n"
    for text, wanted in ((sources, "one"), (overrides, "two"), (entry, "three")):
        assert mount_plan(apply_settings(base(), said(text)))["providers"][0]["source"] == wanted


def test_a_value_from_settings_knows_its_file_and_what_it_replaced() -> None:
    settings = said("providers:\n  - module: provider-x\n    config:\n      model: large\n")
    whole = apply_settings(compose(base()), settings)
    entries = why(whole, "providers.provider-x.config.model")
    assert [(each.value, each.file, each.line) for each in entries] == [
        ("large", "/home/settings.yaml", 4),
        ("small", "/w/bundle.yaml", 6),
    ]


def test_settings_do_not_change_the_bundle_they_are_laid_over() -> None:
    original = base()
    before = mount_plan(original)
    apply_settings(original, said("overrides:\n  tool-fs: {config: {mode: safe}}\n"))
    assert mount_plan(original) == before


def test_malformed_settings_say_where() -> None:
    with pytest.raises(BundleLoadError) as caught:
        said("providers: [\n")
    assert (caught.value.path, caught.value.line) == ("/home/settings.yaml", 2)
    with pytest.raises(BundleLoadError, match="mapping"):
        said("- a\n")
    assert said("").problems == ()
    assert said("provider: []\n").problems[0].fix == "did you mean `providers`?"


def test_includes_are_redirected_by_a_part_of_their_address() -> None:
    settings = said("sources:\n  bundles: {h/o/r: /dev/r}\n")
    assert redirect_include("git+https://h/o/r@main#subdirectory=x", settings) == "/dev/r#subdirectory=x"
    assert redirect_include("h:h/o/r", settings) is None
    assert redirect_include("git+https://h/other", settings) is None


def test_policies_apply_to_root_sessions_and_never_replace_the_prompt() -> None:
    root = decoded("---\nbundle: {name: r, version: 3}\n---\nYou help.", "/r/bundle.md").bundle
    text = "---\nbundle: {name: p, version: 9}\nhooks:\n  - {module: notify}\n---\nPolicy text."
    policy = decoded(text, "/p/bundle.md").bundle
    whole = compose_policies(root, [policy], root_session=True)
    assert (whole.name, whole.version, whole.base_path) == ("r", "3", "/r")
    assert whole.system_instruction == "You help."
    assert mount_plan(whole)["hooks"] == [{"module": "notify"}]
    assert why(whole, "hooks.notify")[0].via == ("r", "p")
    assert compose_policies(root, [policy], root_session=False) is root


def test_variables_are_filled_and_missing_ones_reported() -> None:
    plan = mount_plan(
        bundle(
            """\
            tools:
              - module: t
                config: {a: "${A}-${B:def}", c: ["${C}"], d: "$${A}", e: "${E:}"}
            agents:
              x: {instruction: "${A}"}
            """
        )
    )
    expanded = expand_plan(plan, {"A": "1"})
    assert expanded.plan["tools"][0]["config"] == {"a": "1-def", "c": [""], "d": "${A}", "e": ""}
    assert expanded.plan["agents"]["x"]["instruction"] == "${A}"
    (missing,) = expanded.missing
    assert (missing.path, missing.name) == ("tools.t.config.c.0", "C")
    assert "C" in missing.problem.fix
    assert plan["tools"][0]["config"]["d"] == "$${A}"


def test_variables_are_filled_in_all_of_a_config_and_never_in_a_source() -> None:
    entry = '{module: t, source: "git+https://${A}", config: {source: "${A}", description: "${A}"}}'
    plan = mount_plan(bundle(f"tools: [{entry}]\nagents: {{x: {{tools: [{entry}]}}}}\n"))
    expanded = expand_plan(plan, {"A": "1"})
    filled = {"module": "t", "source": "git+https://${A}", "config": {"source": "1", "description": "1"}}
    assert expanded.plan["tools"] == expanded.plan["agents"]["x"]["tools"] == [filled]


@pytest.mark.parametrize("text", ["", "\n \n", "# bundle: {active: x}\n", "---\n  # nothing yet\n\n"])
def test_settings_may_be_commented_out(text: str) -> None:
    assert decode_settings(text, "/home/settings.yaml") == Settings()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("bundle: {app: [./a.yaml, {x: 1}, 3]}", ["`bundle.app[1]`", "`bundle.app[2]`"]),
        ("bundle: {app+: [./a.yaml, 3]}", ["`bundle.app+[1]`"]),
        ("bundle: {app: ./a.yaml}", ["`bundle.app`"]),
        ("bundle: {active: 3, added: {a: 3, b: ./b}}", ["`bundle.active`", "`bundle.added.a`"]),
        ("sources: {modules: [a], bundles: 3}", ["`sources.modules`", "`sources.bundles`"]),
        ("sources: {modules: {a: 3}, bundles: {c: {}}}", ["`sources.modules.a`", "`sources.bundles.c`"]),
        ("bundle: {active: , added: , app: }\nsources: {modules: , bundles: }", []),
        ("bundle: {active: a, added: {b: ./b}, app: [./c]}\nsources: {modules: {d: ./d}}", []),
    ],
)  # fmt: skip
def test_what_should_be_an_address_and_is_none_is_told(text: str, told: list[str]) -> None:
    assert [each.what.split()[0] for each in said(f"{text}\n").problems] == told


def test_a_single_policy_counts_like_a_list_of_one() -> None:
    assert [each.source for each in policies_of(said("bundle: {app: git+https://h/p@main}\n"))] == [
        "git+https://h/p@main"
    ]
    assert policies_of(said("bundle: {app: [3, '', {a: 1}]}\n")) == ()
