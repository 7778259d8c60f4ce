from __future__ import annotations

import pytest
from tests.unit.bundles.world import bundle, codes, decoded, plain

from amplihack.bundles.decode import decode_bundle, decode_data
from amplihack.bundles.errors import BundleLoadError, BundleValidationError
from amplihack.bundles.tree import Leaf, Table, to_plain

THIN = """\
---
bundle:
  name: recipes
  version: 1.10
  description: Multi-step work

includes:
  - bundle: git+https://github.com/org/amplifier-foundation@main
  - recipes:behaviors/recipes
---

# Recipe System

@recipes:context/instructions.md

---

More below a rule.
"""


def test_a_thin_bundle_is_read_whole() -> None:
    found = decode_bundle(THIN, "/w/bundle.md")
    assert found.problems == ()
    assert (found.bundle.name, found.bundle.version) == ("recipes", "1.10")
    assert [each.source for each in found.bundle.includes] == [
        "git+https://github.com/org/amplifier-foundation@main",
        "recipes:behaviors/recipes",
    ]
    assert found.bundle.system_instruction is not None
    assert found.bundle.system_instruction.startswith("# Recipe System")
    assert found.bundle.system_instruction.endswith("More below a rule.")
    assert found.bundle.instruction is not None
    assert found.bundle.instruction.line == 12


def test_includes_know_their_line() -> None:
    where = decode_bundle(THIN, "/w/bundle.md").bundle.includes[1].where
    assert where is not None
    assert (where.line, where.column) == (9, 5)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "null\n", "\ufeff\ufeff"])
def test_an_empty_file_is_a_nameless_bundle(text: str) -> None:
    found = decode_bundle(text, "/w/bundle.yaml")
    assert (found.bundle.name, found.problems) == ("", ())


def test_empty_frontmatter_leaves_the_rules_of_the_body_alone() -> None:
    found = decode_bundle("---\n---\nprose\n\n---\n\nmore: prose\n", "/w/bundle.md").bundle
    assert found.system_instruction == "prose\n\n---\n\nmore: prose"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n", "got list"),
        ("just text\n", "got str"),
        ("a: [", "YAML parse error"),
        ("bundle: x\n", "`bundle`"),
    ],
)
def test_what_is_no_bundle_says_why(text: str, said: str) -> None:
    with pytest.raises(BundleLoadError, match=said) as caught:
        decode_bundle(text, "/w/bundle.yaml")
    assert caught.value.path == "/w/bundle.yaml"
    assert caught.value.line in (1, 2)


def test_other_files_and_other_encodings_are_refused() -> None:
    with pytest.raises(BundleLoadError, match=r"no bundle file"):
        decode_bundle("x", "/w/bundle.toml")
    with pytest.raises(BundleLoadError, match="not UTF-8"):
        decode_bundle(b"bundle:\n  name: \xff\n", "/w/bundle.yaml")


def test_frontmatter_that_never_ends_is_an_error() -> None:
    with pytest.raises(BundleLoadError, match="never closed"):
        decode_bundle("---\nbundle:\n  name: a\n", "/w/bundle.md")


def test_frontmatter_after_a_blank_line_is_reported() -> None:
    found = decode_bundle("\n---\nbundle:\n  name: a\n---\ntext\n", "/w/bundle.md")
    assert found.bundle.name == ""
    assert codes(found) == ["frontmatter-not-first"]
    rules = decode_bundle("---\n---\nWords\n---\nmore\n---\n", "/w/bundle.md")
    assert codes(rules) == []  # the frontmatter is there, and empty


def test_crlf_is_just_a_line_end() -> None:
    found = decode_bundle("---\r\nbundle:\r\n  name: a\r\n---\r\nHi\r\n", "/w/bundle.md")
    assert (found.bundle.name, found.bundle.system_instruction) == ("a", "Hi")


def test_a_module_that_is_only_a_word_is_refused_with_the_right_shape() -> None:
    found = decoded("bundle: {name: mine}\ntools:\n  - tool-bash\n  - 7\n")
    assert codes(found) == ["module-entry", "module-entry"]
    with pytest.raises(BundleValidationError) as caught:
        found.checked()
    for part in (
        "mine",
        "tools[0]",
        "expected dict",
        "got str",
        "'tool-bash'",
        "Correct format:",
        "module",
        "source",
    ):
        assert part in str(caught.value)
    assert len(caught.value.problems) == 2
    assert caught.value.line == 3


