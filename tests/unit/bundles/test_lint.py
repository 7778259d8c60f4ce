from __future__ import annotations

import pytest
from tests.unit.bundles.world import bundle, decoded

from amplihack.bundles.completion import rows
from amplihack.bundles.compose import compose_includes
from amplihack.bundles.drawing import dot, drawing_of, mermaid, svg, tokens_by_bundle
from amplihack.bundles.errors import BundleDependencyError, BundleError, Subject, error_from
from amplihack.bundles.lint import LintInput, lint, role_of
from amplihack.errors import AmplihackError, Location, Problem


def found(text: str, around: LintInput, file: str = "/w/bundle.yaml") -> list[str]:
    return [problem.code for problem in lint(decoded(text, file).bundle, around)]


def test_a_good_thin_bundle_is_left_alone() -> None:
    text = (
        "---\nbundle: {name: recipes}\nincludes:\n  - git+https://h/o/amplifier-foundation\n"
        "  - bundle: recipes:behaviors/recipes\n---\n# Recipes\n\n@recipes:context/x.md\n"
    )
    assert found(text, LintInput("git+https://h/o/amplifier-bundle-recipes", "root"), "/w/bundle.md") == []


def test_a_repository_is_no_namespace() -> None:
    text = """\
        bundle: {name: mine}
        includes:
          - bundle: git+https://h/o/amplifier-bundle-recipes@main
        agents:
          include: ["amplifier-bundle-recipes:author"]
        """
    (problem,) = lint(bundle(text), LintInput())
    assert problem.code == "repository-as-namespace"
    assert problem.where is not None
    assert problem.where.line == 5


def test_mentions_are_held_to_the_same_rule_at_their_line() -> None:
    text = "---\nbundle: {name: recipes}\n---\nSee\n@amplifier-bundle-recipes:x.md\n"
    around = LintInput("git+https://h/o/amplifier-bundle-recipes")
    (problem,) = lint(decoded(text, "/w/bundle.md").bundle, around)
    assert problem.where is not None
    assert (problem.where.line, problem.where.column) == (5, 1)


@pytest.mark.parametrize("subpath", ["bundles/foo", "bundles/foo/bundle.md"])
def test_a_subdirectory_is_not_repeated_in_paths(subpath: str) -> None:
    text = "bundle: {name: foo}\ncontext:\n  include: ['foo:bundles/foo/context/x.md']\n"
    around = LintInput(f"git+https://h/o/r@main#subdirectory={subpath}")
    (problem,) = lint(bundle(text), around)
    assert (problem.code, problem.fix) == ("subdirectory-repeated", "write foo:context/x.md")


def test_agents_are_named_without_directory_and_suffix() -> None:
    (other,) = lint(bundle("bundle: {name: a}\nagents:\n  include: ['./agents/x.md']\n"), LintInput())
    assert other.fix == "write x"
    (problem,) = lint(bundle("bundle: {name: a}\nagents:\n  include: ['a:agents/x.md']\n"), LintInput())
    assert (problem.code, problem.fix) == ("agents-prefix", "write a:x")


FAT = """\
bundle: {name: fat}
includes: [foundation]
session:
  orchestrator: {module: loop-streaming}
tools:
  - {module: tool-bash, source: git+https://h/bash}
  - {module: tool-mine}
"""


def test_what_foundation_brings_is_not_declared_again() -> None:
    assert found(FAT, LintInput()) == ["redeclared", "redeclared"]
    assert found(FAT.replace("includes: [foundation]", "includes: [other]"), LintInput()) == []


def test_with_the_includes_at_hand_only_real_repetition_counts() -> None:
    inherited = bundle("tools:\n  - {module: tool-mine, config: {a: 1}}\n")
    assert found(FAT, LintInput(inherited=inherited)) == ["redeclared"]
    changed = FAT.replace("{module: tool-mine}", "{module: tool-mine, config: {a: 2}}")
    assert found(changed, LintInput(inherited=inherited)) == []


def test_long_instructions_belong_into_a_context_file() -> None:
    text = "---\nbundle: {name: a}\n---\n" + "Do this and that. " * 200
    (problem,) = lint(decoded(text, "/w/bundle.md").bundle, LintInput(role="root"))
    assert problem.code == "inline-instructions"
    assert "@a:context/instructions.md" in problem.fix
    assert found(text, LintInput(), "/w/bundles/x.md") == []


def test_a_behavior_has_no_text_of_its_own() -> None:
    assert found("Text.", LintInput(role="behavior"), "/w/behaviors/x.md") == ["behavior-body"]


