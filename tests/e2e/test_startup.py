"""A command loads what it needs and nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.support.workspace import Workspace

PROBE = """\
import sys
from amplihack.cli.{module} import main
try:
    code = main(sys.argv[1:])
except SystemExit as end:  # argparse ends a help page so
    code = end.code
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""
ALWAYS_SLOW = {"asyncio", "rich", "sqlite3", "subprocess", "ssl", "urllib.request", "logging", "unittest"}


def _loaded(workspace: Workspace, *words: str, module: str = "main") -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(module=module), *words],
        cwd=workspace.path,
        env=workspace.env,
        capture_output=True,
        check=True,
    )
    return set(done.stderr.decode().splitlines()[-1].split())


def _loaded_alone(workspace: Workspace, *words: str) -> set[str]:
    """Return what a command loads as a process of its own, which puts off more."""
    program = "import sys; from amplihack.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program, *words],
        cwd=workspace.path,
        env=workspace.env,
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


@pytest.mark.parametrize(
    ("module", "word"),
    [
        ("main", "--version"),
        ("main", "version"),
        ("main", "--help"),
        ("runner", "--version"),
        ("runner", "-V"),
    ],
)
def test_version_and_help_load_next_to_nothing(workspace: Workspace, module: str, word: str) -> None:
    loaded = _loaded(workspace, word, module=module)
    slow = {"argparse", "dataclasses", "yaml", "typing", "json", "enum", "inspect", "pathlib", *ALWAYS_SLOW}
    assert not loaded & slow
    ours = {name for name in loaded if name.startswith("amplihack")}
    table = {"commands"} if module == "main" else set()
    page = {"help_pages"} if word == "--help" else set()
    cli = {f"amplihack.cli.{name}" for name in {module, "guard"} | table | page}
    assert ours == {"amplihack", "amplihack.version", "amplihack.cli"} | cli


NOT_FOR_FLAGS = ("amplihack.app", "amplihack.documents", "amplihack.recipes", "amplihack.bundles", "yaml")


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_recipe_runner_tells_its_version_and_flags_without_looking_around(
    workspace: Workspace, word: str
) -> None:
    loaded = _loaded(workspace, word, "-C", "no/such/place", module="runner")
    assert not loaded & ALWAYS_SLOW
    assert not [name for name in loaded if name.startswith(NOT_FOR_FLAGS)]


@pytest.mark.parametrize("words", [("recipe", "run"), ("bundle", "show"), ("agents",)])
def test_a_help_page_loads_nothing_that_answers(workspace: Workspace, words: tuple[str, ...]) -> None:
    loaded = _loaded(workspace, *words, "--help")
    assert not loaded & ALWAYS_SLOW
    assert not [name for name in loaded if name.startswith(NOT_FOR_FLAGS)]


def test_importing_the_package_loads_no_part_of_it() -> None:
    script = "import sys, amplihack; print([name for name in sys.modules if name.startswith('amplihack')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "['amplihack.version', 'amplihack']\n"


@pytest.mark.parametrize("verb", ["validate", "explain"])
def test_reading_a_recipe_loads_neither_the_engine_nor_the_check(workspace: Workspace, verb: str) -> None:
    workspace.write("good.yaml", "name: good\nsteps: [{id: a, command: ls, condition: b == 'c'}]\n")
    loaded = _loaded(workspace, "recipe", verb, "good.yaml")
    assert not loaded & ALWAYS_SLOW
    assert "yaml" in loaded
    unneeded = (
        "amplihack.recipes.engine",
        "amplihack.recipes.check",
        "amplihack.app.run",
        "amplihack.cli.recipe_run",
        "amplihack.system.agent_tools",
        "amplihack.system.git",
        "amplihack.system.recipe_listing",
        "amplihack.system.processes",
        "amplihack.system.recipe_upstream",
    )
    assert not [name for name in loaded if name.startswith(unneeded)]


# Tables of foreign words, help texts, quoting for advice, and codecs for what UTF-8 can say.
NOT_FOR_ORDINARY_RECIPES = {
    "amplihack.recipes.foreign_word_table",
    "amplihack.recipes.foreign_words",
    "encodings.ascii",
    "encodings.utf_8_sig",
    "shlex",
    "textwrap",
}


def test_checking_ordinary_scripts_loads_no_json_and_asks_no_grammar(workspace: Workspace) -> None:
    workspace.write("good.yaml", "name: good\ncontext: {v: 1}\nsteps: [{id: a, command: 'ls {{v}}'}]\n")
    loaded = _loaded_alone(workspace, "recipe", "check", "good.yaml")
    assert "amplihack.recipes.check.syntax" in loaded
    assert not loaded & {"json.decoder", "amplihack.recipes.check.plain_scripts"}
    assert not loaded & NOT_FOR_ORDINARY_RECIPES


def test_running_bash_loads_neither_agents_nor_what_describes_python(workspace: Workspace) -> None:
    workspace.write("good.yaml", "name: good\nsteps: [{id: a, command: ls}]\n")
    loaded = _loaded_alone(workspace, "recipe", "run", "good.yaml", "-q")
    assert "amplihack.recipes.engine" in loaded
    assert not loaded & {"ast", "dis", "rich", "urllib.request", "amplihack.recipes.engine.agent"}
    assert not loaded & NOT_FOR_ORDINARY_RECIPES
    engine = ("loops", "sub_recipe", "conditions")
    assert not loaded & {f"amplihack.recipes.engine.{name}" for name in engine}
    assert not [name for name in loaded if name.startswith("amplihack.recipes.conditions")]


@pytest.mark.parametrize("verb", ["check", "list", "schema", "manifest"])
def test_no_answer_about_recipes_starts_processes_or_draws_tables(workspace: Workspace, verb: str) -> None:
    workspace.write(".claude/recipes/good.yaml", "name: good\nsteps: [{id: a, command: ls}]\n")
    words = ("check", "good") if verb == "check" else (verb,)
    assert not _loaded(workspace, "recipe", *words) & ALWAYS_SLOW


def test_showing_a_bundle_loads_neither_recipes_nor_what_other_answers_need(workspace: Workspace) -> None:
    workspace.write(
        "bundle.yaml", "bundle: {name: b}\ntools: [{module: t, source: git+https://e.org/t@main}]\n"
    )
    loaded = _loaded(workspace, "bundle", "show", "./bundle.yaml")
    unneeded = (
        "amplihack.recipes.decode",
        "amplihack.recipes.model",
        "amplihack.app.bundles.checking",
        "amplihack.bundles.drawing",
        "amplihack.system.sources.archives",
        "amplihack.system.sources.fetching",
        "amplihack.system.sources.git",
        "amplihack.system.sources.http",
        "amplihack.system.tool_schema",
        "html",
        "random",
        "secrets",
        "urllib.request",
    )
    assert "amplihack.app.bundles.load" in loaded
    assert not [name for name in loaded if name.startswith(unneeded)]
