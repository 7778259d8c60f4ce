"""Make the environment of a run's processes, as pure functions of our own."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from amplihack.errors import InputError
from amplihack.recipes.agent_port import AgentFailed
from amplihack.recipes.values import one_line
from amplihack.records import Record
from amplihack.system import process_marks

DEPTH, MAX_DEPTH, MAX_SESSIONS = "AMPLIHACK_SESSION_DEPTH", "AMPLIHACK_MAX_DEPTH", "AMPLIHACK_MAX_SESSIONS"
_LONGEST = 9  # digits of a number that is no mistake
WITHHELD = "AMPLIHACK_WITHHELD"  # names of variables that agents get and commands do not
_HIDDEN = ("CLAUDECODE",)  # a tool that sees it believes to be part of the session around us
# Processes need these, even if our own environment lacks them.
_DEFAULTS = {
    "HOME": "/root",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    MAX_DEPTH: "6",
    MAX_SESSIONS: "10",
    "AMPLIFIER_PYTHON": sys.executable,  # recipes of the other dialect start Python by it
}


class RunIdentity(Record, kw_only=True):
    """The ids by which processes know a run; `tree_id` is shared with runs that its agents start."""

    run_id: str
    tree_id: str


def child_environment(parent: Mapping[str, str], *, agent: str | None, run: RunIdentity) -> dict[str, str]:
    """Return the environment of bash, hooks and agents; `agent` lets a nested run find the same agent."""
    child = _one_deeper(parent, run.tree_id)
    child[process_marks.VARIABLE] = process_marks.with_mark(parent, f"{run.run_id}.{run.tree_id}")
    child["AMPLIHACK_RECIPE_RUN_ID"] = child.get("AMPLIHACK_RECIPE_RUN_ID") or run.run_id
    if agent is not None:
        child["AMPLIHACK_AGENT_BINARY"] = agent
    return child


def for_commands(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what commands and inputs of recipes may see: all but what is for the agents of a run alone."""
    withheld = {WITHHELD, *environment.get(WITHHELD, "").split(",")}
    return {name: value for name, value in environment.items() if name not in withheld}


def host_environment(
    parent: Mapping[str, str], *, agent: str, tree_id: str, more: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of an agent tool that a person uses: recipes that it runs find it again."""
    return {**_one_deeper(parent, tree_id), **more, "AMPLIHACK_AGENT_BINARY": agent}


def _one_deeper(parent: Mapping[str, str], tree_id: str) -> dict[str, str]:
    """Return what every child gets: the limits, the tree that it belongs to, and how deep it is in it."""
    child = {name: value for name, value in parent.items() if name not in _HIDDEN}
    for name, value in _DEFAULTS.items():
        child[name] = child.get(name) or value
    child["AMPLIHACK_TREE_ID"] = child.get("AMPLIHACK_TREE_ID") or tree_id
    child[DEPTH] = str(_number(parent, DEPTH, 0) + 1)
    _number(child, MAX_DEPTH, 0)  # refused before the first step, not by the first agent
    return child


def check_depth(child: Mapping[str, str]) -> None:
    """Raise AgentFailed for an agent nested too deeply: agents that start agents would never end."""
    depth, limit = _number(child, DEPTH, 0), _number(child, MAX_DEPTH, 6)
    if depth > limit:
        what = f"agents are nested too deeply: this one would be at depth {depth}, and {limit} is the most"
        raise AgentFailed(what, fix=f"find the step that starts itself again, or set {MAX_DEPTH} higher")


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name) or str(default)
    if not text.isascii() or not text.isdigit() or len(text) > _LONGEST:
        what = f'{name} must be a whole number of at most {_LONGEST} digits, not "{one_line(text, 40)}"'
        raise InputError(what, fix=f"unset {name}, or correct it")
    return int(text)
