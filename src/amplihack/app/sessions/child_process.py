"""Be the process of a child session: run the one turn that a file describes, and print its result."""

from __future__ import annotations

import asyncio
import json
import site
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amplihack.app.sessions.in_subprocess import RESULT_END, RESULT_START, ChildConfig, deserialised
from amplihack.app.sessions.lent_host import DistantApprovals, DistantDisplay
from amplihack.app.sessions.opening import SessionSpec, open_session
from amplihack.bundles.mentions import MentionScope
from amplihack.bundles.model import Bundle
from amplihack.bundles.prompt import with_mentioned
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.kernel.resolver import BundleModuleResolver
from amplihack.system.session_mentions import SeenContents, SessionMentions


async def run_child_session(child: ChildConfig) -> dict[str, Any]:
    """Run the session of a child process: one turn, and its result as plain data."""
    for path in reversed((*child.sys_paths, *child.bundle_package_paths)):
        if path not in sys.path:
            sys.path.insert(0, path)
    for path in child.site_dirs:
        site.addsitedir(path)
    scope = MentionScope(namespaces=child.mention_mappings, bases=(child.project_path,))
    session = await open_session(_spec(child, scope))
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


def _spec(child: ChildConfig, scope: MentionScope) -> SessionSpec:
    bundle = Bundle(source_base_paths=child.mention_mappings)
    return SessionSpec(
        plan=child.config,
        bundle=lambda: bundle,
        resolver=BundleModuleResolver({name: Path(path) for name, path in child.module_paths.items()}),
        package_paths=child.bundle_package_paths,
        working_dir=Path(child.project_path),
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


if __name__ == "__main__":
    import os

    code = main(sys.argv[1])
    sys.stderr.flush()
    os._exit(code)  # the kernel may crash while the interpreter shuts down
