"""`bundle why`: for anything in the result, who wrote it, where, and what it replaced."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.bundle_place import thin_bundle
from tests.support.workspace import Workspace


def why(workspace: Workspace, subject: str) -> list[dict[str, Any]]:
    answer = workspace.run("bundle", "why", subject, "--json")
    assert answer.exit_code == 0, answer.stderr
    entries: list[dict[str, Any]] = answer.json
    assert all({"value", "bundle", "file", "line", "via"} <= entry.keys() for entry in entries)
    return entries


def test_a_key_tells_its_writer_its_line_its_chain_and_what_it_replaced(workspace: Workspace) -> None:
    thin_bundle(workspace)
    used, replaced = why(workspace, "tools.tool-bash.config.timeout")
    assert used == {
        "path": "tools.tool-bash.config.timeout",
        "value": 60,
        "bundle": "work-behavior",
        "file": "behaviors/work.yaml",
        "line": 6,
        "via": ["mine", "work-behavior"],
        "status": "used",
    }
    assert (replaced["value"], replaced["file"], replaced["line"]) == (30, "base/bundle.md", 13)
    assert (replaced["status"], replaced["via"]) == ("replaced", ["mine", "base"])


def test_a_module_alone_explains_all_that_is_set_in_it(workspace: Workspace) -> None:
    thin_bundle(workspace)
    paths = {entry["path"] for entry in why(workspace, "tool-bash")}
    assert paths == {
        "tools.tool-bash.module",
        "tools.tool-bash.config.timeout",
        "tools.tool-bash.config.allowed.0",
    }


@pytest.mark.parametrize(
    ("subject", "bundle", "file", "line"),
    [
        ("mine:context/rules.md", "work-behavior", "behaviors/work.yaml", 14),
        ("mine:worker", "work-behavior", "behaviors/work.yaml", 11),
        ("agents.mine:worker.description", "worker", "agents/worker.md", 4),
        ("Never guess.", "work-behavior", "context/rules.md", 3),
        ("Work   with\ncare.", "mine", "bundle.md", 12),
        ("@mine:context/guide.md", "mine", "context/guide.md", 1),
        ("context/guide.md", "mine", "context/guide.md", 1),
        ("session.orchestrator", "base", "base/bundle.md", 6),
        ("instruction", "mine", "bundle.md", 10),
    ],
)
def test_everything_has_a_place(
    workspace: Workspace, subject: str, bundle: str, file: str, line: int
) -> None:
    thin_bundle(workspace)
    first = why(workspace, subject)[0]
    assert (first["bundle"], first["file"], first["line"]) == (bundle, file, line)
    assert first["via"][0] == "mine"


def test_settings_are_writers_too(workspace: Workspace) -> None:
    thin_bundle(workspace)
    workspace.write(
        "home/.amplihack/settings.yaml",
        "modules:\n  tools:\n    - module: tool-bash\n      config: {timeout: 90}\n",
    )
    workspace.write(".amplihack/settings.yaml", "overrides:\n  tool-bash:\n    config: {timeout: 120}\n")
    entries = why(workspace, "tools.tool-bash.config.timeout")
    assert [(entry["value"], entry["bundle"], entry["file"], entry["line"]) for entry in entries] == [
        (120, "project settings", ".amplihack/settings.yaml", 3),
        (90, "home settings", "home/.amplihack/settings.yaml", 4),
        (60, "work-behavior", "behaviors/work.yaml", 6),
        (30, "base", "base/bundle.md", 13),
    ]


def test_a_removed_module_says_who_removed_it(workspace: Workspace) -> None:
    thin_bundle(workspace)
    workspace.write(
        "variant.yaml",
        "bundle: {name: variant}\nincludes: [./bundle.md]\ntools:\n  - {module: tool-work, remove: true}\n",
    )
    answer = workspace.run("bundle", "why", "tools.tool-work", "--bundle", "variant.yaml", "--json")
    removed = answer.json[0]
    assert (removed["status"], removed["bundle"], removed["line"]) == ("removed", "variant", 4)


def test_the_answer_reads_well(workspace: Workspace) -> None:
    thin_bundle(workspace)
    assert workspace.run("bundle", "why", "tools.tool-bash.config.timeout").stdout == (
        "= tools.tool-bash.config.timeout: 60\n"
        "    used — work-behavior (behaviors/work.yaml:6)\n"
        "    via mine -> work-behavior\n"
        "✗ tools.tool-bash.config.timeout: 30\n"
        "    replaced — base (base/bundle.md:13)\n"
        "    via mine -> base\n"
    )


def test_values_read_as_a_file_would_hold_them(workspace: Workspace) -> None:
    workspace.write("base.yaml", "bundle: {name: b}\ntools: [{module: gone}]\n")
    config = "{on: no, none: ~, many: [], word: 'no'}"
    entries = f"[{{module: t, config: {config}}}, {{module: gone, remove: true}}]"
    workspace.write("bundle.yaml", f"bundle: {{name: m}}\nincludes: [./base.yaml]\ntools: {entries}\n")
    told = workspace.run("bundle", "why", "tools.t.config").stdout
    values = [line.rpartition("config.")[2] for line in told.splitlines() if line.startswith("=")]
    assert values == ["on: false", "none: null", "many: []", "word: no"]
    assert workspace.run("bundle", "why", "tools.gone").stdout.startswith("- tools.gone\n    removed — m")


@pytest.mark.parametrize("subject", ["tools.nope", "no such words anywhere", "", "   "])
def test_what_nobody_wrote_is_not_found(workspace: Workspace, subject: str) -> None:
    thin_bundle(workspace)
    answer = workspace.run("bundle", "why", subject)
    assert (answer.exit_code, answer.stdout) == (3, "")
    assert "nothing in mine is called" in answer.stderr
