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
from amplihack.system.files import real
from amplihack.system.home import this_process
from amplihack.system.processes import Command, Finished, run_process

__amplifier_module_type__ = "tool"

_ACTIONS = ("run", "list", "validate", "status", "resume", "approve", "deny")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST_OUTPUT = 200_000


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
        environment, _ = this_process()
        if not self._settings.pass_credentials:
            environment = command_environment(self._coordinator)
        finished = await run_process(
            Command(
                argv=(sys.executable, "-m", "amplihack", *arguments, "--json"),
                cwd=working_dir(self._coordinator),
                env=environment,
                timeout=self._settings.seconds,
            )
        )
        return _result(finished)

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
        return ["runs", decision, _operand(given, "run", "last"), *stage, *message]


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


def _result(finished: Finished) -> Any:
    text = finished.stdout.text(_MOST_OUTPUT)
    try:
        output: Any = json.loads(text)
    except ValueError:  # it broke off, or printed none
        output = {"stdout": text}
    if not isinstance(output, dict):
        output = {"result": output}
    output = {**output, "exit_code": finished.exit_code}
    if finished.ok:
        return ToolResult(success=True, output=output)
    output["stderr"] = finished.stderr.tail(2_000)
    message = "the time was up" if finished.timed_out else f"the command failed: {finished.status}"
    return ToolResult(success=False, output=output, error={"message": message})
