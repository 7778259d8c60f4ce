"""Writes the pages of this folder that are made from the code: `make docs`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from amplihack.cli import main, runner
from amplihack.recipes.check import CODES
from amplihack.recipes.reference_page import reference_page

DOCS = Path(__file__).parent

CLI_HEAD = """\
# Commands

Every help page. This page is made from the commands themselves (`make docs` writes it).

Results go to stdout, everything else to stderr. `--json` prints one JSON document and nothing else on stdout.
Colours are used only on a terminal, and not when `NO_COLOR` is set.
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
    "empty-condition": "A condition without text; the step always runs.",
    "foreign-word": "A word that steers what runs in other tools, such as `if`; the fix names ours.",
    "no-command": "A bash step without a command.",
    "no-effect": "A field that does nothing: on this kind of step, without a loop, or ever.",
    "no-id": "A step without an id.",
    "no-name": "A recipe or a stage without a name.",
    "no-prompt": "An agent step that asks nothing.",
    "no-recipe": "A recipe step that names no recipe.",
    "no-steps": "A recipe or a stage without steps.",
    "parallel-loop": "A field that decides between rounds, in a loop whose rounds run at the same time.",
    "steps-and-stages": "A recipe with `steps` and `stages`; it may have one of them.",
    "two-loops": "A step with `foreach` and `while_condition`; it may have one of them.",
    "unknown-field": "A field that nothing reads: probably a typo. Yours may begin with `x-`.",
    "unknown-type": "A type of an input that nobody knows, so that it is not checked.",
    "version-form": "A version that readers of other tools may not understand.",
    "wrong-type": "A field that holds the wrong kind of value.",
}


def pages() -> dict[str, str]:
    """Every generated page, by its file name."""
    return {
        "cli.md": _cli(),
        "findings.md": _findings(),
        "recipe-reference.md": reference_page().rstrip("\n") + "\n",
    }


def _cli() -> str:
    sections = [_section("amplihack", main.help_page())]
    groups = set[str]()
    for name in main.COMMANDS:
        group = name.partition(" ")[0]
        if group in main.GROUPS and group not in groups:
            groups.add(group)
            sections.append(_section(f"amplihack {group}", main.group_parser(group).format_help()))
        sections.append(_section(f"amplihack {name}", main.parser(name).format_help()))
    sections.append(_section("recipe-runner", runner.parser().format_help()))
    return "\n".join([CLI_HEAD, *sections])


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n{text.rstrip()}\n```\n"


def _findings() -> str:
    return f"{FINDINGS_HEAD}{_table(CODES)}{FILE_HEAD}{_table(FILE_CODES)}"


def _table(codes: Mapping[str, str]) -> str:
    rows = "".join(f"| `{code}` | {meaning} |\n" for code, meaning in sorted(codes.items()))
    return f"| code | meaning |\n| --- | --- |\n{rows}"


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
