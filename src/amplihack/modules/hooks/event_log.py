"""Write every event of a session to a file, one JSON object a line: `hooks-logging`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amplifier_core import HookResult
from amplifier_core.events import ALL_EVENTS

from amplihack.modules.notices import tell
from amplihack.modules.redaction import TextRedactor
from amplihack.modules.settings import ModuleSettings
from amplihack.system.home import Home, this_process

__amplifier_module_type__ = "hook"

_NAME = "hooks-logging"
_LOG = "event_log"
_FACTS = ("session_id", "request_id", "status", "error", "duration_ms")
_NOT_DATA = {"session_id", "timestamp"}
_MORE = (
    "session:config",
    "llm:stream_aborted",
    "orchestrator:steering_injected",
)


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Any:
    """Open the log. Which events there are is known when all modules are mounted: `on_session_ready`."""
    settings = ModuleSettings(coordinator, _NAME, config)
    log = EventLog(
        coordinator,
        template=settings.text("session_log_template") or settings.text("path"),
        longest=settings.count("max_field_characters", 20_000, least=100),
        largest=settings.count("max_bytes", 50_000_000, least=1_000),
        deltas=settings.flag("log_deltas", default=False),
    )
    more = settings.texts("additional_events")
    settings.done()
    log.listen((*ALL_EVENTS, *_MORE, *more))
    coordinator.session_state[_LOG] = log
    return log.close


async def on_session_ready(coordinator: Any) -> None:
    """Listen to the events that other modules have declared."""
    log = coordinator.session_state.get(_LOG)
    if isinstance(log, EventLog):
        for names in await coordinator.collect_contributions("observability.events"):
            log.listen([names] if isinstance(names, str) else names)


class EventLog:
    """The log of one session. Secrets are hidden here, so that no other module has to come first."""

    def __init__(self, coordinator: Any, *, template: str, longest: int, largest: int, deltas: bool) -> None:
        self._coordinator, self._template = coordinator, template
        self._longest, self._largest, self._deltas = longest, largest, deltas
        self._heard: dict[str, Any] = {}
        self._redactor = TextRedactor()
        self._file: int | None = None
        self._broken = False

    def listen(self, events: Iterable[str]) -> None:
        for event in events:
            if event not in self._heard and (self._deltas or not event.endswith("_delta")):
                name = f"{_NAME}-{event}"
                self._heard[event] = self._coordinator.hooks.register(
                    event, self.on_event, priority=900, name=name
                )

    async def on_event(self, event: str, data: Mapping[str, Any]) -> Any:
        """Write one event. A log that cannot be written is told once, and ends nothing."""
        if not self._broken:
            try:
                self._write(self._line(event, data))
            except OSError as error:
                self._broken = True
                tell(self._coordinator, _NAME, f"events are no longer logged: {error}")
        return HookResult()

    def close(self) -> None:
        for end in self._heard.values():
            end()
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def path(self) -> Path:
        """Return where the log is: as the settings say, or in `sessions/` of the home directory."""
        session = self._coordinator.session_id or "session"
        if self._template:
            return Path(self._template.replace("{session_id}", session)).expanduser()
        return Home.from_environment(*this_process()).root / "sessions" / session / "events.jsonl"

    def _line(self, event: str, data: Mapping[str, Any]) -> bytes:
        hidden = self._hidden(dict(data))
        level = "ERROR" if event.endswith((":error", "_failed", "_aborted")) else "INFO"
        record = {
            "ts": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "lvl": level,
            "schema": {"name": "amplifier.log", "ver": "1.0.0"},
            "event": event,
            **{name: hidden[name] for name in _FACTS if hidden.get(name) is not None},
            "data": {name: value for name, value in hidden.items() if name not in _NOT_DATA},
        }
        return json.dumps(record, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n"

    def _hidden(self, data: dict[str, Any]) -> Any:
        redact = self._coordinator.get_capability("redaction.redact")
        shortened = _shortened(data, self._longest)
        return redact(shortened) if callable(redact) else self._redactor.redact(shortened)

    def _write(self, line: bytes) -> None:
        if self._file is None:
            self._open()
        if self._file is not None and os.fstat(self._file).st_size + len(line) > self._largest:
            self._rotate()
        if self._file is not None:
            os.write(self._file, line)

    def _open(self) -> None:
        path = self.path()
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o600)

    def _rotate(self) -> None:
        """Keep one older file beside the log."""
        path = self.path()
        if self._file is not None:
            os.close(self._file)
            self._file = None
        path.replace(path.with_name(f"{path.name}.1"))
        self._open()


def _shortened(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else f"{value[:longest]}… ({len(value)} characters)"
    if isinstance(value, Mapping):
        return {key: _shortened(each, longest) for key, each in value.items()}
    if isinstance(value, list):
        return [_shortened(each, longest) for each in value]
    return value
