"""The pages about variables and limits know everything that the code knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.pages import generator

from amplihack.recipes.semantics import BUILT_IN, HOOK_NAMES, LOOP_INDEX, LOOP_ITERATION
from amplihack.system.agent_tools.scripted import _FIELDS
from amplihack.system.agent_tools.table import AGENTS, DescribedAgent, InstalledAgent

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "amplihack"
OURS = re.compile(r"(?:AMPLIHACK|RECIPE_RUNNER|AMPLIFIER)_[A-Z][A-Z0-9_]*[A-Z0-9]")
# Names of the environment that are not variables of ours to document, and why.
NOT_READ = {
    "AMPLIHACK_IN_PARENTHESES": "a pattern of our own inside rendered scripts",
    "AMPLIHACK_KEY": "a variable of our own inside rendered scripts",
    "AMPLIHACK_KIND": "a variable of our own inside rendered scripts",
    "AMPLIHACK_LEFT": "a variable of our own inside rendered scripts",
    "AMPLIHACK_ATTRIBUTES": "a function of our own inside rendered scripts",
    "AMPLIHACK_FIRST": "a function of our own inside rendered scripts",
    "AMPLIHACK_NAME": "a variable of our own inside rendered scripts",
    "AMPLIHACK_RUN": "a function of our own inside rendered scripts",
    "AMPLIHACK_SUBSCRIPT": "a function of our own inside rendered scripts",
    "AMPLIHACK_MADE": "a variable of our own inside rendered scripts",
    "AMPLIHACK_STOP": "a variable of our own inside rendered scripts",
    "AMPLIHACK_NOT_A_NAME": "a variable of our own inside rendered scripts",
    "AMPLIHACK_NOT_A_PLAIN_KEY": "a variable of our own inside rendered scripts",
    "AMPLIHACK_NOT_A_NUMBER": "a variable of our own inside rendered scripts",
    "AMPLIHACK_NOT_A_WORD": "a variable of our own inside rendered scripts",
    "AMPLIHACK_NOT_PLAIN_ASSIGNMENT": "a variable of our own inside rendered scripts",
    "AMPLIHACK_NOT_DIGITS": "a variable of our own inside rendered scripts",
    "AMPLIHACK_NOT_PLAIN_TEXT": "a variable of our own inside rendered scripts",
    "AMPLIHACK_PRINTED": "a function of our own inside rendered scripts",
    "AMPLIHACK_TARGET": "a table of our own inside rendered scripts",
    "GCM_INTERACTIVE": "set for git alone",
    "GIT_CEILING_DIRECTORIES": "set for git alone",
    "GIT_DIR": "set for git alone",
}


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield str(path.relative_to(SOURCE)), ast.parse(path.read_text("utf-8"))


def texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def asked(tree: ast.AST) -> Iterator[str]:
    """Yield the names that are looked up in an environment."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=owner, attr="get" | "variable"), args=[ast.Constant(str(name)), *_]
            ):
                pass
            case ast.Subscript(value=owner, slice=ast.Constant(str(name))):
                pass
            case _:
                continue
        if re.search(r"environ|search", ast.unparse(owner)):
            yield name


def variables() -> set[str]:
    found: set[str] = set()
    for _, tree in trees():
        found |= {text for text in texts(tree) if OURS.fullmatch(text)}
        found |= {name for name in asked(tree) if name.isupper()}
    return found - NOT_READ.keys()


def test_every_variable_of_the_environment_is_on_the_page() -> None:
    shown = page("environment.md")
    assert sorted(name for name in variables() if f"`{name}`" not in shown) == []


def test_no_variable_on_the_page_is_gone() -> None:
    code = "".join(path.read_text("utf-8") for path in SOURCE.rglob("*.py"))
    prefix = "AMPLIHACK_RATELIMIT_"
    named = set(OURS.findall("".join(page(name) for name in ("environment.md", "agents.md"))))
    parts = {name.removeprefix(prefix) if name.startswith(prefix) else name for name in named}
    assert sorted(name for name in parts if f'"{name}"' not in code) == []


