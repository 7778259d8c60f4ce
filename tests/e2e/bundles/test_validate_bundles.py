"""`bundle validate`: all problems of all files at once, habits that hurt, and what the kernel says."""

from __future__ import annotations

import os

import pytest
from tests.support.bundle_place import thin_bundle
from tests.support.golden import Golden
from tests.support.workspace import Workspace

WRONG = """\
---
bundle: {name: wrong, includes: [./x.yaml]}
includes:
  - bundle: ./b.yaml
  - behavior: ./c.yaml
  - ./missing.yaml
tools: tool-bash
hooks:
  - just-a-name
  - config: {a: 1}
sesion: {}
---
@nobody:x.md and @wrong:gone.md
"""


def codes(workspace: Workspace, *words: str) -> list[str]:
    return [each["code"] for each in workspace.run("bundle", "validate", "--json", *words).json["problems"]]


def test_a_sound_bundle_is_valid(workspace: Workspace) -> None:
    thin_bundle(workspace)
    answer = workspace.run("bundle", "validate", "--strict")
    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, "", "✓ mine is valid\n")


def test_all_problems_of_all_files_are_told_at_once(workspace: Workspace, golden: Golden) -> None:
    workspace.write("bundle.md", WRONG)
    workspace.write("b.yaml", "bundle: {name: b}\nproviders:\n  - {module: p, config: 3}\n")
    answer = workspace.run("bundle", "validate")
    assert answer.exit_code == 2
    golden.check("bundle-validate", answer.stdout + answer.stderr)


def test_a_file_that_is_no_bundle_at_all_is_pointed_at(workspace: Workspace) -> None:
    workspace.write("bundle.md", "---\nbundle: {name: a\n---\n")
    answer = workspace.run("bundle", "validate", "--json")
    assert answer.exit_code == 2
    (problem,) = answer.json["problems"]
    assert (problem["file"], problem["severity"]) == ("bundle.md", "error")


def test_an_incomplete_bundle_is_valid_but_no_session_can_be_opened_with_it(workspace: Workspace) -> None:
    workspace.write("bundle.yaml", "bundle: {name: a}\n")
    assert workspace.run("bundle", "validate").exit_code == 0
    complete = workspace.run("bundle", "validate", "--complete", "--json")
    assert complete.exit_code == 2
    found = {each["code"] for each in complete.json["problems"]}
    assert {"no-session", "no-orchestrator", "no-context", "no-provider"} <= found


def test_habits_that_hurt_are_warnings_and_fail_only_when_asked_to(workspace: Workspace) -> None:
    thin_bundle(workspace)
    workspace.write(
        "behaviors/fat.md", "---\nbundle: {name: fat}\ntools:\n  - module: tool-bash\n---\nLost text.\n"
    )
    text = (workspace.path / "bundle.md").read_text()
    workspace.write("bundle.md", text.replace("includes:", "includes:\n  - bundle: mine:behaviors/fat"))
    answer = workspace.run("bundle", "validate")
    assert answer.exit_code == 0
    assert "behaviors/fat.md:6:1: warning: a behavior's text replaces the system prompt" in answer.stdout
    assert workspace.run("bundle", "validate", "--strict").exit_code == 2


def test_what_an_include_brings_already_need_not_be_declared_again(workspace: Workspace) -> None:
    thin_bundle(workspace)
    text = (workspace.path / "bundle.md").read_text()
    workspace.write("bundle.md", text.replace("---\n# Mine", "hooks:\n  - module: hooks-log\n---\n# Mine"))
    assert "redeclared" in codes(workspace)


def test_the_kernel_has_its_say_about_a_complete_plan(workspace: Workspace) -> None:
    workspace.write(
        "bundle.yaml",
        "bundle: {name: a}\n"
        "session: {orchestrator: loop-basic, context: context-simple}\n"
        "providers:\n  - {module: p, source: 7}\n",
    )
    answer = workspace.run("bundle", "validate", "--complete")
    assert answer.exit_code == 2
    assert "source" in answer.stdout


