"""The framework bundle as it lies in the repository: whole, sound, and named as it is."""

from __future__ import annotations

import importlib.util
import json
import re
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.support.workspace import Workspace

from amplihack import Step, parse_recipe
from amplihack.documents import to_value
from amplihack.documents.frontmatter import split_frontmatter
from amplihack.documents.reader import read_document
from amplihack.install.contract import BUNDLE
from amplihack.recipes.model import Agent, every_step
from amplihack.system.framework_bundle import inspect_bundle
from amplihack.system.recipe_manifest import check_upstream_changes

ROOT = Path(__file__).parents[3]
FRAMEWORK = ROOT / BUNDLE
RECIPES = sorted((FRAMEWORK / "recipes").glob("*.yaml"))
FILES = sorted(path for path in FRAMEWORK.rglob("*") if path.is_file())
TEXT = {path.relative_to(FRAMEWORK).as_posix(): path.read_text("utf-8") for path in FILES}


def test_the_contract_of_installing_is_fulfilled() -> None:
    report = inspect_bundle(ROOT)
    assert report.ok, report


def test_the_manifest_has_the_digests_of_the_recipes() -> None:
    assert check_upstream_changes(FRAMEWORK / "recipes") == (), "run `make bundle`"


def test_the_identity_lists_every_file_as_it_is() -> None:
    spec = importlib.util.spec_from_file_location("write_bundle", ROOT / "tools" / "write_bundle.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (FRAMEWORK / "BUNDLE.json").read_text("utf-8") == module.identity_of(FRAMEWORK), (
        "run `make bundle`"
    )


# What a person gives these recipes as a command is run as one, which is told like every other value that is.
RUN_ON_PURPOSE = ("tests_command", "tests_known", "how_to_update")


def test_the_check_finds_nothing_but_commands_in_any_recipe(workspace: Workspace) -> None:
    done = workspace.run("recipe", "check", "--all", "--json", "-C", str(ROOT), *map(str, RECIPES))
    told = {f"the value of $RECIPE_VAR_{name} is run as a bash program" for name in RUN_ON_PURPOSE}
    assert {each["message"] for each in done.json} == told
    assert done.exit_code == 0


def test_the_bundle_is_valid_in_every_respect(workspace: Workspace) -> None:
    done = workspace.run("bundle", "validate", "--strict", str(FRAMEWORK))
    assert done.exit_code == 0, done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_is_called_like_its_file_and_says_what_it_does(path: Path) -> None:
    text = path.read_text("utf-8")
    assert f"name: {path.stem}\n" in text
    assert re.search(r"^description: \S", text, re.MULTILINE)
    assert read_document(text, path.name) is not None


def test_every_agent_of_a_recipe_is_there_and_every_agent_is_used() -> None:
    named = {name for path in RECIPES for name in re.findall(r"agent: amplihack:([\w-]+)", path.read_text())}
    there = {path.stem for path in (FRAMEWORK / "agents").glob("*.md")}
    included = set(re.findall(r"- amplihack:([\w-]+)\n", TEXT["behaviors/amplihack.yaml"]))
    assert named == there == included


def test_every_recipe_that_anything_names_is_there() -> None:
    there = {path.stem for path in RECIPES}
    for name, text in TEXT.items():
        called = re.findall(r"^\s*recipe: \"?([\w-]+)", text, re.MULTILINE)
        run = re.findall(r"recipe run ([a-z][\w-]+)", text)
        assert {*called, *run} <= there, name


def test_every_file_that_anything_names_is_there() -> None:
    for name, text in TEXT.items():
        for mentioned in re.findall(r"amplihack:((?:context|behaviors|agents|recipes)/[\w./-]+)", text):
            found = [FRAMEWORK / mentioned, FRAMEWORK / f"{mentioned}.yaml", FRAMEWORK / f"{mentioned}.md"]
            assert any(path.is_file() for path in found), (name, mentioned)


def test_every_command_and_flag_that_anything_names_exists(workspace: Workspace) -> None:
    from amplihack.cli import commands

    for name, text in TEXT.items():
        for words in re.findall(r"(?:`|\"\$\{AMPLIHACK:-)amplihack\}?\"? ([a-z][a-z -]*[a-z])", text):
            groups = [" ".join(words.split()[:length]) for length in (1, 2)]
            assert any(group in commands.COMMANDS for group in groups), (name, words)
    asked = {flag for text in TEXT.values() for flag in re.findall(r"recipe run [^\n]*?(--[a-z-]+)", text)}
    shown = workspace.run("recipe", "run", "--help").stdout
    assert {flag for flag in asked if flag not in shown} == set()


