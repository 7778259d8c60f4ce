"""Run any program as an agent: `command:<template>`.

The template is split like a shell command. Then, in each argument, `{prompt}` becomes the prompt,
`{prompt_file}` the path of a private file with the prompt, and `{model}` the step's model. The prompt always
stays one argument. A template with neither prompt gets it on standard input. The answer is what the program
prints.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from amplihack.errors import NothingToUse, UsageError
from amplihack.recipes.agent_port import AgentFailed, AgentRequest
from amplihack.records import Record
from amplihack.system.agent_tools.prompts import whole_text
from amplihack.system.agent_tools.spec import AgentSearch
from amplihack.system.agent_tools.tool import Invocation, private_file

_LONGEST_ARGUMENT = 131_000  # bytes: what Linux lets a single argument have, less a little


class CommandTemplate(Record):
    program: str
    arguments: tuple[str, ...]

    @property
    def name(self) -> str:
        return Path(self.program).name

    def call(self, request: AgentRequest, scratch: Path) -> Invocation:
        prompt, template = whole_text(request), "\0".join(self.arguments)
        values = {"{model}": request.model or ""}
        if "{prompt}" in template:
            values["{prompt}"] = self._argument(prompt)
        if "{prompt_file}" in template:
            values["{prompt_file}"] = str(private_file(scratch / "prompt.md", prompt))
        argv = (self.program, *(_fill(argument, values) for argument in self.arguments))
        return Invocation(argv, stdin=prompt if len(values) == 1 else None)

    def report(self) -> None:
        return None

    def _argument(self, prompt: str) -> str:
        size = len(prompt.encode("utf-8", "replace"))
        if size > _LONGEST_ARGUMENT:
            raise AgentFailed(
                f"the prompt has {size} bytes, too many for an argument of {self.name}",
                fix="leave {prompt} out, so that it goes by standard input, or use {prompt_file}",
            )
        return prompt


def read_template(text: str, search: AgentSearch) -> CommandTemplate:
    """Split a template into a program and its arguments. Raises UsageError or NothingToUse."""
    try:
        program, *arguments = shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"the agent's command cannot be read: {error}", fix=f"check its quotes: {text}"
        ) from error
    found = search.find(program)
    if found is None:
        raise NothingToUse(
            f'the agent\'s command "{program}" is not installed', fix="check its name and the PATH"
        )
    return CommandTemplate(found, tuple(arguments))


def _fill(argument: str, values: dict[str, str]) -> str:
    """Fill each placeholder once, from left to right. Text inside a value is never filled."""
    found = sorted((argument.find(name), name) for name in values if name in argument)
    if not found:
        return argument
    start, name = found[0]
    return argument[:start] + values[name] + _fill(argument[start + len(name) :], values)