def test_a_root_that_lists_agents_is_told_of_behaviors() -> None:
    text = "bundle: {name: a}\nincludes: [x]\nagents:\n  include: ['a:y']\n"
    assert found(text, LintInput(role="root")) == ["no-behavior"]


def test_secrets_do_not_belong_into_bundles() -> None:
    text = "providers:\n  - {module: p, config: {api_key: %s}}\n"
    assert found(text % "sk-1234567890", LintInput()) == ["secret-in-bundle"]
    assert found(text % "'${API_KEY}'", LintInput()) == []


def test_the_role_of_a_file_follows_from_its_place() -> None:
    assert role_of("/w/bundle.md") == "root"
    assert role_of("/w/behaviors/x.yaml") == "behavior"
    assert role_of("/w/bundles/x.yaml") == "other"


def test_a_graph_is_drawn_in_three_notations() -> None:
    inner = bundle('bundle: {name: "in<n>er", version: 2}\ntools:\n  - {module: t}\n', "/i/bundle.yaml")
    outer = compose_includes(bundle("bundle: {name: outer}\n", "/o/bundle.yaml"), [inner, inner])
    graph = drawing_of(outer, {"outer": 5000})
    assert [(box.name, box.level) for box in graph.boxes] == [("outer", 0), ("in<n>er", 1)]
    assert graph.edges == (("b0", "b1"),)
    assert 'b0 [label="outer · 5000 tokens", fillcolor="#fff9c4"]' in dot(graph)
    assert "b0 -> b1;" in dot(graph)
    assert 'b1["in#lt;n>er 2"]' in mermaid(graph)
    assert "b0 --> b1" in mermaid(graph)
    drawn = svg(graph)
    assert drawn.count("<rect") == 2
    assert "in&lt;n&gt;er" in drawn
    assert svg(graph) == drawn


def test_rows_say_who_brought_what() -> None:
    inner = decoded(
        "---\nbundle: {name: inner}\ntools:\n  - {module: t, source: 'https://me:pw@h/t'}\n"
        "context:\n  include: [a.md]\n---\nSome instructions here.\n",
        "/i/bundle.md",
    ).bundle
    outer = compose_includes(bundle("bundle: {name: outer}\n"), [inner])
    table = rows(outer, {"inner:a.md": 7})
    assert [(row.section, row.name, row.source, row.bundle, row.line, row.tokens) for row in table] == [
        ("tools", "t", "https://***@h/t", "inner", 4, 0),
        ("context", "inner:a.md", "/i/a.md", "inner", 6, 7),
        ("instruction", "instruction", "", "inner", 8, 5),
    ]
    assert tokens_by_bundle(table) == {"inner": 12}


def test_a_bundle_error_knows_its_place_its_chain_and_a_hint() -> None:
    where = Location("/w/b.yaml", 3, 1)
    problems = (Problem("a", where, "fix a"), Problem("b"), Problem("c", severity="warning"))
    error = error_from(BundleDependencyError, problems, Subject("u", chain=("x", "y")))
    assert isinstance(error, BundleError)
    assert isinstance(error, AmplihackError)
    assert (str(error), error.path, error.line, error.hint) == (
        "/w/b.yaml:3:1: a; b",
        "/w/b.yaml",
        3,
        "fix a",
    )
    assert (error.uri, error.chain, error.exit_code) == ("u", ("x", "y"), 2)
    assert error.problems == problems


def test_paths_that_only_this_machine_has_are_noted() -> None:
    text = """
        bundle: {name: own}
        includes: [../other, /abs/b.yaml, ./inside.yaml, 'file:///abs/c.yaml', name, 'git+https://h/r']
        context: {include: [a.md, ../up.md, ~/home.md, /abs/x.md, own:n.md], named: ../up2.md}
        tools: [{module: t, source: ../tool}, {module: u, source: ./tool}, {module: v, source: ~/tool}]
        agents: {a: {description: x, path: ../a.md}}
    """
    found = lint(bundle(text, "/w/b/bundle.yaml"), LintInput(root="/w/b"))
    assert [each.what.split()[0] for each in found if each.code == "outside-bundle"] == [
        "../other", "/abs/b.yaml", "/abs/c.yaml", "/w/up.md", "~/home.md", "/abs/x.md", "/w/up2.md",
        "/w/tool", "~/tool", "../a.md",
    ]  # fmt: skip
    assert {each.severity for each in found if each.code == "outside-bundle"} == {"note"}