# limits --------------------------------------------------------------------------------------------------

LIMIT = re.compile(r"_?(?:.*_)?(?:MAX|MOST|LARGEST|LONGEST|DEEPEST|LIMIT|LEVELS|TIMEOUT|GRACE)(?:_.*)?")
# Numbers that bound our own work and never a user's, and why.
NOT_TOLD = {
    "app.python_api.handed_over:_MOST_BITS": "Python's own",
    "recipes.secret_layers:_DEEPEST": "encodings inside encodings that a secret is looked for behind",
    "recipes.secret_layers:_LONGEST": "of a secret that is looked for behind them",
    "recipes.templates.bash.function_arguments:_DEEPEST": "beyond it all arguments count as evaluated",
    "system.listeners.workstream_file:_LARGEST": "of a file of ours",
    "bundles.code_blocks:_DEEPEST": "how deep code may stand in lists and quotations to be told from text",
    "bundles.scalars:_LONGEST_NUMBER": "Python's own",
    "app.session_lines:_LONGEST": "the length of a line about a tool",
    "cli.session_display:_LONGEST": "the length of a line about a tool",
    "recipes.check.syntax:_MOST_PREFIXES": "precision of the check",
    "recipes.engine.job:MOST_NAMES": "the length of a warning",
    "recipes.secret_spellings:_JSON_LEVELS": "how secrets are recognised",
    "recipes.templates.variables:_MOST": "what is kept ready",
    "recipes.templates.bash.function_arguments:_LONGEST": "what is read again; all its arguments count else",
    "recipes.templates.bash.function_arguments:_MOST": "what is read again; all its arguments count else",
    "recipes.tracked_variables:_LONGEST": "what is kept ready",
    "system.agent_tools.environment:_LONGEST": "the length of a number",
    "sessions.ids:_LONGEST": "what a file system takes as a name",
    "system.bash_syntax:_TIMEOUT": "bash reads scripts in milliseconds",
    "system.listeners.wording:MOST_FILES": "the length of a line",
    "system.source_names:_LARGEST": "precision of an estimate",
    "bundles.merge:MAX_TRAIL": "how much history a value keeps for `why`",
    "install.identity:_LONGEST_NAME": "the name of a file",
    "install.identity:_MOST_PARTS": "the parts of a path",
    "system.bundle_places:_LEVELS": "how far the search for a checkout goes; a repository ends it",
    "system.generations:_LARGEST": "a file of our own",
    "system.install_history:_LARGEST": "a file of our own",
    "install.stamp:LONGEST_STAMP": "a file of our own",
    "system.install_lock:_LONGEST": "a file of our own",
    "recipes.check.assignments:_MOST_WAYS": "precision of the check",
    "recipes.check.neighbours:_DEEPEST": "deeper than any run may go",
    "recipes.check.neighbours:_MOST_CALLERS": "precision of the check",
    "recipes.check.nesting:_DEEPEST": "deeper than any run may go",
    "recipes.check.spelling:_MOST_COMPARISONS": "precision of the suggestions",
    "recipes.classify:MAX_ATTEMPTS": "a rule for other programs that retry runs",
    "recipes.conditions.rules:_LONGEST_FALSE_WORD": "the length of a word",
    "recipes.conditions.rules:_MOST_DIGITS": "Python's own",
    "recipes.progress_format:LONGEST_SAFE_NAME": "the names of files for other programs",
    "recipes.progress_format:LONGEST_STEP_NAME": "the format of files for other programs",
    "recipes.secret_forms:_MOST_LINES": "how secrets are recognised",
    "recipes.templates.variables:_DEEPEST": "names for members of values; `{{a.b}}` reaches any depth",
    "sessions.serialise:MAX_DEPTH": "the facade's",
    "system.agent_files:_DEEPEST": "the parts of a reference",
    "recipes.engine.steps:_LONGEST_TITLE": "how much of a name is shown",
    "system.listeners.audit:_LONGEST_NAME": "the name of a file",
    "system.process_table:_LONGEST_COMMAND": "how much of a command a warning shows",
    "system.registry_file:_LARGEST": "a file of our own",
    "system.shell:_LARGEST": "the same as that of the environment",
    "system.sources.archives:_LONGEST_LINK": "the system's own",
    "system.sources.metadata:_LIMIT": "a file of our own",
    "documents.yaml_fixes:_LONGEST": "how much a message repeats",
    "modules.hooks.streaming_ui:_LONGEST": "the length of a line",
    "modules.tools.delegate:_LONGEST_DESCRIPTION": "the length of a line",
    "modules.tools.mcp.last_words:_LONGEST": "the length of a message",
    "modules.tools.mcp.last_words:_MOST_READS": "how it is read",
    "modules.providers.model_events:_LONGEST_WORD": "how text streams",
    "modules.approval_rules:_LONGEST": "a longer command cannot be taken apart, and counts as such",
    "modules.tools.recipes:_MOST_OUTPUT": "far above what is shown",
    "modules.tools.mcp.connection:_GRACE": "as with all processes",
    "modules.tools.mcp.server:_GRACE": "as with all processes",
    "modules.tools.mcp.server:_MOST_WRONG": "the length of a message",
    "modules.tools.mcp.remote:_LONGEST_DESCRIPTION": "how much of a foreign description a model reads",
    "modules.tools.mcp.remote:_LONGEST_NAME": "what services take as the name of a tool",
    "modules.tools.search.worker:_LONGEST_LINE": "more than is shown of it",
    "bundles.foundation.late_bundle:_MOST_KEPT": "what is kept to save work",
    "cli.quick_start:_MOST_CODE": "larger modules are read as usual",
    "sessions.compaction:_LARGEST_SHARE": "how compaction goes about it",
}  # fmt: skip


