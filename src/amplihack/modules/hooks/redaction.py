"""Keep secrets out of what is shown and logged, and of what a model reads if asked to: `hooks-redaction`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core import HookResult

from amplihack.modules.redaction import TextRedactor
from amplihack.modules.settings import ModuleSettings
from amplihack.modules.tools.environment import credential_names
from amplihack.recipes.secret_guesses import SHORTEST_GUESS
from amplihack.recipes.secrets import Redactor
from amplihack.system.home import this_process

__amplifier_module_type__ = "hook"

_NAME = "hooks-redaction"
_EVENTS = (
    "tool:pre",
    "tool:post",
    "tool:error",
    "prompt:submit",
    "prompt:complete",
    "execution:start",
    "execution:end",
    "content_block:end",
    "llm:stream_block_delta",
    "user:notification",
    "provider:error",
    "provider:retry",
)
# What a change of these would change for the model, and not only for those who listen.
_FOR_THE_MODEL = ("tool:pre", "tool:post", "prompt:submit")
# Where the loop looks for what this hook changed: the kernel drops it as soon as another hook says a word.
_KEPT = {"tool:pre": ("tool_inputs", "tool_input"), "tool:post": ("tool_results", "result")}


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Offer the redactor to every module that writes or shows, and redact events for those after it."""
    settings = ModuleSettings(coordinator, _NAME, config)
    environment, _ = this_process()
    known = Redactor(environment=environment)
    redactor = TextRedactor(
        patterns=settings.texts("patterns"),
        allowed=settings.texts("allowlist"),
        wrong=settings.wrong,
        known=known.redact_text,
    )
    for_model = settings.flag("redact_model_input", default=False)
    settings.done()
    hook = RedactionHook(coordinator, redactor, known, for_model=for_model)
    coordinator.register_capability("redaction.redact", hook.redact)
    for event in _EVENTS:
        if event not in _FOR_THE_MODEL or for_model:
            coordinator.hooks.register(event, hook.on_event, priority=10, name=f"{_NAME}-{event}")


class RedactionHook:
    def __init__(self, coordinator: Any, redactor: TextRedactor, known: Redactor, *, for_model: bool) -> None:
        self._coordinator, self._redactor, self._known = coordinator, redactor, known
        self._for_model = for_model
        self._learned: set[str] = set()

    def redact(self, value: Any) -> Any:
        """Return a value with `***` for every secret: known keys literally, others by their form."""
        new = credential_names(self._coordinator) - self._learned
        if new:  # providers are mounted after this hook, too
            self._learned |= new
            environment, _ = this_process()
            for name in new & environment.keys():
                if len(environment[name]) >= SHORTEST_GUESS:  # less is a placeholder, such as `x` or `none`
                    self._known.learn(name, environment[name])
        return self._redactor.redact(value)

    async def on_event(self, event: str, data: Mapping[str, Any]) -> Any:
        given = dict(data)
        changed = self.redact(given)
        if changed == given:
            return HookResult()
        if event in _KEPT and self._for_model:
            place, key = _KEPT[event]
            self._coordinator.session_state.setdefault(place, {})[given.get("tool_call_id")] = changed.get(
                key
            )
        return HookResult(action="modify", data=changed)
