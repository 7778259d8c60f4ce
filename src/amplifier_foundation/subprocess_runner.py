"""Run sessions in processes of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from amplihack.app.sessions import in_subprocess
from amplihack.app.sessions.in_subprocess import RESULT_END, RESULT_START, ChildConfig
from amplihack.app.sessions.in_subprocess import child_environment as _environment
from amplihack.app.sessions.in_subprocess import framed_result as _framed_result
from amplihack.app.sessions.in_subprocess import validated_project as _validate_project_path
from amplihack.app.sessions.in_subprocess import without_secrets as _sanitize_error
from amplihack.sessions.usage import usage_from
from amplihack.system.home import this_process
from amplihack.system.kernel.session import LiveSession

__all__ = [
    "RESULT_END",
    "RESULT_START",
    "_sanitize_error",
    "_validate_project_path",
    "configure_subprocess_limit",
    "deserialize_subprocess_config",
    "run_session_in_subprocess",
    "serialize_subprocess_config",
]

_DEFAULT_LIMIT = 4


class _Limit:
    """How many sessions run at once; it is chosen once for a process."""

    chosen: int | None = None


_slots_of: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def configure_subprocess_limit(limit: int) -> None:
    """Choose how many run at once. Raises RuntimeError if another number was chosen before."""
    if limit < 1:
        raise ValueError(f"the limit must be at least 1, got {limit}")
    if _Limit.chosen not in (None, limit):
        raise RuntimeError(f"the limit is already configured: {_Limit.chosen}")
    _Limit.chosen = limit


async def run_session_in_subprocess(
    config: dict[str, Any],
    prompt: str,
    parent_id: str,
    project_path: str | Path,
    session_id: str | None = None,
    timeout: float = 1800,  # noqa: ASYNC109 - a name that programs know
    module_paths: Mapping[str, str] | None = None,
    bundle_package_paths: list[str] | None = None,
    sys_paths: list[str] | None = None,
    mention_mappings: Mapping[str, str] | None = None,
    extra_variables: Iterable[str] = (),
    approval_system: Any = None,
    display_system: Any = None,
    parent_session: Any = None,
) -> str:
    """Run one turn of a session in another process and return what it said.

    `approval_system` and `display_system` of this process serve the child; tokens and cost of the child count
    for `parent_session`. Raises ValueError, TimeoutError, or RuntimeError for a child that failed. When
    cancelled, the child and all that it started are ended.
    """
    child = ChildConfig(
        config=config,
        prompt=prompt,
        parent_id=parent_id,
        project_path=str(project_path),
        session_id=session_id,
        module_paths={name: str(path) for name, path in (module_paths or {}).items()},
        bundle_package_paths=[str(each) for each in bundle_package_paths or ()],
        sys_paths=[str(each) for each in sys_paths or ()],
        mention_mappings={name: str(path) for name, path in (mention_mappings or {}).items()},
    )
    _validate_project_path(project_path)
    async with _slots():
        found = await in_subprocess.run_in_subprocess(
            child,
            this_process()[0],
            seconds=timeout,
            more_variables=extra_variables,
            approval_system=approval_system,
            display_system=display_system,
        )
    if isinstance(parent_session, LiveSession):
        used = usage_from(found.get("usage"))
        await parent_session.add_child_usage(str(found.get("session_id") or ""), "", used)
    return str(found.get("output") or "")


def serialize_subprocess_config(
    config: dict[str, Any], prompt: str, parent_id: str, project_path: str | Path, **more: Any
) -> str:
    """Return what a child process is told, as JSON."""
    child = ChildConfig(
        config=config, prompt=prompt, parent_id=parent_id, project_path=str(project_path), **more
    )
    return in_subprocess.serialised(child)


def deserialize_subprocess_config(text: str) -> dict[str, Any]:
    """Return what a child process was told. Raises ValueError that lists what is missing."""
    child = in_subprocess.deserialised(text)
    return {name: getattr(child, name) for name in ChildConfig.__annotations__}


def _build_child_env() -> dict[str, str]:
    return _environment(this_process()[0])


def _extract_framed_result(output: str) -> dict[str, Any] | None:
    return _framed_result(output)


def _slots() -> asyncio.Semaphore:
    loop = asyncio.get_running_loop()
    if loop not in _slots_of:
        _slots_of[loop] = asyncio.Semaphore(_Limit.chosen or _DEFAULT_LIMIT)
    return _slots_of[loop]