def test_a_nameless_bundle_is_called_by_its_directory() -> None:
    assert "/w" in decoded("tools: [x]\n").problems[0].what


@pytest.mark.parametrize("section", ["providers", "tools", "hooks"])
def test_a_section_that_is_no_list_is_refused(section: str) -> None:
    with pytest.raises(BundleValidationError, match="expected list, got dict"):
        decoded(f"{section}:\n  module: x\n").checked()


def test_all_problems_of_a_file_come_at_once_in_its_order() -> None:
    found = decoded(
        """\
        bundle: {name: a b, includes: [x]}
        toolz: []
        includes:
          - behavior: a:b
        context:
          inject: [x.md]
        hooks:
          - nope
        """
    )
    assert codes(found) == [
        "name-shape",
        "includes-below-bundle",
        "unknown-key",
        "include-shape",
        "context-key",
        "module-entry",
    ]
    assert found.problems[2].fix == "did you mean `tools`?"
    assert "- bundle: a:b" in found.problems[3].fix


def test_lost_includes_are_errors_only_when_strict() -> None:
    found = decoded("includes:\n  - behavior: a:b\n")
    assert found.checked(strict=False) is found.bundle
    with pytest.raises(BundleLoadError, match="includes nothing"):
        found.checked()


def test_an_include_that_is_no_text_is_told_by_its_place_and_lost() -> None:
    found = decoded("includes:\n  - ./a.yaml\n  - 5\n  - {bundle: [x]}\n  -\n  - ' '\n")
    assert [each.source for each in found.bundle.includes] == ["./a.yaml"]
    assert codes(found) == ["include-shape", "include-shape", "ignored-entry", "include-shape"]
    places = [each.what.partition(" ")[0] for each in found.problems]
    assert places == ["`includes[1]`", "`includes[2].bundle`", "`includes[3]`", "`includes[4]`"]
    with pytest.raises(BundleLoadError, match="should be text"):
        found.checked()


def test_a_module_that_is_no_text_is_told_as_what_it_is() -> None:
    found = decoded("tools:\n  - module: 5\n  - module:\n")
    assert [each.what.partition("] ")[2] for each in found.problems] == [
        "has a 'module' that is no text", "has no 'module'",
    ]  # fmt: skip
    assert found.problems[0].fix == 'write module: "5"'


def test_an_include_that_stands_alone_is_wrapped_and_reported() -> None:
    found = decoded("includes: foundation\n")
    assert [each.source for each in found.bundle.includes] == ["foundation"]
    assert codes(found) == ["single-value"]


def test_an_at_sign_in_yaml_is_taken_off_and_explained() -> None:
    found = decoded(
        """\
        bundle: {name: a}
        context:
          include: ["@a:context/x.md"]
        agents:
          include: ["@a:helper"]
        """
    )
    assert codes(found) == ["at-in-yaml", "at-in-yaml"]
    assert found.problems[0].fix == "write a:context/x.md"
    assert list(found.bundle.context.entries) == ["a:context/x.md"]
    assert list(found.bundle.agents.entries) == ["a:helper"]


def test_context_keeps_the_order_in_which_it_was_declared() -> None:
    found = bundle(
        """\
        bundle: {name: a}
        context:
          include: [b:one.md, two.md, b:three.md]
          named: docs/four.md
        """
    )
    assert list(found.context.entries) == ["b:one.md", "two.md", "b:three.md", "named"]
    assert found.pending_context == {"b:one.md": "b:one.md", "b:three.md": "b:three.md"}
    assert found.resolved_context == {"two.md": "/w/two.md", "named": "/w/docs/four.md"}


def test_relative_sources_start_at_the_declaring_file() -> None:
    found = bundle(
        """\
        session:
          orchestrator: {module: loop, source: ./modules/loop}
        tools:
          - {module: a, source: ./modules/a}
          - {module: b, source: ../b}
          - {module: c, source: git+https://h/o/r}
        agents:
          helper:
            description: d
            tools: [{module: t, source: ./modules/t}, bare]
        """,
        "/w/x/bundle.yaml",
    )
    assert [entry.get("source") for entry in plain(found, "tools")] == [
        "/w/x/modules/a",
        "/w/b",
        "git+https://h/o/r",
    ]
    assert plain(found, "session")["orchestrator"]["source"] == "/w/x/modules/loop"
    assert plain(found, "agents")["helper"]["tools"] == [
        {"module": "t", "source": "/w/x/modules/t"},
        {"module": "bare"},
    ]


