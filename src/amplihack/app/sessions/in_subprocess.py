"""Run a session in a process of its own, with a reduced environment, and hand back what it said."""

from __future__ import annotations

import asyncio
import json
import site
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from amplihack.app.sessions.lent_host import DistantApprovals, DistantDisplay, lent_host
from amplihack.app.sessions.opening import SessionSpec, open_session
from amplihack.bundles.mentions import MentionScope
from amplihack.bundles.model import Bundle
from amplihack.bundles.prompt import with_mentioned
from amplihack.patterns import pattern
from amplihack.records import Record, field, replace
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.kernel.resolver import BundleModuleResolver
from amplihack.system.modules.environments import entered
from amplihack.system.processes import Command, run_process
from amplihack.system.replace import write_atomic
from amplihack.system.session_mentions import SeenContents, SessionMentions

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
            argv = (sys.executable, "-m", "amplihack.app.sessions.in_subprocess", str(place / "session.json"))
            command = Command(argv=argv, cwd=project, env=variables, timeout=seconds, grace=_GRACE)
            done = await run_process(command)
    if done.timed_out:
        raise TimeoutError(f"the session in {project} timed out after {seconds:g}s")
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


async def run_child_session(child: ChildConfig) -> dict[str, Any]:
    """Run the session of a child process: one turn, and its result as plain data."""
    for path in reversed((*child.sys_paths, *child.bundle_package_paths)):
        if path not in sys.path:
            sys.path.insert(0, path)
    for path in child.site_dirs:
        site.addsitedir(path)
    directory = Path(child.project_path)
    scope = MentionScope(namespaces=child.mention_mappings, bases=(str(directory),))
    bundle = Bundle(source_base_paths=child.mention_mappings)
    spec = SessionSpec(
        plan=child.config,
        bundle=lambda: bundle,
        resolver=BundleModuleResolver({name: Path(path) for name, path in child.module_paths.items()}),
        package_paths=child.bundle_package_paths,
        working_dir=directory,
        scope=scope,
        session_id=child.session_id,
        parent_id=child.parent_id,
        capabilities={
            "self_delegation_depth": 0,
            "mention_resolver": SessionMentions(lambda: bundle, scope),
            "mention_deduplicator": SeenContents(),
        },
        depth=1,
        approval_system=DistantApprovals(child.approvals_at) if child.approvals_at else None,
        display_system=DistantDisplay(child.display_at) if child.display_at else None,
    )
    session = await open_session(spec)
    completed: dict[str, Any] = {}

    async def hear(_: str, data: dict[str, Any]) -> None:
        completed.update(data)

    try:
        session.coordinator.hooks.register("orchestrator:complete", hear, priority=999, name="result")
        prompt = await asyncio.to_thread(with_mentioned, child.prompt, scope, BundleFiles())
        output = await session.execute(prompt)
    finally:
        await session.cleanup()
    return {
        "output": output,
        "status": str(completed.get("status") or "success"),
        "turn_count": completed.get("turn_count", 1),
        "metadata": completed.get("metadata") or {},
        "session_id": session.session_id,
        "usage": session.usage.to_dict(),
    }


def answer(run: Callable[[], dict[str, Any]]) -> tuple[str, int]:
    """Return the framed result of a run, an error included, and the exit code."""
    try:
        result, code = run(), 0
    except Exception as error:  # noqa: BLE001 - the parent is told, whatever it is
        result, code = {"output": "", "status": "error", "error": f"{type(error).__name__}: {error}"}, 1
    plain = json.dumps(result).replace("<<<", "\\u003c\\u003c\\u003c")  # what is said ends no frame
    return f"\n{RESULT_START}{plain}{RESULT_END}\n", code


def main(path: str) -> int:
    """Run the child session that a file describes, and print its result between the marks."""
    child = deserialised(Path(path).read_text("utf-8"))
    text, code = answer(lambda: asyncio.run(run_child_session(child)))
    sys.stdout.write(text)
    sys.stdout.flush()
    return code


def _fields() -> tuple[str, ...]:
    return tuple(ChildConfig.__annotations__)


if __name__ == "__main__":
    import os

    code = main(sys.argv[1])
    sys.stderr.flush()
    os._exit(code)  # the kernel may crash while the interpreter shuts down
