"""Let an agent drive recipes: `tool-recipes`. Each action is a command of ours, in a process of its own."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

from amplifier_core import ToolResult

from amplihack.modules.settings import ModuleSettings
from amplihack.modules.tools.environment import command_environment
from amplihack.modules.tools.tool import Properties, ShippedTool, ToolFailed, working_dir
from amplihack.records import Record
from amplihack.sessions.compaction import shortened
from amplihack.system.agent_tools.environment import WITHHELD
from amplihack.system.files import real
from amplihack.system.newest import is_newest
from amplihack.system.processes import Command, Finished, run_process

__amplifier_module_type__ = "tool"

_ACTIONS = ("run", "list", "validate", "status", "resume", "approve", "deny")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST_OUTPUT = 20_000_000  # bytes of a result that are read
_MOST_SHOWN = 200_000  # characters of it that the model is shown
_LISTED = ("name", "path", "description", "step_count", "tags")


class RecipeSettings(Record, kw_only=True):
    seconds: float | None
    agent: str
    may_approve: bool
    pass_credentials: bool


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    settings = ModuleSettings(coordinator, "tool-recipes", config)
    chosen = RecipeSettings(
        seconds=settings.seconds("timeout", None),
        agent=settings.text("agent"),
        may_approve=settings.flag("allow_approve", default=False),
        pass_credentials=settings.flag("pass_credentials", default=False),
    )
    settings.done()
    tool = RecipesTool(coordinator, chosen)
    await coordinator.mount("tools", tool, name=tool.name)


class RecipesTool(ShippedTool):
    name = "recipes"
    properties: ClassVar[Properties] = {
        "action": {"type": "string", "enum": list(_ACTIONS)},
        "recipe": {"type": "string", "description": "for run and validate: a file, or the name of a recipe"},
        "context": {"type": "object", "description": "for run: values of the recipe's variables"},
        "run": {
            "type": "string",
            "description": "for status, resume, approve, deny: the id of a run, or last",
        },
        "stage": {"type": "string", "description": "for approve and deny: the gate, where there are several"},
        "message": {"type": "string", "description": "for approve and deny: what to tell later steps"},
    }
    required = ("action",)

    def __init__(self, coordinator: Any, settings: RecipeSettings) -> None:
        self._coordinator, self._settings = coordinator, settings

    @property
    def description(self) -> str:
        gates = "" if self._settings.may_approve else " A gate is for a person: approve and deny are off."
        return (
            "Work with recipes, which are workflows that code enforces: list them, validate one, run one, "
            f"see the status of a run, resume it, or decide at a gate that it waits at.{gates}"
        )

    async def run(self, given: Mapping[str, Any]) -> Any:
        arguments = self._arguments(given)
        environment = self._environment()
        finished = await run_process(
            Command(
                argv=(sys.executable, "-m", "amplihack", *arguments, "--json"),
                cwd=working_dir(self._coordinator),
                env=environment,
                timeout=self._settings.seconds,
            )
        )
        return _result(finished, given["action"])

    def _environment(self) -> dict[str, str]:
        """Return the variables of a run. Keys of models are for its agents; its commands see none of them."""
        whole = command_environment(self._coordinator, shown=("*",))
        if self._settings.pass_credentials:
            return whole
        keys = whole.keys() - command_environment(self._coordinator).keys()
        return {**whole, WITHHELD: ",".join(sorted(keys))}

    def _arguments(self, given: Mapping[str, Any]) -> list[str]:
        match given["action"]:
            case "list":
                return ["recipe", "list"]
            case "validate":
                return ["recipe", "validate", self._recipe(given)]
            case "run":
                agent = ["--agent", self._settings.agent] if self._settings.agent else []
                return ["recipe", "run", self._recipe(given), *agent, *_variables(given)]
            case "status":
                return ["runs", "show", _operand(given, "run", "last")]
            case "resume":
                return ["runs", "resume", _operand(given, "run", "last")]
            case decision:
                return self._decision(decision, given)

    def _recipe(self, given: Mapping[str, Any]) -> str:
        """Return the recipe: a name, or a file of this directory. Reading others is for those who may."""
        value = _operand(given, "recipe")
        here = real(working_dir(self._coordinator))
        if value.startswith("~") or not real(here / value).is_relative_to(here):  # commands expand a `~`
            raise ToolFailed(f"{value} is outside {here}", fix="use a recipe of this directory, or a name")
        return value

    def _decision(self, decision: str, given: Mapping[str, Any]) -> list[str]:
        if not self._settings.may_approve:
            raise ToolFailed(
                f"an agent may not {decision} a gate here",
                fix=f"ask the user to run: amplihack runs {decision} {given.get('run', 'last')}",
            )
        stage = [f"--stage={given['stage']}"] if given.get("stage") else []
        message = [f"--message={given['message']}"] if given.get("message") else []
        run = _operand(given, "run")
        if is_newest(run):  # by the time that a person has agreed, another one may be
            raise ToolFailed(f"{decision} needs the id of the run, not {run!r}", fix="status tells the id")
        return ["runs", decision, run, *stage, *message]


def _operand(given: Mapping[str, Any], name: str, default: str = "") -> str:
    """Return what a command is about. A value of the model's never becomes an option."""
    value: str = given.get(name, default)
    if not value or value.startswith("-"):
        raise ToolFailed(f"{given['action']} needs {name!r}, not {value!r}", fix=f"give {name}")
    return value


