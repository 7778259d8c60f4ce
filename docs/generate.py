"""Writes the pages of this folder that are made from the code: `make docs`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from runpy import run_path
from typing import Any

from amplihack.cli import commands, help_pages, runner
from amplihack.recipes.check import CODES
from amplihack.recipes.reference_page import reference_page

DOCS = Path(__file__).parent

CLI_HEAD = """\
# Commands

Every help page. This page is made from the commands themselves (`make docs` writes it).

Results go to stdout, everything else to stderr. `--json` prints one JSON document and nothing else on stdout;
when the input is wrong, that document has `error`, with `what`, `where` and `fix`, and all `problems`.

Colours follow `--color`, then `NO_COLOR`, then `FORCE_COLOR` and `CLICOLOR_FORCE`, then `TERM=dumb` and
`CLICOLOR=0`, the first that says something; without any of them they are used on a terminal.
"""

FINDINGS_HEAD = """\
# Findings

What `amplihack recipe check` can tell about a recipe without running it, by code. This page is made from the
same table that the command uses (`make docs` writes it).

*Errors* are certain, and end the command with exit code 2. *Warnings* are almost certain; with `--strict`
they do so as well. *Notes* are matters of caution or taste, shown only with `--all`. `--json` and `--sarif`
give the same findings to other programs.

"""

FILE_HEAD = """\

## Problems of the file itself

These come from reading the file, so `amplihack recipe validate` tells them as well.

"""

FILE_CODES = {
    "bad-condition": "A condition that cannot be read; the caret stands where reading stopped.",
    "body-without-loop": "Steps inside a step that is no loop.",
    "contradiction": "Two fields, or two spellings of one field, that say different things.",
    "duplicate-id": "Two steps have the same id.",
    "duplicate-key": "A key stands twice in one mapping.",
    "duplicate-stage": "Two stages have the same name.",
    "empty-condition": "A condition or a `foreach` without a value; the step always runs, once.",
    "foreign-word": "A word that steers what runs in other tools, such as `if`; the fix names ours.",
    "input-as-value": "A value in `context` that reads like the description of an input.",
    "joined-lines": "Lines of a script that YAML joins to one, which bash reads otherwise.",
    "late-gate": "A gate behind the last steps of a recipe, so that nothing waits for it.",
    "no-source": "An entry of `dependencies` without a bundle.",
    "no-command": "A bash step without a command.",
    "cut-comment": "A text with a `#` in it, of which YAML takes the rest for a comment.",
    "unused-anchor": "A text that begins with `&` and a word, which YAML takes for an anchor.",
    "rewritten-number": "A number that reads otherwise than it is written: 3.10 becomes 3.1.",
    "no-effect": "A field that does nothing: on this kind of step, without a loop, or ever.",
    "no-id": "A step without an id.",
    "not-filled-in": "A placeholder in a field that is taken as it is written, such as `model`.",
    "no-name": "A recipe or a stage without a name.",
    "no-prompt": "An agent step that asks nothing.",
    "no-recipe": "A recipe step that names no recipe.",
    "no-steps": "A recipe or a stage without steps.",
    "parallel-loop": "A field that decides between rounds, in a loop whose rounds run at the same time.",
    "steps-and-stages": "A recipe with `steps` and `stages`; it may have one of them.",
    "too-large": "A limit beyond what there can be; the largest possible one counts.",
    "two-loops": "A step with `foreach` and `while_condition`; it may have one of them.",
    "unknown-field": "A field that nothing reads: probably a typo. Yours may begin with `x-`.",
    "unreadable": "The file is no YAML, no text or too large; this code is in `--json` and `--sarif` alone.",
    "unknown-type": "A type of an input that nobody knows, so that it is not checked.",
    "version-form": "A version that readers of other tools may not understand.",
    "wrong-type": "A field that holds the wrong kind of value.",
}


LIMITS_HEAD = """\
# Limits

How much of everything there may be, and where to change it. This page is made from the constants themselves
(`make docs` writes it).

