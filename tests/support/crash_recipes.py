"""The recipes that are killed: every kind of step that holds others, and what must not be done twice."""

from __future__ import annotations

SECRET = "hunter2-sesame"  # noqa: S105 - no real one

_MAIN = """\
name: main
stages:
  - name: build
    steps:
      - {id: a, parallel_group: g, command: 'echo a >> "$LOG"; echo A'}
      - {id: b, parallel_group: g, command: 'echo b >> "$LOG"; echo B'}
      - {id: call, recipe: ./child.yaml, context: {given: '{{a}}{{b}}'}}
      - {id: big, command: 'echo big >> "$LOG"; head -c 20000 /dev/zero | tr "\\0" x'}
    approval: {prompt: 'ship {{big}}?', when: after}
  - name: ship
    steps:
      - id: flaky
        retry: {max_attempts: 3, initial_delay: 0}
        command: 'echo flaky >> "$LOG"; [ "$(grep -c flaky "$LOG")" -gt 1 ] && echo {{_approval_message}}'
      - {id: end, command: 'echo end >> "$LOG"; echo "{{rounds}} {{flaky}} {{given}}"'}
"""
_CHILD = """\
name: child
steps:
  - {id: each, foreach: [x, y], as: it, command: 'echo each-{{it}} >> "$LOG"; echo {{it}}', collect: rounds}
  - {id: deeper, recipe: ./grandchild.yaml}
"""
_GRANDCHILD = """\
name: grandchild
context: {n: 0}
steps:
  - id: again
    while_condition: n < 2
    update_context: {n: '{{_loop_iteration}}'}
    steps: [{id: turn, command: 'echo turn-{{n}} >> "$LOG"; echo {{n}}'}]
"""
# One step must not run twice unasked, by itself or as a round of a loop.
_GUARDED = """\
name: guarded
steps:
  - {id: before, command: 'echo before >> "$LOG"'}
  - {id: pay, idempotent: false, command: 'echo pay >> "$LOG"; echo paid'}
  - {id: refund, idempotent: false, foreach: [x, y], as: it, command: 'echo refund-{{it}} >> "$LOG"'}
  - {id: after, command: 'echo after >> "$LOG"; echo {{pay}}'}
"""
# `made` is a secret, so it is made again in each life that needs it.
_SECRETIVE = """\
name: secret
secrets: [token, made]
steps:
  - {id: plain, command: 'echo plain >> "$LOG"; echo free'}
  - {id: made, command: 'echo made >> "$LOG"; echo "{{token}}-{{token}}"'}
  - {id: wide, command: 'echo wide >> "$LOG"; for i in $(seq 900); do echo "{{made}}"; done | wc -c'}
  - {id: last, command: 'echo last >> "$LOG"; echo "{{plain}} {{wide}}"'}
"""
# An agent whose tool waits for a person: what its model is asked is paid for, and noted.
_GATED = """\
name: gated
steps:
  - {id: before, command: 'echo before >> "$LOG"'}
  - {id: ask, prompt: 'go'}
  - {id: after, command: 'echo after >> "$LOG"; echo {{ask}}'}
"""
_AGENT = """\
bundle: {name: agent}
session: {orchestrator: loop-streaming, context: context-simple}
providers: [{module: provider-noting, source: ./provider-noting}]
tools: [{module: tool-bash}]
hooks: [{module: hooks-approval}]
"""
_NOTING = """\
import os

from amplihack.modules.providers.scripted import ScriptedProvider, ScriptedStep

__amplifier_module_type__ = "provider"
STEPS = [
    ScriptedStep(tools=({"name": "bash", "input": {"command": 'echo tool >> "$LOG"'}},)),
    ScriptedStep(text="done"),
]


class Noting(ScriptedProvider):
    async def complete(self, request, **options):
        answer = await super().complete(request, **options)
        with open(os.environ["LOG"], "a") as log:
            log.write(f"paid-{self._next}\\n")
        return answer


async def mount(coordinator, config=None):
    await coordinator.mount("providers", Noting(coordinator, STEPS, []), name="noting")
"""
_NOTING_PACKAGE = """\
[project]
name = "amplifier-module-provider-noting"
version = "1.0.0"

[project.entry-points."amplifier.modules"]
provider-noting = "amplifier_module_provider_noting:mount"
"""
RECIPES = {
    "gated.yaml": _GATED,
    "agent.yaml": _AGENT,
    "provider-noting/pyproject.toml": _NOTING_PACKAGE,
    "provider-noting/amplifier_module_provider_noting/__init__.py": _NOTING,
    "main.yaml": _MAIN,
    "child.yaml": _CHILD,
    "grandchild.yaml": _GRANDCHILD,
    "guarded.yaml": _GUARDED,
    "secret.yaml": _SECRETIVE,
}
# A changed step inside a loop of a sub-recipe, and a new one: `rounds`, `given` and `end` follow.
EDITED = {
    "child.yaml": _CHILD.replace("echo {{it}}'", "echo {{it}}{{it}}'"),
    "main.yaml": _MAIN.replace(
        "      - {id: end,", "      - {id: extra, command: 'echo extra >> \"$LOG\"'}\n      - {id: end,"
    ),
}