def test_a_local_module_that_is_not_there_is_an_error_at_its_place(workspace: Workspace) -> None:
    thin_bundle(workspace)
    text = (workspace.path / "behaviors/work.yaml").read_text()
    workspace.write("behaviors/work.yaml", text.replace("../modules/tool-work", "../modules/tool-wrok"))
    answer = workspace.run("bundle", "validate")
    assert answer.exit_code == 2
    assert "behaviors/work.yaml:8:13: there is no module at modules/tool-wrok" in answer.stdout


def test_missing_context_agents_and_mentions_are_told_with_their_places(workspace: Workspace) -> None:
    thin_bundle(workspace)
    for name in ("context/guide.md", "context/rules.md", "agents/worker.md"):
        (workspace.path / name).unlink()
    told = workspace.run("bundle", "validate").stdout
    assert "bundle.md:14:1: warning: @mine:context/guide.md: there is no such file" in told
    assert "behaviors/work.yaml:14:7: warning: context 'mine:context/rules.md'" in told
    assert "behaviors/work.yaml:11:7: warning: agent 'mine:worker' has no file" in told


@pytest.mark.parametrize("name", ["context/rules.md", "agents/worker.md"])
def test_what_cannot_be_read_as_text_is_told_and_left_out(workspace: Workspace, name: str) -> None:
    thin_bundle(workspace)
    workspace.write(name, b"\xff\xfe\x00 not text")
    answer = workspace.run("bundle", "show", "--json")
    assert answer.exit_code == 0
    assert "warning:" in answer.stderr
    (workspace.path / name).unlink()
    os.mkfifo(workspace.path / name)
    assert workspace.run("bundle", "show").exit_code == 0


@pytest.mark.parametrize("kind", ["directory", "pipe", "not text", "too large", "dangling"])
def test_a_bundle_file_that_cannot_be_read_is_explained(workspace: Workspace, kind: str) -> None:
    file = workspace.path / "b.yaml"
    if kind == "directory":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "dangling":
        file.symlink_to("nowhere")
    else:
        file.write_bytes(b"\xff\xfe" if kind == "not text" else b"#" * 20_000_000)
    workspace.write("bundle.yaml", "bundle: {name: a}\nincludes: [./b.yaml]\n")
    for words in (("./b.yaml",), ()):
        answer = workspace.run("bundle", "show", *words)
        assert answer.exit_code in (2, 3), answer.stderr
        assert "b.yaml" in answer.stderr
        assert "Traceback" not in answer.stderr


def test_mentions_that_lie_too_deep_are_told_unless_they_come_in_another_way(workspace: Workspace) -> None:
    levels = {f"l{number}.md": f"Level {number}. @deep:l{number + 1}.md\n" for number in range(1, 7)}
    for name, text in levels.items():
        workspace.write(name, text)
    workspace.write("bundle.md", "---\nbundle: {name: deep}\n---\n@deep:l1.md\n")
    told = workspace.run("bundle", "validate").stdout
    assert told.startswith("l4.md:1:10: warning: @deep:l5.md is not followed")
    assert told.count("[mention-too-deep]") == 1
    workspace.write("bundle.md", "---\nbundle: {name: deep}\n---\n@deep:l1.md @deep:l5.md\n")
    assert "mention-too-deep" not in workspace.run("bundle", "validate").stdout
    agent = "agents:\n  a: {description: x, instruction: 'Read @deep:l1.md'}\n"
    workspace.write("bundle.md", f"---\nbundle: {{name: deep}}\n{agent}---\n")
    assert "l4.md:1:10: warning: @deep:l5.md" in workspace.run("bundle", "validate").stdout


@pytest.mark.parametrize("content", [b"x" * (1024 * 1024 + 1), bytes(range(256))])
def test_what_is_no_text_of_a_usable_size_is_told_with_what_is(workspace: Workspace, content: bytes) -> None:
    workspace.write("odd.md", content)
    workspace.write("bundle.md", "---\nbundle: {name: a}\ncontext: {include: [odd.md]}\n---\n@a:odd.md\n")
    told = workspace.run("bundle", "validate").stdout
    assert told.count("it is not a text file of a usable size") == 2
    assert told.count("fix: a file of the prompt is UTF-8 text of up to 1 MiB") == 2
