"""Run a session in a process of its own, with a reduced environment, and hand back what it said."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from amplihack.app.sessions.lent_host import lent_host
from amplihack.patterns import pattern
from amplihack.records import Record, field, replace
from amplihack.system.modules.environments import entered
from amplihack.system.processes import Command, Finished, run_process
from amplihack.system.replace import write_atomic

RESULT_START, RESULT_END = "<<<AMPLIFIER_RESULT_START>>>", "<<<AMPLIFIER_RESULT_END>>>"
_REQUIRED = ("config", "prompt", "parent_id", "project_path")
_GRACE = 10.0  # seconds for a child to end once it was asked to
_NAMES = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "SHELL", "TZ", "TMPDIR", "TMP",
    "TEMP",
    "PYTHONPATH", "VIRTUAL_ENV", "CONDA_DEFAULT_ENV", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
    "XDG_STATE_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "HTTP_PROXY",
    "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
})  # fmt: skip
_PREFIXES = (
    "AMPLIFIER_", "AMPLIHACK_", "ANTHROPIC_", "OPENAI_", "AZURE_", "GOOGLE_", "AWS_", "GITHUB_", "GH_",
)  # fmt: skip
_SECRET = pattern(r"sk-[A-Za-z0-9_-]{8,}|(?i:(?:key|token|secret|password)\s*=\s*\S+|bearer\s+\S+)")


class ChildConfig(Record, kw_only=True):
    """What a child process is told: plain data, so that it can be written to a file."""

    config: dict[str, Any] = field(repr=False)
    prompt: str
    parent_id: str
    project_path: str
    session_id: str | None = None
    module_paths: dict[str, str] = field(default_factory=dict)
    bundle_package_paths: list[str] = field(default_factory=list)
    sys_paths: list[str] = field(default_factory=list)
    site_dirs: list[str] = field(default_factory=list)  # with packages that modules need
    mention_mappings: dict[str, str] = field(default_factory=dict)
    approvals_at: str = ""  # where the parent process is asked, and shows messages
    display_at: str = ""


def serialised(child: ChildConfig) -> str:
    return json.dumps({name: getattr(child, name) for name in _fields()})


def deserialised(text: str) -> ChildConfig:
    """Read what `serialised` wrote. Raises ValueError that lists what is missing."""
    data = json.loads(text)
    missing = [name for name in _REQUIRED if name not in data]
    if missing:
        raise ValueError(f"Missing required fields: {', '.join(missing)}")
    return ChildConfig(**{name: data[name] for name in _fields() if data.get(name) is not None})


async def run_in_subprocess(
    child: ChildConfig,
    environment: Mapping[str, str],
    *,
    seconds: float,
    more_variables: Iterable[str] = (),
    approval_system: Any = None,
    display_system: Any = None,
) -> dict[str, Any]:
    """Run one turn of a session in another process and return its result.

    What the child asks and shows goes to the systems that are given; without one, approvals are denied.
    Raises ValueError for a project that is not there, TimeoutError, and RuntimeError for a child that failed.
    """
    project = validated_project(child.project_path)
    variables = child_environment(environment, more_variables)
    with tempfile.TemporaryDirectory(prefix="amplihack-session-") as scratch:  # mode 0700
        place = Path(scratch)
        async with lent_host(place, approval_system, display_system) as address:
            told = replace(
                child,
                site_dirs=[*child.site_dirs, *entered()],
                approvals_at=address if approval_system is not None else "",
                display_at=address if display_system is not None else "",
            )
            write_atomic(place / "session.json", serialised(told).encode(), sync=False)
            argv = (sys.executable, "-m", "amplihack.app.sessions.child_process", str(place / "session.json"))
            command = Command(argv=argv, cwd=project, env=variables, timeout=seconds, grace=_GRACE)
            done = await run_process(command)
    if done.timed_out:
        raise TimeoutError(f"the session in {project} timed out after {seconds:g}s")
    return _said(done)


def _said(done: Finished) -> dict[str, Any]:
    """Return the result of a process that has ended. Raises RuntimeError if it has none."""
    framed = framed_result(done.stdout.text())
    if framed is None:
        if done.ok:
            raise RuntimeError("the child session ended well, but its output is missing result envelope")
        raise RuntimeError(
            f"the child session failed ({done.status}): {without_secrets(done.stderr.tail(4000))}"
        )
    if framed.get("error"):
        raise RuntimeError(f"the child session failed: {without_secrets(str(framed['error']))}")
    return framed


def validated_project(path: str | Path) -> Path:
    """Return the directory. Raises ValueError if there is none."""
    project = Path(path)
    if not project.is_dir():
        raise ValueError(f"project_path {path!s} does not exist or is not a directory")
    return project


def child_environment(environment: Mapping[str, str], more: Iterable[str] = ()) -> dict[str, str]:
    """Return the variables that a child gets: those that it needs to work, and the providers' own."""
    allowed = _NAMES | set(more)
    kept = {
        name: value for name, value in environment.items() if name in allowed or name.startswith(_PREFIXES)
    }
    return {**kept, "PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}


def framed_result(output: str) -> dict[str, Any] | None:
    """Return the result between the marks; whatever else was printed is no part of it."""
    start, end = output.rfind(RESULT_START), output.rfind(RESULT_END)
    if start < 0 or end < start:
        return None
    try:
        found = json.loads(output[start + len(RESULT_START) : end])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def without_secrets(text: str) -> str:
    return _SECRET.sub("[REDACTED]", text)


def _fields() -> tuple[str, ...]:
    return tuple(ChildConfig.__annotations__)
