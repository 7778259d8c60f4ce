"""Write the conversation down while it happens, whichever context module holds it."""

from __future__ import annotations

from typing import Any

from amplihack.system.session_store.log import SessionLog


class RecordedContext:
    """Stands where the kernel looks for the context; everything else is the module's own."""

    def __init__(self, context: Any, log: SessionLog) -> None:
        self._context, self._log = context, log

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    async def add_message(self, message: Any) -> Any:
        added = await self._context.add_message(message)
        await self._log.append(_plain(message))
        return added

    async def set_messages(self, messages: Any) -> Any:
        done = await self._context.set_messages(messages)
        await self._log.replace([_plain(each) for each in messages])
        return done

    async def clear(self) -> Any:
        done = await self._context.clear()
        await self._log.replace([])
        return done


def _plain(message: Any) -> dict[str, Any]:
    if isinstance(message, dict):
        return message
    dump = getattr(message, "model_dump", None)
    return dump(mode="json", exclude_none=True) if callable(dump) else dict(message)