def test_the_named_assets_of_installing_are_there() -> None:
    from amplihack.install.assets import NAMED_ASSETS

    for asset in NAMED_ASSETS.values():
        path = ROOT / asset.path
        assert path.is_dir() if asset.kind == "directory" else path.is_file(), asset


def test_files_are_plain_small_text_without_links_or_paths_of_a_machine() -> None:
    folded = [name.casefold() for name in TEXT]
    assert len(set(folded)) == len(folded)
    for path in FRAMEWORK.rglob("*"):
        assert not path.is_symlink(), path
    for name, text in TEXT.items():
        assert "\r" not in text, name
        assert text.endswith("\n"), name
        assert len(text.encode()) < 256 * 1024, name
        assert not re.search(r"/home/|/Users/|/root/", text), name


def test_scripts_can_be_started_and_are_sound_for_every_bash() -> None:
    scripts = [path for path in FILES if path.suffix == ".sh"]
    assert scripts
    for path in scripts:
        assert path.stat().st_mode & stat.S_IXUSR, path
        assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0
    newer = re.compile(r"\$\{\w+(,,|\^\^)|mapfile|readarray|declare -A|\bsort -V\b|\breadlink -f\b")
    for name, text in TEXT.items():
        assert not newer.search(text), f"{name} needs a bash or tools that macOS does not have"


def test_json_files_can_be_read() -> None:
    for name, text in TEXT.items():
        if name.endswith(".json"):
            json.loads(text)


AGENT_STEPS = [
    pytest.param(step, id=f"{path.stem}-{step.id}")
    for path in RECIPES
    for step in every_step(parse_recipe(path.read_text("utf-8")).steps)
    if isinstance(step.action, Agent)
]


@pytest.mark.parametrize("step", AGENT_STEPS)
def test_a_prompt_is_short_and_says_what_answer_is_expected(step: Step) -> None:
    assert isinstance(step.action, Agent)
    prompt = step.action.prompt.text
    assert len(prompt) < 3000
    assert step.action.agent is not None
    if step.json is None:
        assert re.search(r"Answer in plain text|[Yy]our answer is the|Markdown", prompt)
        assert step.keep_text, "an answer that happens to be JSON would become a map"
        return
    assert "Answer with JSON and nothing else." in prompt
    schema = step.json.schema
    assert schema is not None
    properties, required = schema["properties"], schema["required"]
    assert isinstance(properties, dict)
    assert isinstance(required, list)
    assert set(required) == properties.keys()


@pytest.mark.parametrize("step", AGENT_STEPS)
def test_only_agents_that_are_to_change_files_have_their_changes_staged(step: Step) -> None:
    assert isinstance(step.action, Agent)
    reads = re.search(r"[Cc]hange nothing|[Cc]hange no file|Summarise|commits alone", step.action.prompt.text)
    assert (step.action.auto_stage is False) == bool(reads)


SKILLS = sorted((FRAMEWORK / "skills").iterdir())


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.name)
def test_a_skill_is_called_like_its_directory_and_says_when_to_use_it(path: Path) -> None:
    page = split_frontmatter((path / "SKILL.md").read_text("utf-8"), "SKILL.md")
    assert page.frontmatter is not None
    front: Any = to_value(page.frontmatter.root)
    assert front["name"] == path.name
    assert "Use it" in front["description"]
    assert len(front["description"]) < 1024  # more is not read by the tools that know skills


def test_the_skills_of_the_main_workflows_are_there() -> None:
    wanted = {"amplihack", "default-workflow", "dev-orchestrator", "investigation-workflow"}
    assert wanted == {path.name for path in SKILLS}


def test_the_entry_page_imports_files_that_are_there() -> None:
    imported = re.findall(r"^@(\S+)$", TEXT["CLAUDE.md"], re.MULTILINE)
    assert imported
    assert all((FRAMEWORK / name).is_file() for name in imported)


def test_a_session_can_be_opened_with_the_bundle(workspace: Workspace) -> None:
    answers = workspace.write("answers.yaml", "- text: Hello!\n")
    done = workspace.run(
        "run", "--quiet", "--bundle", str(FRAMEWORK), "--model", f"scripted:{answers}", "Who are you?"
    )
    assert (done.exit_code, done.stdout.strip()) == (0, "Hello!"), done.stderr
