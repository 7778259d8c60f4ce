"""The base of our tools: input is checked, and what goes wrong is a result that the model can read."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from amplifier_core import ToolResult

from amplihack.documents.suggest import closest
from amplihack.errors import AmplihackError

Properties: TypeAlias = Mapping[str, Mapping[str, Any]]  # the JSON Schema of each argument

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


class ToolFailed(AmplihackError):
    """Raised inside a tool that cannot do what it was asked for."""


class ShippedTool(ABC):
    """A tool of ours."""

    name: ClassVar[str]
    properties: ClassVar[Properties]
    required: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def description(self) -> str: ...

    @abstractmethod
    async def run(self, given: Mapping[str, Any]) -> Any:
        """Return the output, or a ToolResult. Raises an AmplihackError or OSError for what cannot be done."""

    @property
    def input_schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {name: dict(shape) for name, shape in self.properties.items()},
            "required": list(self.required),
            "additionalProperties": False,
        }

    async def execute(self, arguments: Mapping[str, Any] | None) -> Any:
        """Run the tool. A failure that has a reason is a failed result, never an exception."""
        given = {key: value for key, value in dict(arguments or {}).items() if value is not None}
        try:
            if problems := list(_problems(self, given)):
                raise ToolFailed("; ".join(problems), fix="correct the arguments")
            output = await self.run(given)
        except AmplihackError as error:
            return refused(f"{error.what}; {error.fix}" if error.fix else error.what)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            return refused(f"{where}{error.strerror or error}")
        return output if isinstance(output, ToolResult) else ToolResult(success=True, output=output)


def refused(message: str) -> Any:
    return ToolResult(success=False, output=message, error={"message": message})


def working_dir(coordinator: Any) -> Path:
    """Return where the session works, now: it may change in the middle of one."""
    found = coordinator.get_capability("session.working_dir")
    return Path(found) if isinstance(found, str | os.PathLike) else Path.cwd()


def _problems(tool: ShippedTool, given: Mapping[str, Any]) -> Any:
    for name in tool.required:
        if name not in given:
            yield f"{name!r} is missing"
    for name, value in given.items():
        shape = tool.properties.get(name)
        if shape is None:
            meant = closest(name, tool.properties)
            yield f"there is no {name!r}" + (f" (did you mean {meant!r}?)" if meant else "")
        elif not _is(value, shape.get("type")):
            yield f"{name!r} must be of the type {shape['type']}"
        elif "enum" in shape and value not in shape["enum"]:
            yield f"{name!r} must be one of {', '.join(map(str, shape['enum']))}"
        elif isinstance(value, int | float) and value < shape.get("minimum", value):
            yield f"{name!r} must be at least {shape['minimum']}"


def _is(value: object, wanted: str | None) -> bool:
    if wanted is None:
        return True
    if isinstance(value, bool) and wanted != "boolean":
        return False
    return isinstance(value, _TYPES[wanted])