"""

# What is limited, the constant or the default of a field, its unit, and what happens or how to change it.
LIMITS: tuple[tuple[str, str, str, str], ...] = (
    (
        "sessions of agents below the one that was opened",
        "app.sessions.child:MAX_DEPTH",
        "",
        "`spawn: {max_depth: …}` of the bundle",
    ),
    (
        "from a message of a session until it is synced to the disk, in a turn that goes on",
        "system.session_store.log:_MOMENT",
        "s",
        "the end of a turn waits for it",
    ),
    (
        "inputs of chats that come back with the Up key",
        "system.terminal.input_history:_MOST",
        "",
        "the oldest are forgotten",
    ),
    (
        "for a session in a process of its own to end, once it was asked to",
        "app.sessions.in_subprocess:_GRACE",
        "s",
        "it is killed",
    ),
    ("a recipe, settings or agent file", "documents.reader:MAX_BYTES", "bytes", "a larger file is refused"),
    (
        "a file of `--context-file` or `--set-file`",
        "app.variables:_LARGEST_FILE",
        "bytes",
        "a larger file is refused",
    ),
    (
        "levels of lists and maps in a YAML file",
        "documents.builder:MAX_DEPTH",
        "",
        "a deeper file is refused",
    ),
    ("nodes that aliases may unfold to", "documents.builder:_MAX_UNFOLDED", "", "a larger file is refused"),
    (
        "how often aliases may multiply a file",
        "documents.builder:_ALIAS_FACTOR",
        "times",
        "a larger file is refused",
    ),
    (
        "a recipe that the framework bundle must have",
        "install.contract:MAX_RECIPE_BYTES",
        "bytes",
        "the bundle is refused",
    ),
    ("the manifest of its recipes", "install.contract:MAX_MANIFEST_BYTES", "bytes", "the bundle is refused"),
    ("files of a framework bundle", "system.bundle_tree:_MOST_FILES", "", "the bundle is refused"),
    ("all its files together", "system.bundle_tree:_MOST_BYTES", "bytes", "the bundle is refused"),
    ("directories inside directories of it", "system.bundle_tree:_DEEPEST", "", "the bundle is refused"),
    ("a download of it", "system.bundle_download:MOST_DOWNLOADED", "bytes", "it is refused"),
    ("its `BUNDLE.json`", "install.contract:MAX_IDENTITY_BYTES", "bytes", "the bundle is refused"),
    (
        "levels in a recipe that it must have",
        "install.contract:MAX_RECIPE_DEPTH",
        "",
        "the bundle is refused",
    ),
    (
        "values in a recipe that it must have",
        "install.contract:MAX_RECIPE_NODES",
        "",
        "the bundle is refused",
    ),
    ("digits of a number in YAML", "documents.scalars:_LONGEST_INTEGER", "", "a longer one stays text"),
    (
        "levels of JSON from outside",
        "recipes.values:DEEPEST",
        "",
        "deeper output stays text; deeper `--set-json` is refused",
    ),
    ("levels of a value that a recipe puts together", "recipes.values:DEEPEST_MADE", "", "the step fails"),
    ("a text that is rendered", "recipes.templates.text:LONGEST", "characters", "the step fails"),
    ("a condition", "recipes.conditions.parse:MOST_BYTES", "bytes", "a longer one is refused"),
    (
        "brackets inside brackets of a condition",
        "recipes.conditions.parse:MOST_BRACKETS",
        "",
        "a deeper one is refused",
    ),
    (
        "operators inside operators of a condition",
        "recipes.conditions.parse:MOST_LEVELS",
        "",
        "a deeper one is refused",
    ),
    (
        "a text that a condition builds",
        "recipes.conditions.functions:MOST_TEXT",
        "characters",
        "a longer one fails the step",
    ),
    (
        "a list that a condition builds",
        "recipes.conditions.functions:MOST_ITEMS",
        "items",
        "a longer one fails the step",
    ),
    ("levels of sub-recipes", "recipes.semantics:DEFAULT_DEPTH", "", "`recursion: {max_depth: …}`"),
    ("steps of a run", "recipes.semantics:DEFAULT_STEPS", "", "`recursion: {max_total_steps: …}`"),
    (
        "items of a `foreach`, rounds of a loop",
        "recipes.model:Loop.max_iterations",
        "",
        "`max_iterations`, `max_while_iterations`",
    ),
    ("attempts of a step with `retry`", "recipes.model:Retry.max_attempts", "", "`max_attempts`"),
    (
        "steps that run at once",
        "app.run_request:RunRequest.max_parallel",
        "",
        "`--max-parallel`, `parallel: N`",
    ),
    (
        "agents that run at once",
        "app.run_request:RunRequest.max_agents",
        "",
        "`--max-agents`, `rate_limiting`",
    ),
    ("a hook", "recipes.engine.hooks:HOOK_TIMEOUT", "s", "it is ended, and the run warns"),
    (
        "output that a step keeps as its value",
        "system.spool:OUTPUT_LIMIT",
        "bytes",
        "the rest is cut, and the run warns",
    ),
    ("stderr that a step keeps", "system.shell:_STDERR_KEPT", "bytes", "the end is kept"),
    ("stderr that an error shows", "recipes.engine.bash:_ERROR_TAIL", "bytes", "the end is shown"),
    (
        "a line that is shown or reported",
        "system.lines:LONGEST_LINE",
        "bytes",
        "the rest of a longer one is cut, with …",
    ),
    (
        "a value that goes by environment",
        "recipes.templates.environment:LARGEST",
        "bytes",
        "a larger one goes by file; `max_env_value_bytes`",
    ),
    (
        "environment and arguments of a command",
        "system.shell:_ARGUMENTS",
        "bytes",
        "the rest goes by file; `AMPLIHACK_CONTEXT_ENV_BUDGET_BYTES`",
    ),
    (
        "a script that is given as an argument",
        "system.shell:_INLINE",
        "bytes",
        "a longer one is run from a file",
    ),
    (
        "quotes inside substitutions of a script",
        "recipes.templates.bash.cursor:DEEPEST",
        "",
        "a deeper script is refused",
    ),
    (
        "a prompt that goes as an argument",
        "system.agent_tools.prompts:INLINE_LIMIT",
        "bytes",
        "a longer one goes by stdin or by file",
    ),
    (
        "a prompt in `{prompt}` of `command:`",
        "system.agent_tools.command:_LONGEST_ARGUMENT",
        "bytes",
        "a longer one fails the step",
    ),
    (
        "brackets that are tried to find JSON in prose",
        "recipes.outputs:_MOST_OPENERS",
        "",
        "what comes later is not found",
    ),
    (
        "retries after a rate limit",
        "system.agent_tools.rate_limits:Patience.retries",
        "",
        "`AMPLIHACK_RATELIMIT_MAX_RETRIES`",
    ),
    (
        "retries that may be asked for",
        "system.agent_tools.rate_limits:_MOST_RETRIES",
        "",
        "more count as this many",
    ),
    (
        "directories above that are searched for sub-recipes",
        "system.search_dirs:_LEVELS",
        "",
        "a git work tree ends the search earlier",
    ),
    (
        "levels of sub-recipes, whatever `max_depth` says",
        "recipes.semantics:DEEPEST",
        "",
        "a warning, and then a deeper call fails",
    ),
    ("a number that counts something", "recipes.shapes:_MOST", "", "a larger one is refused"),
    (
        "text that the aliases of a YAML file stand for",
        "documents.builder:_MAX_UNFOLDED_TEXT",
        "characters",
        "more is refused",
    ),
    (
        "rounds of a loop that a dry run tells one by one",
        "recipes.engine.dry_run:_MOST_ROUNDS",
        "",
        "the rest is counted",
    ),
    (
        "names of files in a work tree",
        "system.work_tree:_MOST_OUTPUT",
        "bytes",
        "the changes are not staged",
    ),
    ("steps of a deep dry run", "recipes.engine.dry_run:_MOST", "", "later ones are not shown"),
    (
        "background processes of a step that are named at the end",
        "recipes.engine.run:_MOST_TOLD",
        "",
        "the rest is counted",
    ),
    ("time between SIGTERM and SIGKILL", "system.spawn:GRACE", "s", "a second Ctrl-C shortens it"),
    (
        "time that git gets for a work tree",
        "system.work_tree:_LIMIT",
        "s",
        "the changes are not staged",
    ),
    ("time that git gets elsewhere", "system.git:TIMEOUT", "s", "the command fails"),
    ("silence in a log before a step is mentioned", "system.listeners.wording:HEARTBEAT", "s", ""),
    (
        "a text in `--events`",
        "system.listeners.json_lines:SHORT",
        "bytes",
        "only the size of a longer one is told",
    ),
    (
        "mentions inside mentions of a bundle",
        "bundles.gathered_mentions:MAX_DEPTH",
        "",
        "deeper ones are not followed",
    ),
    (
        "a context file of a bundle",
        "system.bundle_files:_LARGEST",
        "bytes",
        "a larger one is not read, and told",
    ),
    (
        "a bundle's download",
        "system.sources.model:FetchLimits.download_bytes",
        "bytes",
        "a larger one is refused",
    ),
    (
        "a bundle's archive, unpacked",
        "system.sources.model:FetchLimits.unpacked_bytes",
        "bytes",
        "a larger one is refused",
    ),
    ("files of an archive", "system.sources.model:FetchLimits.unpacked_entries", "", "more are refused"),
    (
        "how much an archive may grow",
        "system.sources.model:FetchLimits.unpacked_ratio",
        "times",
        "more is refused",
    ),
    ("redirects of a download", "system.sources.http:_MOST_REDIRECTS", "", "more are refused"),
    (
        "time for one attempt to clone",
        "system.sources.model:FetchLimits.clone_seconds",
        "s",
        "`AMPLIFIER_GIT_CLONE_TIMEOUT_S`",
    ),
    (
        "time without data of a download",
        "system.sources.model:FetchLimits.http_seconds",
        "s",
        "it is tried again",
    ),
    ("fetches at once", "system.sources.model:FetchLimits.concurrent", "", "the others wait"),
    (
        "a line of a step that runs, as `runs tail` shows it",
        "system.run_store.live_lines:_LONGEST",
        "characters",
        "a longer one is cut; the result of the step has all of it",
    ),
    (
        "lines of a run that are kept for `runs tail`",
        "system.run_store.live_lines:_ROOM",
        "characters",
        "the last one says so; the results of the steps are kept",
    ),
    (
        "one text on the page of a run",
        "recipes.run_page:LONGEST_TEXT",
        "characters",
        "its middle is left out, and the page says how much; less if not all texts fit",
    ),
    (
        "all texts on the page of a run",
        "recipes.run_page:LARGEST_PAGE",
        "characters",
        "long texts are cut more",
    ),
    (
        "one side of a difference in `runs diff`",
        "recipes.run_diff:_LONGEST",
        "characters",
        "the rest is cut, and told",
    ),
    (
        "steps in a list of the slowest or dearest",
        "recipes.run_page:_MOST",
        "",
        "the others are in the timeline",
    ),
    (
        "characters of a line that `read_file` shows",
        "modules.tools.filesystem.reading:_LONGEST_LINE",
        "characters",
        "the rest is cut and told",
    ),
    (
        "characters that `read_file` gives at once",
        "modules.tools.filesystem.reading:_MOST_CHARACTERS",
        "characters",
        "the rest with `offset`",
    ),
    (
        "entries of a directory that `read_file` lists",
        "modules.tools.filesystem.reading:_MOST_ENTRIES",
        "",
        "the rest is left out and told",
    ),
    (
        "the change that `edit_file` shows",
        "modules.tools.filesystem.editing:_LONGEST_DIFF",
        "characters",
        "the rest is left out and told",
    ),
    (
        "characters of a line that `grep` shows",
        "modules.tools.search.grep_tool:_LONGEST_LINE",
        "characters",
        "the rest is cut",
    ),
    (
        "characters that `grep` gives at once",
        "modules.tools.search.grep_tool:_MOST_CHARACTERS",
        "characters",
        "the rest with `offset`",
    ),
    (
        "a file that `grep` searches without ripgrep",
        "modules.tools.search.worker:_LARGEST",
        "bytes",
        "only its beginning is searched",
    ),
    (
        "what a search may print",
        "modules.tools.search.places:_MOST_OUTPUT",
        "bytes",
        "the rest is not read: search for less",
    ),
    (
        "tools of one MCP server",
        "modules.tools.mcp.server:_MOST_TOOLS",
        "",
        "the server is not used, and that is told",
    ),
    (
        "one answer of an MCP server",
        "modules.tools.mcp.connection:_LARGEST_ANSWER",
        "bytes",
        "the call fails, and says so",
    ),
    (
        "the schema of a tool of an MCP server",
        "modules.tools.mcp.remote:_LARGEST_SCHEMA",
        "characters",
        "the tool is left out, and that is told",
    ),
    (
        "a picture of an MCP server, in base64",
        "modules.tools.mcp.remote:_LARGEST_PICTURE",
        "characters",
        "it is named, not shown",
    ),
    (
        "the answer of a recipe that an agent ran",
        "modules.tools.recipes:_MOST_SHOWN",
        "characters",
        "long texts in it are cut, and say so",
    ),
    (
        "links that the path of a file tool may lead through",
        "system.fence:_MOST_LINKS",
        "",
        "such a path is refused",
    ),
    (
        "agents that the tool `delegate` describes",
        "modules.tools.delegate:_MOST_DESCRIBED",
        "",
        "the others are named",
    ),
)


def pages() -> dict[str, str]:
    """Every generated page, by its file name."""
    return {
        "cli.md": _cli(),
        "findings.md": _findings(),
        "framework.md": run_path(str(DOCS / "framework_page.py"))["framework_page"](),
        "limits.md": _limits(),
        "recipe-reference.md": reference_page().rstrip("\n") + "\n",
    }


def _cli() -> str:
    sections = [_section("amplihack", help_pages.first_page())]
    groups = set[str]()
    for name in commands.COMMANDS:
        group = name.partition(" ")[0]
        if group in commands.GROUPS and group not in groups:
            groups.add(group)
            sections.append(_section(f"amplihack {group}", help_pages.group_parser(group).format_help()))
        sections.append(_section(f"amplihack {name}", help_pages.parser(name).format_help()))
    sections.append(_section("recipe-runner", runner.parser().format_help()))
    return "\n".join([CLI_HEAD, *sections])


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n{text.rstrip()}\n```\n"


def _findings() -> str:
    return f"{FINDINGS_HEAD}{_table(CODES)}{FILE_HEAD}{_table(FILE_CODES)}"


def _limits() -> str:
    rows = "".join(
        f"| {what} | {_amount(limit_value(constant), unit)} | {then} |\n"
        for what, constant, unit, then in LIMITS
    )
    return f"{LIMITS_HEAD}| what | limit | beyond it, or to change it |\n| --- | --- | --- |\n{rows}"


def limit_value(constant: str) -> float:
    """Return a constant of the package, or the default of a field of a value class."""
    module, _, name = constant.partition(":")
    owner, _, field = name.partition(".")
    found: Any = getattr(import_module(f"amplihack.{module}"), owner)
    value: float = found.__record_defaults__[field] if field else found
    return value


def _amount(value: float, unit: str) -> str:
    shown = f"{value:,.0f}" if value == int(value) else f"{value:,}"
    return f"{shown} {unit}".rstrip()


def _table(codes: Mapping[str, str]) -> str:
    rows = "".join(f"| `{code}` | {meaning} |\n" for code, meaning in sorted(codes.items()))
    return f"| code | meaning |\n| --- | --- |\n{rows}"


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
