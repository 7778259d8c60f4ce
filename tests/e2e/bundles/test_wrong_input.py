"""Wrong input for every command: what, where and how to fix it, and never a stack trace."""

from __future__ import annotations

import pytest
from tests.support.bundle_place import thin_bundle
from tests.support.workspace import Workspace

LOADING = ("show", "validate", "graph", "lock", "status", "update")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("bundle", "shwo"), 2, "did you mean 'show'?"),
        (("bundle", "--nope"), 2, "amplihack bundle"),
        (("bundle", "why"), 2, "SUBJECT"),
        (("bundle", "show", "a", "b"), 2, "unrecognized arguments: b"),
        (("bundle", "show", "--plan", "--prompt"), 2, "not allowed with"),
        (("bundle", "graph", "--format", "png"), 2, "invalid choice"),
        (("bundle", "lock", "--frozen"), 2, "unrecognized arguments"),
        (("bundle", "show", "-C", "nowhere"), 2, "the working directory does not exist"),
        (("agents", "--nope"), 2, "amplihack agents"),
        (("bundle", "show", "nope"), 3, "no bundle is called 'nope'"),
        (("bundle", "show", "foundatoin"), 3, "did you mean 'foundation'?"),
        (("bundle", "show", "nope:x"), 3, "no bundle is called 'nope'"),
        (("bundle", "show", "mine:nope"), 3, "has no 'nope'"),
        (("bundle", "show", "./nope"), 3, "there is no bundle at nope"),
        (("bundle", "show", "context"), 3, "no bundle is called 'context'"),
        (("bundle", "show", "./context"), 3, "there is no bundle at context"),
        (("bundle", "show", "context/rules.txt"), 3, "there is no bundle at"),
        (("bundle", "show", "ftp://example.com/x"), 3, "ftp://example.com/x"),
        (("bundle", "show", "mine:../../etc"), 3, "leads out of mine"),
        (("bundle", "why", "x", "--bundle", "nope"), 3, "no bundle is called 'nope'"),
        (("agents", "nope"), 3, "no bundle is called 'nope'"),
    ],
)
def test_wrong_words_are_explained(
    workspace: Workspace, words: tuple[str, ...], code: int, said: str
) -> None:
    thin_bundle(workspace)
    answer = workspace.run(*words)
    assert (answer.exit_code, answer.stdout) == (code, ""), answer.stderr
    assert said in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("verb", LOADING)
def test_without_any_bundle_every_command_says_how_to_name_one(workspace: Workspace, verb: str) -> None:
    answer = workspace.run("bundle", verb)
    assert (answer.exit_code, answer.stdout) == (3, "")
    assert answer.stderr.startswith("there is no bundle here, and settings name none\n  fix: name one")


@pytest.mark.parametrize("settings", ["bundles: {active: base.yaml}\n", "bundle: base.yaml\n"])
def test_a_setting_that_was_meant_to_name_one_is_pointed_at(workspace: Workspace, settings: str) -> None:
    workspace.write(".amplihack/settings.yaml", settings)
    answer = workspace.run("bundle", "show")
    assert (answer.exit_code, answer.stdout) == (3, "")
    assert answer.stderr.startswith(".amplihack/settings.yaml:1:")


@pytest.mark.parametrize("verb", [*LOADING[:1], *LOADING[2:]])
def test_a_malformed_bundle_is_pointed_at_by_every_command(workspace: Workspace, verb: str) -> None:
    workspace.write("bundle.yaml", "bundle: {name: a}\ntools:\n  - [1\n")
    answer = workspace.run("bundle", verb)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith("bundle.yaml:")


@pytest.mark.parametrize(
    "text",
    ["", "[]\n", "just words\n", "bundle: 3\n", "bundle: {name: [1]}\n", "includes: {}\n", "agents: 7\n",
     "context: [a]\n", 'context: {include: ["a\\0b", "x:\\0"]}\n', 'includes: ["./a\\0b", "n:\\0"]\n',
     'bundle: {name: a}\nagents: {include: ["a:x\\0"]}\n', 'tools: [{module: x, source: "./\\0"}]\n',
     "session: []\n", "spawn: 1\n", "bundle: &a {name: *a}\n", "? [x]\n: y\n"],
)  # fmt: skip
def test_odd_files_never_surprise_us(workspace: Workspace, text: str) -> None:
    workspace.write("bundle.yaml", text)
    for words in (("show",), ("validate", "--complete"), ("graph",), ("why", "x")):
        answer = workspace.run("bundle", *words)
        assert answer.exit_code in (0, 1, 2, 3), answer.stderr
        assert "Traceback" not in answer.stderr


def test_help_of_every_verb_costs_nothing_and_tells_all(workspace: Workspace) -> None:
    for verb in ("", *LOADING, "why", "list", "clean"):
        answer = workspace.run("bundle", *([verb] if verb else []), "--help")
        assert (answer.exit_code, answer.stderr) == (0, "")
        assert answer.stdout.startswith(f"usage: amplihack bundle {verb}".strip())


def test_terminal_codes_in_names_are_never_printed(workspace: Workspace) -> None:
    workspace.write("bundle.yaml", 'bundle: {name: "a\\e[31m"}\ntools: [{module: "t\\e[0m"}]\n')
    for words in (("show",), ("why", "tools"), ("validate",), ("graph",)):
        answer = workspace.run("bundle", *words)
        assert "\x1b" not in answer.stdout + answer.stderr
