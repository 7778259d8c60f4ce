"""Import the packages of modules beside the event loop, and let none of them end the program."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import sys
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TypeVar

from amplihack.errors import AmplihackError
from amplihack.system.files import real

_Result = TypeVar("_Result")


class UnmountableError(AmplihackError):
    """What is wrong with a module itself."""


async def import_aside(name: str, root: Path | None = None) -> None:
    """Import a package in a thread, so that the event loop stays free; some take seconds.

    Raises UnmountableError for one that would end the program. Whatever else is wrong with it is said when
    it is imported again, by whoever needs it.
    """
    if name in sys.modules:
        return
    loop = asyncio.get_running_loop()
    done: asyncio.Future[BaseException | None] = loop.create_future()

    def imported() -> None:
        raised: BaseException | None = None
        try:
            with suppress(Exception):
                if root is None or _is_found_in(root, name):
                    importlib.import_module(name)
        except BaseException as error:  # noqa: BLE001 - raised below, where somebody waits for it
            raised = error
        with suppress(RuntimeError):  # the loop may have ended without us
            loop.call_soon_threadsafe(_settle, done, raised)

    # No thread of the loop's own: the program would wait at its end for an import that never ends.
    Thread(target=imported, name=f"import {name}", daemon=True).start()
    error = await done
    if error is not None:
        raise _ending(error) from error


def _settle(done: asyncio.Future[_Result], result: _Result) -> None:
    if not done.done():  # whoever waited may have gone
        done.set_result(result)


def _is_found_in(root: Path, name: str) -> bool:
    """Look for a package in its own directory first: another bundle may have one of the same name."""
    path = str(root)
    if path in sys.path and sys.path[0] != path:
        sys.path.remove(path)
        sys.path.insert(0, path)
    found = importlib.util.find_spec(name.partition(".")[0])
    return (
        found is not None and found.origin is not None and real(Path(found.origin)).is_relative_to(real(root))
    )


async def staying(work: Awaitable[_Result]) -> _Result:
    """Do work of a module. Raises UnmountableError where it would end the program, or its own task."""
    try:
        return await work
    except (Exception, GeneratorExit):
        raise
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise  # somebody else wants it
        raise _ending(error) from error


def _ending(error: BaseException) -> UnmountableError:
    what = f"it raised {type(error).__name__}({error}), which ends programs and not modules"
    return UnmountableError(what, fix="let its import and its mount() raise other errors")