def _variables(given: Mapping[str, Any]) -> list[str]:
    flags: list[str] = []
    for name, value in given.get("context", {}).items():
        if not _NAME.fullmatch(name):
            raise ToolFailed(f"{name!r} is no name of a variable", fix="use letters, digits and _")
        flags += ["--set-json", f"{name}={json.dumps(value)}"]
    return flags


def _result(finished: Finished, action: str) -> Any:
    text = finished.stdout.text(_MOST_OUTPUT)
    try:
        output = _brief(_chosen(json.loads(text), action))
    except ValueError:  # it broke off, or printed none
        output = {"stdout": shortened(text, _MOST_SHOWN)}
    output = {**output, "exit_code": finished.exit_code}
    if finished.ok:
        return ToolResult(success=True, output=output)
    output["stderr"] = finished.stderr.tail(2_000)
    return ToolResult(success=False, output=output, error={"message": _why(finished, output)})


def _chosen(found: Any, action: str) -> dict[str, Any]:
    """Return what the model needs of a document: of recipes, those that a name leads to."""
    if isinstance(found, list) and action == "list":
        used = [each for each in found if isinstance(each, dict) and not each.get("shadowed_by")]
        found = [{name: each[name] for name in _LISTED if each.get(name)} for each in used]
    return found if isinstance(found, dict) else {"result": found}


def _brief(output: dict[str, Any]) -> dict[str, Any]:
    """Return a result that a model can be shown: whole, or with long texts in it cut, which they say."""
    for most in (None, 20_000, 2_000, 200):
        brief: dict[str, Any] = output if most is None else _cut(output, most)
        if len(json.dumps(brief, ensure_ascii=False)) <= _MOST_SHOWN:
            return brief
    return {"stdout": shortened(json.dumps(output, ensure_ascii=False), _MOST_SHOWN)}


def _cut(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return shortened(value, most)
    if isinstance(value, dict):
        return {name: _cut(each, most) for name, each in value.items()}
    return [_cut(each, most) for each in value] if isinstance(value, list) else value


def _why(finished: Finished, output: Mapping[str, Any]) -> str:
    """Return why a command did not succeed: its own words, where it has some."""
    if finished.timed_out:
        return "the time was up"
    steps = output.get("step_results")
    failed = [each["error"] for each in steps if each.get("error")] if isinstance(steps, list) else []
    said = output.get("error") or (failed[0] if failed else "")
    what = said.get("what") if isinstance(said, dict) else said
    return str(what) if what else f"the command failed: {finished.status}"
