"""What the documentation says is true: recipes are sound, commands run, generated pages are fresh."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.support.commands import on_the_path
from tests.support.pages import commands, files, generator
from tests.support.workspace import Workspace

from amplihack.documents import read_document, to_value
from amplihack.recipes.conditions.functions import LEAST_ARGUMENTS as FUNCTIONS
from amplihack.recipes.conditions.methods import LEAST_ARGUMENTS as METHODS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.yaml"))


def _is_recipe(text: str) -> bool:
    """Whether it is a recipe and not, say, the answers of a scripted agent."""
    value = to_value(read_document(text.encode(), "example").root)
    return isinstance(value, dict) and "name" in value


def _lay_out(workspace: Workspace, page: Path) -> dict[str, str]:
    """Writes the page's files into the workspace, among the recipes of docs/examples."""
    shutil.copytree(ROOT / "docs" / "examples", workspace.path / "docs" / "examples")
    written = files(page.read_text(encoding="utf-8"))
    for name, text in written.items():
        workspace.write(name, text)
    return written


@pytest.mark.parametrize(
    "name", ["cli.md", "findings.md", "framework.md", "limits.md", "recipe-reference.md"]
)
def test_generated_pages_are_what_the_code_says(name: str) -> None:
    fresh: str = generator().pages()[name]
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == fresh, "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_recipe_on_a_page_is_valid_and_has_no_findings(workspace: Workspace, page: Path) -> None:
    recipes = [name for name, text in _lay_out(workspace, page).items() if _is_recipe(text)]
    if recipes:
        answer = workspace.run("recipe", "check", "--strict", "-R", ".", *recipes)
        assert (answer.exit_code, answer.stdout) == (0, ""), answer


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_every_example_recipe_is_valid_and_has_no_findings(workspace: Workspace, example: Path) -> None:
    if _is_recipe(example.read_text(encoding="utf-8")):
        answer = workspace.run("recipe", "check", "--strict", str(example))
        assert (answer.exit_code, answer.stdout) == (0, ""), answer


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_on_a_page_runs_and_answers_as_the_page_says(workspace: Workspace, page: Path) -> None:
    _lay_out(workspace, page)
    environment = on_the_path(workspace)
    environment["RECIPE_RUNNER_RECIPE_DIRS"] = "."
    if page.name == "framework.md":
        environment["PYTHONPATH"] = str(ROOT / "src")  # with the framework bundle
    for command in commands(page.read_text(encoding="utf-8")):
        if command.line.startswith("make "):
            continue  # sets up an environment from the network; CI runs both
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command.line],
            cwd=workspace.path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{command.line}\n{done.stdout}{done.stderr}"
        assert not command.answer or done.stdout == command.answer, command.line


def test_every_function_and_method_of_conditions_is_on_the_page() -> None:
    page = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    assert [name for name in FUNCTIONS if f"`{name}(" not in page] == []
    assert [name for name in METHODS if f".{name}(" not in page] == []


def test_every_code_that_reading_a_file_can_give_is_explained() -> None:
    explained = generator().FILE_CODES
    sources = "".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "src" / "amplihack" / "recipes").glob("*.py")
        if path.name.startswith(("decode", "reading", "rewritten", "cut_comments", "joined_lines"))
    )
    given = set(re.findall(r'report\.add\(\s*"([a-z-]+)"', sources))
    assert sorted(given - explained.keys()) == []
    unknown = [code for code in explained if f'"{code}"' not in sources and not code.startswith("no-")]
    assert unknown == ["duplicate-key", "unreadable"]  # which the YAML reader gives


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
