"""Run the `amplihack` command from one table of commands. Only the requested one is loaded."""

from __future__ import annotations

import os
import sys

from amplihack.cli.guard import guarded, leave
from amplihack.version import __version__

TYPE_CHECKING = False  # `typing` itself costs more than all the rest of `--version`
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from amplihack.cli.arguments import Parser


class CommandRow:
    """One row of the table. `flags` and `answer` are `module:function` of this package.

    `heals` says that the staged bundle is put right first. What installs, or only looks, does without it.
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
        hands_on: bool = False,
    ) -> None:
        self.summary, self.arguments, self.flags, self.answer = summary, arguments, flags, answer
        self.heals, self.hands_on = heals, hands_on


# The first word of a name that has two is a group.
GROUPS = {
    "recipe": "write, run, check, explain and list recipes",
    "bundle": "load, compose, explain and lock bundles",
    "runs": "list, show, follow, resume, approve, cancel, fork and compare runs",
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
    "runs list": CommandRow("list the runs that are kept", "", "runs:list_flags", "runs:answer_list"),
    "runs show": CommandRow("show what happened in a run", "[RUN]", "runs:show_flags", "runs:answer_show"),
    "runs tail": CommandRow(
        "follow a run live, whoever runs it", "[RUN]", "runs_tail:tail_flags", "runs_tail:answer_tail"
    ),
    "runs resume": CommandRow(
        "go on with a run that was interrupted, failed or waits",
        "[RUN]",
        "runs_resume:resume_flags",
        "runs_resume:answer_resume",
    ),
    "runs approve": CommandRow(
        "approve the gate that a run waits at", "[RUN]", "runs:gate_flags", "runs:answer_approve"
    ),
    "runs deny": CommandRow(
        "deny the gate that a run waits at, for good", "[RUN]", "runs:gate_flags", "runs:answer_deny"
    ),
    "runs cancel": CommandRow(
        "end a run with everything that it started", "[RUN]", "runs:run_flags", "runs:answer_cancel"
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
    ),
    "runs prune": CommandRow("remove old runs", "", "runs:prune_flags", "runs:answer_prune"),
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

FIRST_EXAMPLES = (  # those of the other pages are in `examples.py`: this page loads nothing
    ("amplihack recipe run build.yaml", "run a recipe"),
    ("amplihack recipe check build.yaml", "look for mistakes without running anything"),
    ("amplihack bundle show", "what the bundle of this directory is made of"),
)

_HEAD = """\
usage: amplihack <command> …

Package, compose and run AI-agent work.

commands:
"""
_TAIL = """
`amplihack <command> --help` tells more. Exit codes: 0 done, 1 it ran and failed, 2 the input is wrong,
3 not found, 4 nothing to do it with, 130 interrupted, 70 our own bug.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Answer a command and return its exit code; without `argv`, for a process that is ours alone, end it."""
    if argv is not None:
        return guarded(lambda: dispatch(list(argv)), argv)
    return leave(guarded(lambda: dispatch(sys.argv[1:], alone=True), sys.argv[1:]))


def dispatch(words: list[str], *, alone: bool = False) -> int:
    """Run the command that the words begin with; `alone` means that the process does nothing else."""
    if not words or words[0] in ("-h", "--help", "help"):
        sys.stdout.write(help_page())
        return 0 if words else 2
    if words[0] in ("-V", "--version") or words == ["version"]:
        sys.stdout.write(f"amplihack {__version__}\n")
        return 0
    name, rest = words[0], words[1:]
    if name not in first_words():
        _refuse(name, rest)
    if name in GROUPS:
        verb = next(iter(rest), "-")
        if verb.startswith("-"):
            group_parser(name).parse_args(rest)
        if verb not in verbs(name):
            _refuse(verb, rest[1:], name)
        name, rest = f"{name} {verb}", rest[1:]
    if alone:
        from amplihack.cli.quick_start import quick_start  # deferred: `--version` needs none of it

        quick_start(brief=name != "recipe run")
    options = _handed_on(name, rest) if COMMANDS[name].hands_on else parser(name).parse_args(rest)
    _load("show:choose_colours")(options.color)
    if COMMANDS[name].heals:
        heal_first()
    code: int = _load(COMMANDS[name].answer)(options)
    return code


def _handed_on(name: str, words: list[str]) -> Any:
    """Return the words for another program, without a leading `--`; alone, `--help` asks us."""
    if words in (["-h"], ["--help"]):
        parser(name).parse_args(words)
    from argparse import Namespace  # deferred, as above

    return Namespace(words=words[1:] if words[:1] == ["--"] else words, color="auto")


def heal_first() -> None:
    """Stage the bundle of this version before anything else is done, if it is not staged yet."""
    from amplihack.system.healed import needs_a_look  # deferred: `--version` needs none of it

    if needs_a_look(os.environ, __version__):
        _load("healing:heal")()


def parser(name: str) -> Parser:
    """Return the parser for the arguments of a command."""
    from amplihack.cli.arguments import Parser  # deferred, as above

    command = COMMANDS[name]
    made = Parser(
        prog=f"amplihack {name}",
        usage=f"{command.arguments} [options]".strip(),
        description=f"{command.summary[0].upper()}{command.summary[1:]}.",
    )
    _load(command.flags)(made)
    return made


def group_parser(group: str) -> Parser:
    """Return the parser of a group's name alone. It knows the verbs, for the help page, and no flags."""
    from amplihack.cli.arguments import Parser

    summary = GROUPS[group]
    made = Parser(
        prog=f"amplihack {group}", usage="<verb> …", description=f"{summary[0].upper()}{summary[1:]}."
    )
    parsers = made.add_subparsers(metavar="<verb>", required=True)
    for verb, command in verbs(group).items():
        parsers.add_parser(verb, prog=made.prog, description=command.summary, help=command.summary)
    return made


def draw_examples(rows: Sequence[tuple[str, str]]) -> str:
    """Return examples, each what to type and what it does, as the part of a help page."""
    lines = [line for what, meaning in rows for line in (f"  # {meaning}", f"  {what}")]
    return "\n".join(["examples:", *lines])


def help_page() -> str:
    summaries = first_words()
    width = max(map(len, summaries))
    commands = "".join(f"  {name:<{width}}  {what}\n" for name, what in summaries.items())
    return f"{_HEAD}{commands}\n{draw_examples(FIRST_EXAMPLES)}\n{_TAIL}"


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


def _load(entry: str) -> Any:
    from importlib import import_module

    module, _, function = entry.partition(":")
    return getattr(import_module(f"amplihack.cli.{module}"), function)


def _refuse(word: str, rest: list[str], group: str = "") -> None:
    """Raise UsageError with the command that was probably meant."""
    from amplihack.cli.meant import meant_command
    from amplihack.errors import UsageError

    what = f"amplihack {group}: there is no '{word}'" if group else f"there is no command '{word}'"
    known = {each: tuple(verbs(each)) for each in GROUPS}
    raise UsageError(what, fix=meant_command(word, rest, group, tuple(first_words()), known))


if __name__ == "__main__":
    sys.exit(main())
