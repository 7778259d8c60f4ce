"""Close sessions within a time: no cleanup of a module keeps a program from ending."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any

from amplihack.system.kernel.importing import staying

# Seconds for the cleanup of one module, which may have to end processes, and for all that a session holds.
_FOR_ONE, _FOR_ALL = 15.0, 60.0
_A_MOMENT = 1.0


def within_time(
    cleanup: Callable[[], Any], module_id: str, tell: Callable[[str], None]
) -> Callable[[], Awaitable[None]]:
    """Return a cleanup that ends in time, and tells of a module whose own does not."""

    async def cleaned() -> None:
        found = cleanup()
        if isawaitable(found) and not await _has_ended(staying(found), _FOR_ONE):
            tell(f"{module_id} has not cleaned up after {_FOR_ONE:g} seconds; it is left as it is")

    return cleaned


async def close_kernel(session: Any, tell: Callable[[str], None]) -> None:
    """Let the kernel close its session, and tell if a cleanup does not end. Raises what the kernel raises."""
    if not await _has_ended(session.cleanup(), _FOR_ALL):
        tell(f"a module has not cleaned up after {_FOR_ALL:g} seconds; it is left as it is")


async def _has_ended(work: Awaitable[Any], seconds: float) -> bool:
    """Tell whether work ended in time; if not, nobody waits for it any longer. Raises what it raised."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_A_MOMENT)
    if not task.done() or task.cancelled():
        return False
    task.result()
    return True
