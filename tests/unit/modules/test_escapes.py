"""Ways out that a model may try, tool by tool: what it must not see or do stays unseen and undone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.tool_stage import mounted

from amplihack.modules.approval_rules import ApprovalRule, decide, shown, subject_of
from amplihack.system.kernel.approvals import ApprovalMemory

SECRET = "the-secret-of-somebody-else"  # noqa: S105 - opens nothing


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A directory to work in, with a secret beside it and links that lead there."""
    inside = tmp_path / "here"
    inside.mkdir()
    (tmp_path / "secret.yaml").write_text(f"name: [{SECRET}\n")
    (tmp_path / "secret.txt").write_text(SECRET)
    (inside / "a.txt").write_text("plain\n")
    (inside / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (inside / "up").symlink_to(tmp_path)
    return inside


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "path",
    [
        "/proc/self/root{0}/secret.txt",
        "/proc/self/cwd/../secret.txt",
        "{1}/../secret.txt",
        "./././../secret.txt",
        "up/secret.txt",
        "a.txt/../../secret.txt",
        "a.txt\0/../../secret.txt",
        "file://{0}/secret.txt",
        "/dev/fd/0",
        "/proc/self/environ",
        "~/secret.txt",
        "$HOME/secret.txt",
    ],
)
async def test_no_path_leads_to_what_is_beside_the_directory(
    here: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(here.parent))
    monkeypatch.setenv("SOME_KEY", SECRET)
    asked = path.format(here.parent, here)
    async with mounted("tool-filesystem", here) as tools:
        assert SECRET not in await tools.fails("read_file", file_path=asked)
        await tools.coordinator.get("tools")["write_file"].execute({"file_path": asked, "content": "x"})
    assert (here.parent / "secret.txt").read_text() == SECRET


@pytest.mark.asyncio
@pytest.mark.parametrize("ripgrep", [True, False])
@pytest.mark.parametrize("pattern", ["../*", "/**", "{..,.}/*", "**/../../*", "[.][.]/*", "up/*", "~/*"])
async def test_no_pattern_leads_to_what_is_beside_the_directory(
    here: Path, pattern: str, ripgrep: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(here.parent))
    async with mounted("tool-search", here, config={"ripgrep": ripgrep}) as tools:
        for tool, given in (("glob", {"pattern": pattern}), ("grep", {"pattern": "secret", "glob": pattern})):
            result = await tools.coordinator.get("tools")[tool].execute(given)
            assert "secret." not in str(result.output)
            assert SECRET not in str(result.output)


@pytest.mark.asyncio
@pytest.mark.parametrize("action", ["validate", "run"])
@pytest.mark.parametrize(
    "recipe", ["../secret.yaml", "{0}/secret.yaml", "link.yaml", "up/secret.yaml", "~/secret.yaml"]
)
async def test_a_recipe_outside_is_not_read_into_a_message(
    here: Path, action: str, recipe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The excerpt in an error of a file would show its content, and looking at recipes needs no approval."""
    monkeypatch.setenv("AMPLIHACK_HOME", str(here.parent / "home"))
    async with mounted("tool-recipes", here) as tools:
        said = await tools.fails("recipes", action=action, recipe=recipe.format(here.parent))
        assert SECRET not in said
        assert "is outside" in said


# what a person is asked -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "given", "parts"),
    [
        ("recipes", {"action": "run", "recipe": "x.yaml", "context": {"a": 1}}, ("run", "x.yaml", "a=1")),
        ("mcp_db_query", {"path": "harmless", "sql": "DROP TABLE x"}, ("harmless", "DROP TABLE x")),
        ("delegate", {"agent": "builder", "instruction": "push it"}, ("builder", "push it")),
        ("bash", {"command": "make", "timeout": 3}, ("make",)),
        ("bash", {"job": 3, "stop": True}, ("job=3", "stop=True")),
    ],
)
def test_a_question_shows_all_that_matters_of_a_call(
    tool: str, given: dict[str, Any], parts: tuple[str, ...]
) -> None:
    assert all(part in subject_of(tool, given) for part in parts)


def test_an_argument_beside_the_one_that_a_rule_knows_cannot_be_smuggled_in() -> None:
    allowed = [ApprovalRule("mcp_*", "path=docs", "allow")]
    assert decide("ask", allowed, "mcp_files", {"path": "docs"}).action == "allow"
    assert decide("ask", allowed, "mcp_files", {"path": "docs", "sql": "DROP"}).action == "ask"


@pytest.mark.parametrize(
    ("path", "action"),
    [
        ("src/a.py", "allow"),
        (".gitignore", "allow"),
        (".git/hooks/pre-commit", "ask"),
        ("src/../.GIT/config", "ask"),
        (".amplihack/settings.local.yaml", "ask"),
        ("/home/me/.amplihack/settings.yaml", "ask"),
    ],
)
def test_edits_that_decide_what_runs_later_are_asked_for_even_where_edits_are_not(
    path: str, action: str
) -> None:
    for tool in ("write_file", "edit_file"):
        assert decide("auto-edit", [], tool, {"file_path": path}).action == action


def test_an_answer_for_always_is_for_that_call_to_the_letter() -> None:
    memory = ApprovalMemory()
    long = f"echo {'a' * 3_000}; rm -rf {{}}; echo {'b' * 3_000}"
    for prompt in ("cat Notes", f"x {shown(long.format('x'))}"):
        memory.remember(prompt)
    assert memory.allows("cat Notes")
    assert not memory.allows("cat notes")
    assert not memory.allows("cat  Notes")
    assert memory.allows(f"x {shown(long.format('x'))}")
    assert not memory.allows(f"x {shown(long.format('y'))}")  # only the part that is not shown differs


# oversized results ------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_no_tool_gives_more_than_a_model_can_use(here: Path) -> None:
    (here / "lines.txt").write_text("needle " * 20 + "\n" + ("needle " * 20 + "\n") * 200_000)
    (here / "one-line.json").write_text(json.dumps(["needle" * 10] * 300_000))
    many = here / "many"
    many.mkdir()
    for number in range(3_000):
        (many / f"{number:05}.txt").touch()
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("tool-filesystem", "read_file", {"file_path": "lines.txt"}),
        ("tool-filesystem", "read_file", {"file_path": "many"}),
        ("tool-search", "grep", {"pattern": "needle"}),
        ("tool-search", "glob", {"pattern": "**/*"}),
        ("tool-bash", "bash", {"command": "cat lines.txt; cat lines.txt >&2"}),
    ]
    for module, tool, given in calls:
        async with mounted(module, here) as tools:
            result = await tools.coordinator.get("tools")[tool].execute(given)
            assert len(json.dumps(result.output)) < 600_000, (tool, given)
