"""The table of commands: what each does, and which functions know its flags and answer it.

Reading it loads none of them: a row names its functions, and `load` brings the one that is asked for.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` itself costs more than all the rest of `--version`
if TYPE_CHECKING:
    from typing import Any


class CommandRow:
    """One row of the table. `flags` and `answer` are `module:function` of this package.

    `heals` says that the staged bundle is put right first. What installs, or only looks, does without it.
    `uses_bundle` says that the command must not run where that fails: what asks for kept runs and
    sessions uses nothing of the bundle, so it tells and goes on.
    `hands_on` says that the words are not ours: another program gets them as they are.
    """

    def __init__(
        self,
        summary: str,
        arguments: str,
        flags: str,
        answer: str,
        *,
        heals: bool = True,
        uses_bundle: bool = True,
        hands_on: bool = False,
    ) -> None:
        self.summary, self.arguments, self.flags, self.answer = summary, arguments, flags, answer
        self.heals, self.uses_bundle, self.hands_on = heals, uses_bundle, hands_on


# The first word of a name that has two is a group.
GROUPS = {
    "recipe": "write, run, check, explain and list recipes",
    "bundle": "load, compose, explain and lock bundles",
    "runs": "list, show, follow, resume, approve, cancel, fork and compare runs",
    "session": "list, show, go on with, fork and remove conversations with agents",
    "model": "fetch and remove models that run on this machine",
}
COMMANDS = {
    "recipe run": CommandRow("run a recipe", "RECIPE", "recipe_run:run_flags", "recipe_run:answer_run"),
    "recipe new": CommandRow(
        "write a new recipe to start with", "NAME", "recipe_new:new_flags", "recipe_new:answer_new"
    ),
    "recipe list": CommandRow(
        "show the recipes that can be run by name",
        "",
        "recipe_catalogue:list_flags",
        "recipe_catalogue:answer_list",
    ),
    "recipe validate": CommandRow(
        "read recipes and report everything that is wrong",
        "RECIPE …",
        "recipe_reading:validate_flags",
        "recipe_reading:answer_validate",
    ),
    "recipe check": CommandRow(
        "follow the data through recipes without running anything",
        "RECIPE …",
        "recipe_reading:check_flags",
        "recipe_reading:answer_check",
    ),
    "recipe explain": CommandRow(
        "show what a recipe would do, step by step",
        "RECIPE",
        "recipe_reading:explain_flags",
        "recipe_reading:answer_explain",
    ),
    "recipe schema": CommandRow(
        "print the JSON Schema of recipe files, for editors",
        "",
        "recipe_reading:schema_flags",
        "recipe_reading:answer_schema",
    ),
    "recipe manifest": CommandRow(
        "compare a directory's recipes with its manifest",
        "[DIRECTORY]",
        "recipe_catalogue:manifest_flags",
        "recipe_catalogue:answer_manifest",
    ),
    "recipe sync": CommandRow(
        "compare this project's recipes with those upstream",
        "",
        "recipe_catalogue:sync_flags",
        "recipe_catalogue:answer_sync",
    ),
    "runs list": CommandRow(
        "list the runs that are kept", "", "runs:list_flags", "runs:answer_list", uses_bundle=False
    ),
    "runs show": CommandRow(
        "show what happened in a run", "[RUN]", "runs:show_flags", "runs:answer_show", uses_bundle=False
    ),
    "runs tail": CommandRow(
        "follow a run live, whoever runs it",
        "[RUN]",
        "runs_tail:tail_flags",
        "runs_tail:answer_tail",
        uses_bundle=False,
    ),
    "runs resume": CommandRow(
        "go on with a run that was interrupted, failed or waits",
        "[RUN]",
        "runs_resume:resume_flags",
        "runs_resume:answer_resume",
    ),
    "runs approve": CommandRow(
        "approve the gate that a run waits at",
        "[RUN]",
        "runs:gate_flags",
        "runs:answer_approve",
        uses_bundle=False,
    ),
    "runs deny": CommandRow(
        "deny the gate that a run waits at; at a stage, the run ends there for good",
        "[RUN]",
        "runs:gate_flags",
        "runs:answer_deny",
        uses_bundle=False,
    ),
    "runs cancel": CommandRow(
        "end a run with everything that it started",
        "[RUN]",
        "runs:run_flags",
        "runs:answer_cancel",
        uses_bundle=False,
    ),
    "runs fork": CommandRow(
        "begin a new run that shares what came before a step",
        "[RUN]",
        "runs_fork:fork_flags",
        "runs_fork:answer_fork",
    ),
    "runs diff": CommandRow(
        "tell where two runs first differ, and why",
        "[A] [B]",
        "runs_diff:diff_flags",
        "runs_diff:answer_diff",
        uses_bundle=False,
    ),
    "runs prune": CommandRow(
        "remove old runs", "", "runs:prune_flags", "runs:answer_prune", uses_bundle=False
    ),
    "bundle show": CommandRow(
        "print the composed bundle: every part, who brought it, what it costs",
        "[BUNDLE]",
        "bundle_flags:show_flags",
        "bundle_answers:answer_show",
    ),
    "bundle validate": CommandRow(
        "report everything that is wrong with a bundle, and habits that hurt",
        "[BUNDLE]",
        "bundle_flags:validate_flags",
        "bundle_answers:answer_validate",
    ),
    "bundle why": CommandRow(
        "tell where a value, a context file, an agent or a sentence comes from",
        "SUBJECT",
        "bundle_flags:why_flags",
        "bundle_answers:answer_why",
    ),
    "bundle graph": CommandRow(
        "print who includes whom", "[BUNDLE]", "bundle_flags:graph_flags", "bundle_answers:answer_graph"
    ),
    "bundle list": CommandRow(
        "show the bundles that have a name here",
        "",
        "bundle_flags:common_flags",
        "bundle_answers:answer_list",
    ),
    "bundle lock": CommandRow(
        "write bundle.lock: commits and hashes of everything the bundle is made of",
        "[BUNDLE]",
        "bundle_flags:unfrozen_flags",
        "bundle_sources:answer_lock",
    ),
    "bundle status": CommandRow(
        "compare with bundle.lock, and with where the sources came from",
        "[BUNDLE]",
        "bundle_flags:bundle_flags",
        "bundle_sources:answer_status",
    ),
    "bundle update": CommandRow(
        "fetch what is new for every source of the bundle",
        "[BUNDLE]",
        "bundle_flags:unfrozen_flags",
        "bundle_sources:answer_update",
    ),
    "bundle clean": CommandRow(
        "remove cached sources that no bundle with a name uses",
        "",
        "bundle_flags:clean_flags",
        "bundle_sources:answer_clean",
    ),
    "agents": CommandRow(
        "list the agents of a bundle", "[BUNDLE]", "bundle_flags:bundle_flags", "bundle_answers:answer_agents"
    ),
    "run": CommandRow(
        "ask an agent of our own, with the tools of a bundle",
        "[PROMPT]",
        "ask:ask_flags",
        "ask:answer_ask",
    ),
    "chat": CommandRow(
        "talk with an agent of our own at the terminal",
        "",
        "chat:chat_flags",
        "chat:answer_chat",
    ),
    "session list": CommandRow(
        "list the sessions that are kept", "", "session:list_flags", "session:answer_list", uses_bundle=False
    ),
    "session show": CommandRow(
        "show what was said in a session, and what it used",
        "[SESSION]",
        "session:show_flags",
        "session:answer_show",
        uses_bundle=False,
    ),
    "session resume": CommandRow(
        "go on with a session: talk, or ask once more",
        "[SESSION] [PROMPT]",
        "chat:resume_flags",
        "chat:answer_resume",
    ),
    "session fork": CommandRow(
        "begin a new session with what was said up to a turn",
        "[SESSION]",
        "session:fork_flags",
        "session:answer_fork",
        uses_bundle=False,
    ),
    "session prune": CommandRow(
        "remove old sessions, or some by name",
        "[SESSION …]",
        "session:prune_flags",
        "session:answer_prune",
        uses_bundle=False,
    ),
    "model list": CommandRow(
        "show the models that can run on this machine",
        "",
        "model:list_flags",
        "model:answer_list",
        heals=False,
    ),
    "model pull": CommandRow(
        "fetch the weights of a model, or go on fetching them",
        "MODEL",
        "model:name_flags",
        "model:answer_pull",
        heals=False,
    ),
    "model remove": CommandRow(
        "remove the weights of a model", "MODEL", "model:name_flags", "model:answer_remove", heals=False
    ),
    "claude": CommandRow(
        "start Claude Code with our environment",
        "[WORD …]",
        "hosts:host_flags",
        "hosts:answer_claude",
        hands_on=True,
    ),
    "copilot": CommandRow(
        "start GitHub Copilot CLI with our environment",
        "[WORD …]",
        "hosts:host_flags",
        "hosts:answer_copilot",
        hands_on=True,
    ),
    "codex": CommandRow(
        "start OpenAI Codex CLI with our environment",
        "[WORD …]",
        "hosts:host_flags",
        "hosts:answer_codex",
        hands_on=True,
    ),
    "install": CommandRow(
        "stage the framework bundle of this version, or go back to the one before",
        "[history]",
        "install:install_flags",
        "install:answer_install",
        heals=False,
    ),
    "resolve-bundle-asset": CommandRow(
        "print where an asset of the framework bundle is",
        "ASSET",
        "resolve_asset:asset_flags",
        "resolve_asset:answer_asset",
    ),
    "doctor": CommandRow(
        "look at everything that is installed, and put it right with --fix",
        "",
        "doctor:doctor_flags",
        "doctor:answer_doctor",
        heals=False,
    ),
    "update": CommandRow(
        "upgrade this program with the tool that installed it, and stage its new bundle",
        "",
        "update:update_flags",
        "update:answer_update",
        heals=False,
    ),
    "completions": CommandRow(
        "print what makes your shell complete commands, flags, recipes and runs",
        "SHELL",
        "completions:completions_flags",
        "completions:answer_completions",
        heals=False,
    ),
    "uninstall": CommandRow(
        "remove the staged framework bundle",
        "",
        "uninstall:uninstall_flags",
        "uninstall:answer_uninstall",
        heals=False,
    ),
    "version": CommandRow(
        "print the version, and with --json what is staged and what runs it",
        "",
        "version:version_flags",
        "version:answer_version",
        heals=False,
    ),
}


def first_words() -> dict[str, str]:
    """Return what can follow `amplihack`, each with its summary."""
    alone = {name: command.summary for name, command in COMMANDS.items() if " " not in name}
    return {**GROUPS, **alone}


def verbs(group: str) -> dict[str, CommandRow]:
    """Return what can follow the name of a group."""
    return {
        name.removeprefix(f"{group} "): command
        for name, command in COMMANDS.items()
        if name.startswith(f"{group} ")
    }


def load(entry: str) -> Any:
    """Return a function that a row names as `module:function` of this package."""
    from importlib import import_module

    module, _, function = entry.partition(":")
    return getattr(import_module(f"amplihack.cli.{module}"), function)