def numbers() -> Iterator[str]:
    """Yield the constants that hold a number and are called like a limit."""
    for file, tree in trees():
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            value = getattr(node, "value", None)
            for target in targets:
                name = getattr(target, "id", "")
                if LIMIT.fullmatch(name) and value is not None and _is_number(value):
                    yield f"{file.removesuffix('.py').replace('/', '.')}:{name}"


def _is_number(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=int() | float()):
            return True
        case ast.BinOp(left=left, right=right):
            return _is_number(left) and _is_number(right)
    return False


def test_every_limit_is_on_the_page_or_excused() -> None:
    told = {constant for _, constant, _, _ in generator().LIMITS}
    assert sorted(set(numbers()) - told - NOT_TOLD.keys()) == []


def test_no_excuse_is_kept_that_nobody_needs() -> None:
    told = {constant for _, constant, _, _ in generator().LIMITS}
    assert sorted(NOT_TOLD.keys() & told | NOT_TOLD.keys() - set(numbers())) == []


# names, agents, answers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(BUILT_IN | HOOK_NAMES | {LOOP_INDEX, LOOP_ITERATION}))
def test_every_built_in_name_is_on_the_page(name: str) -> None:
    assert re.search(rf"`{re.escape(name)}[.`]", page("steps.md"))


def test_every_agent_tool_is_on_the_page() -> None:
    forms = [name for name, kind in AGENTS.items() if isinstance(kind, InstalledAgent)]
    forms += [f"{name}:{kind.argument}" for name, kind in AGENTS.items() if isinstance(kind, DescribedAgent)]
    assert [form for form in forms if f"| `{form}` |" not in page("agents.md")] == []
    assert [name for name in AGENTS if f"`{name}" not in page("agents.md")] == []


def test_every_field_of_scripted_answers_is_on_the_page() -> None:
    assert [name for name in _FIELDS if f"| `{name}` |" not in page("agents.md")] == []