def test_two_entries_of_one_tool_become_one_and_two_providers_are_refused() -> None:
    found = decoded("tools:\n  - {module: a, config: {x: 1}}\n  - {module: a, config: {y: 2}}\n")
    assert plain(found.bundle, "tools") == [{"module": "a", "config": {"x": 1, "y": 2}}]
    assert codes(found) == ["duplicate-module"]
    with pytest.raises(BundleValidationError, match="second entry"):
        decoded("providers:\n  - {module: p}\n  - {module: p}\n").checked()


def test_empty_sections_are_as_good_as_none() -> None:
    text = "".join(
        f"{key}:\n" for key in ("bundle", "includes", "session", "tools", "agents", "context", "spawn")
    )
    found = decode_bundle(text, "/w/bundle.yaml")
    assert found.problems == ()
    assert not found.bundle.session
    assert found.bundle.includes == ()


def test_unknown_sections_are_kept_for_apps() -> None:
    found = decoded("bundle: {name: a}\nskills: [one]\nx-note: hello\n")
    assert to_plain(found.bundle.extra) == {"skills": ["one"], "x-note": "hello"}
    assert [(each.code, each.severity) for each in found.problems] == [("unknown-key", "note")]


@pytest.mark.parametrize("key", ["steps", "stages"])
def test_a_recipe_given_for_a_bundle_is_known(key: str) -> None:
    (problem,) = decoded(f"name: r\n{key}: []\n").problems
    assert (problem.severity, "is a recipe" in problem.what) == ("warning", True)
    assert "`amplihack recipe run`" in problem.fix


def test_agents_that_grant_access_are_no_roster() -> None:
    assert not bundle("name: helper\nagents: none\n").agents
    assert not bundle("name: helper\nagents: [a, b]\n").agents


@pytest.mark.parametrize("said", ["none", "all", "[a, b]", "[5]"])
def test_a_bundle_that_lists_agents_as_only_an_agent_may_is_told(said: str) -> None:
    found = decoded(f"bundle: {{name: a}}\nagents: {said}\n")
    assert (codes(found), bool(found.bundle.agents)) == (["agents-shape"], False)
    assert "below `include:`" in found.problems[0].fix


def test_an_agent_without_a_definition_is_reported() -> None:
    found = decoded("agents:\n  include:\n  helper: just text\n")
    assert codes(found) == ["agent-shape"]
    assert not found.bundle.agents


def test_the_head_of_an_older_format_is_told() -> None:
    (problem,) = decoded("profile: {name: old, extends: base}\n").problems
    assert (problem.severity, "write `bundle:`" in problem.fix) == ("warning", True)


@pytest.mark.parametrize("key", ["dirs: [./agents]", "active: [a, b]"])
def test_a_list_of_agents_under_another_key_is_told(key: str) -> None:
    (problem,) = decoded(f"bundle: {{name: b}}\nagents:\n  {key}\n").problems
    assert problem.code == "agent-shape"
    assert problem.what.startswith(f"`agents.{key.partition(':')[0]}` has no effect")


def test_an_agent_file_is_a_bundle_with_the_name_of_its_meta() -> None:
    text = "---\nmeta:\n  name: helper\n  description: Helps.\ntools: [tool-x]\n---\nYou help.\n"
    found = decode_bundle(text, "/w/agents/helper.md")
    assert found.problems == ()
    assert (found.bundle.name, found.bundle.description) == ("helper", "Helps.")
    assert plain(found.bundle, "tools") == [{"module": "tool-x"}]
    assert found.bundle.system_instruction == "You help."


def test_a_key_that_stands_twice_is_an_error_with_both_lines() -> None:
    with pytest.raises(BundleLoadError, match="stands here twice; the first is on line 1"):
        decoded("spawn: {}\nspawn: {}\n").checked()


def test_plain_data_is_decoded_without_lines() -> None:
    found = decode_data({"bundle": {"name": "a", "version": 2}, "tools": [{"module": "t"}]}, base_path="/w")
    assert (found.bundle.name, found.bundle.version) == ("a", "2")
    entry = found.bundle.section("tools").entries["t"]
    assert isinstance(entry, Table)
    assert entry.origin.bundle == "a"
    leaf = entry.entries["module"]
    assert isinstance(leaf, Leaf)
    assert leaf.line == 0


