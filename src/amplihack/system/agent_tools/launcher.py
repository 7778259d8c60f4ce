"""Run a tool through a launcher: `$AMPLIHACK_LAUNCHER_BINARY <tool> -- …`."""

from __future__ import annotations

from pathlib import Path

from amplihack.recipes.agent_port import AgentRequest
from amplihack.recipes.values import truncate
from amplihack.records import Record
from amplihack.system.agent_tools.prompts import fits_inline, system_text, task_text, whole_text
from amplihack.system.agent_tools.table import Start
from amplihack.system.agent_tools.tool import Invocation, model_flag, private_file

_PREVIEW = 8_192
_CONTINUED = "\n\n[The rest of this task is in {file}. Read that file first.]"


class Launcher(Record):
    start: Start
    name: str
    takes_system_prompt: bool

    def call(self, request: AgentRequest, scratch: Path) -> Invocation:
        transport = self._small(request) or self._large(request, scratch)
        tail = ("--add-dir", str(Path(request.working_dir)), *model_flag(request), *self.start.extra)
        return Invocation((self.start.program, self.name, "--", *self.start.allow, *transport, *tail))

    def report(self) -> None:
        return None

    def _small(self, request: AgentRequest) -> tuple[str, ...]:
        if request.private:
            return ()
        if not self.takes_system_prompt:
            prompt = whole_text(request)
            return ("-p", prompt) if fits_inline(prompt) else ()
        task, system = task_text(request), system_text(request)
        return ("-p", task, "--system-prompt", system) if fits_inline(task, system) else ()

    def _large(self, request: AgentRequest, scratch: Path) -> tuple[str, ...]:
        """Send the beginning inline, and the system prompt with the rest in a private file."""
        task, path = task_text(request), scratch / "agent-system-prompt.md"
        preview = "" if request.private else truncate(task, _PREVIEW)
        rest = task[len(preview) :]
        continued = f"\n\n# Continued task instructions\n\n{rest}" if rest else ""
        file = str(private_file(path, system_text(request) + continued))
        inline = preview + _CONTINUED.format(file=file) if rest else preview
        # A prompt that begins with a dash would be taken for a flag.
        inline = "\n" + inline if inline.startswith("-") else inline
        if self.takes_system_prompt:
            return ("--append-system-prompt-file", file, "-p", inline)
        return ("--add-dir", str(scratch), "-p", inline)