def test_plain_data_with_a_wrong_head_is_refused() -> None:
    with pytest.raises(BundleLoadError, match="should be a mapping, got str"):
        decode_data({"bundle": "x"})


@pytest.mark.parametrize(
    ("fragment", "fix"),
    [
        ("#dev", "write @dev for a branch, #subdirectory=dev for a directory in it"),
        ("#subdir=a/b", "write subdirectory=a/b"), ("#subdirectry=a", "write subdirectory=a"),
        ("#comit=1234", "write commit=1234"), ("#subdirectory=a&path=b", "write subdirectory=b"),
        ("#token=hunter2", "only subdirectory=, commit= and sha256= are read there"),
        ("#subdirectory=a&sha256=1", None), ("#egg=x&subdirectory=a", None), ("#", None), ("", None),
    ],
)  # fmt: skip
def test_a_part_of_an_address_without_effect_is_told(fragment: str, fix: str | None) -> None:
    uri = f"git+https://h/o/r@main{fragment}"
    for text in (
        f"includes: ['{uri}']\n",
        f"includes: [{{bundle: '{uri}'}}]\n",
        f"tools: [{{module: t, source: '{uri}'}}]\n",
        f"session: {{orchestrator: {{module: t, source: '{uri}'}}}}\n",
        f"agents: {{a: {{description: d, tools: [{{module: t, source: '{uri}'}}]}}}}\n",
    ):
        found = [each for each in decoded(text).problems if each.code == "address-part"]
        assert [each.fix for each in found] == ([fix] if fix else []), text
        assert not any("hunter2" in f"{each.what} {each.fix}" for each in found)


def test_a_path_may_hold_what_looks_like_a_fragment() -> None:
    assert codes(decoded("includes: ['./a#b.yaml']\n")) == []


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        ("ref: v1", "into the address"),
        ("subdirectory: behaviors/x.yaml", "#subdirectory="),
        ("optional: true", "every include counts"),
        ("when: {env: CI}", "every include counts"),
        ("config: {a: 1}", "the same module is one entry"),
        ("nmae: far", "says only which bundle"),
    ],
)
def test_what_an_include_says_besides_its_bundle_is_told_to_have_no_effect(key: str, fix: str) -> None:
    found = decoded(f"bundle: {{name: a}}\nincludes:\n  - bundle: far\n    {key}\n    x-note: ours\n")
    (problem,) = found.problems
    assert (problem.code, problem.severity) == ("include-key", "warning")
    assert problem.what == f"`includes[0]`: `{key.partition(':')[0]}` has no effect"
    assert fix in problem.fix
    assert [include.source for include in found.bundle.includes] == ["far"]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("enabled: false", "the module is used all the same"),
        ("enabled: no", "the module is used all the same"),
        ("disabled: true", "the module is used all the same"),
        ("when: {env: CI}", "the module is used all the same"),
        ("if: has_git", "the module is used all the same"),
        ("conf: {a: 1}", "did you mean `config`?"),
        ("settings: {a: 1}", "did you mean `config`?"),
        ("src: ./x", "did you mean `source`?"),
        ("url: https://h/x", "did you mean `source`?"),
        ("version: 1.2", "write it into the source"),
        ("priority: 5", "reaches the module; move it there"),
        ("timeout: 5", "reaches the module; move it there"),
        ("args: [--all]", "reaches the module; move it there"),
    ],
)
def test_what_looks_as_if_it_did_something_to_a_module_is_told(key: str, said: str) -> None:
    found = decoded(f"bundle: {{name: a}}\ntools:\n  - module: t\n    {key}\n").problems
    (problem,) = [each for each in found if each.code == "module-key"]
    assert problem.severity == "warning"
    assert said in f"{problem.what} {problem.fix}"


@pytest.mark.parametrize(
    "key",
    [
        "enabled: true",
        "disabled: false",
        "x-enabled: false",
        "name: one",
        "description: d",
        "_by: app",
        "timeout:",
    ],
)
def test_what_changes_nothing_for_a_module_is_left_alone(key: str) -> None:
    assert codes(decoded(f"bundle: {{name: a}}\ntools:\n  - module: t\n    {key}\n")) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("spawn: {tools: [null]}", ["ignored-entry"]),
        ("spawn: {tools: [5, [a], x]}", ["ignored-entry", "ignored-entry"]),
        ("spawn: {tools: true}", ["single-value", "ignored-entry"]),
        ("spawn: {tools: [{module: x, timeout: 5}]}", ["module-key"]),
        ("spawn: {exclude_tools: [null, x, 5]}", ["ignored-entry", "ignored-entry"]),
        ("spawn: {max_depth: two}", ["spawn-policy"]),
        ("spawn: {agents: [x]}", ["unknown-key"]),
        ("session: {orchestrator: {module: a, timeout: 5}}", ["module-key"]),
        ("session: {orchestrator: {module: a, config: [b]}}", ["module-config"]),
        ("session: {orchestrator: {modul: a}}", ["unknown-key"]),
        ("session: {raw: maybe}", ["session-value"]),
        ("session: {metadata: [a]}", ["session-value"]),
        ("session: {model: x}", ["unknown-key"]),
        ("context: {a: }", ["context-key"]),
        ("context: {a: 5}", ["context-key"]),
        ("agents: {a: {description: 5}}", ["agent-value"]),
        ("agents: {a: {description: d, path: [x]}}", ["agent-value"]),
        ("agents: {a: {description: d, agents: some}}", ["agent-access"]),
        ("agents: {a: {description: d, provider_preferences: x}}", ["agent-value"]),
        ("agents: {a: {description: d, provider_preferences: [{provider: p}, q]}}", ["agent-value"] * 2),
        ("agents: {a: {description: d, model: opus}}", ["agent-key"]),
        ("agents: {a: {description: d, model: inherit}}", []),
        ("tools: [{module: '  '}]", ["module-missing"]),
        ("tools: [{module: [a]}]", ["module-missing"]),
    ],
)
def test_nothing_that_is_left_out_is_left_unsaid(text: str, told: list[str]) -> None:
    assert codes(decoded(f"bundle: {{name: b}}\n{text}\n")) == told


def test_an_excluded_tool_that_is_written_as_an_entry_is_excluded() -> None:
    found = decoded("bundle: {name: b}\nspawn: {exclude_tools: [{module: x, source: ./x}]}\n")
    assert to_plain(found.bundle.section("spawn")) == {"exclude_tools": ["x"]}
    assert [each.fix for each in found.problems] == ["write `- x`"]


@pytest.mark.parametrize(
    ("entry", "fix"),
    [
        ("{tool-bash: {timeout: 5}}", "write `module: tool-bash`, and its settings below `config:`"),
        ("{tool-bash: }", "write `module: tool-bash`, and its settings below `config:`"),
        ("{name: tool-bash}", "write `module: tool-bash`"),
        ("{module: 5}", 'write module: "5"'),
        ("{module: [a]}", "name a module"),
        ("{modul: a}", "did you mean `module` by `modul`?"),
    ],
)
def test_an_entry_without_a_module_is_shown_what_it_means(entry: str, fix: str) -> None:
    (problem,) = decoded(f"bundle: {{name: b}}\ntools: [{entry}]\n").problems
    assert (problem.code, problem.fix) == ("module-missing", fix)


@pytest.mark.parametrize("section", ["tools", "agents", "session", "context"])
def test_a_section_below_the_head_of_a_bundle_is_told(section: str) -> None:
    (problem,) = decoded(f"bundle:\n  name: b\n  {section}: [a]\n").problems
    assert (problem.code, problem.severity) == ("section-below-bundle", "warning")
    assert problem.fix == "move it to the start of the line, beside `bundle:`"


def test_a_bundle_among_the_modules_is_shown_its_place() -> None:
    (problem,) = decoded("bundle: {name: a}\nproviders:\n  - include: far:providers/x\n").problems
    assert problem.code == "module-missing"
    assert "`includes: [far:providers/x]`" in problem.fix


@pytest.mark.parametrize(("name", "said"), [("user", "the home root"), ("project", ".amplihack"), ("~", "")])
def test_a_name_that_mentions_take_for_something_else_is_told(name: str, said: str) -> None:
    (problem,) = decoded(f"bundle: {{name: '{name}'}}\n").problems
    assert (problem.code, problem.severity) == ("name-shape", "warning")
    assert said in problem.what
