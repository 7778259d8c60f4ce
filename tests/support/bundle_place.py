"""Bundles on the disk for tests: a thin bundle on a base, and repositories that hold others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent

from tests.support.git_server import Repository
from tests.support.workspace import Workspace

from amplihack.app.bundles.load import LoadRequest
from amplihack.bundles.model import Bundle
from amplihack.bundles.names import KnownNames
from amplihack.bundles.sections.table import SECTIONS
from amplihack.bundles.tree import Tree, leaves
from amplihack.system.bundle_files import BundleFiles

BASE = """\
---
bundle:
  name: base
  version: 2.0.0
session:
  orchestrator: loop-basic
  context: {module: context-simple}
providers:
  - module: provider-x
    config: {model: small, api_key: "${X_KEY}"}
tools:
  - module: tool-bash
    config: {timeout: 30, allowed: [ls]}
hooks:
  - module: hooks-log
---
You are helpful.

@base:context/shared.md
"""

THIN = """\
---
bundle:
  name: mine
  version: 1.0.0
  description: Adds one capability.
includes:
  - bundle: ./base
  - bundle: mine:behaviors/work
---
# Mine

Work with care.

@mine:context/guide.md
"""

BEHAVIOR = """\
bundle:
  name: work-behavior
  version: 0.1.0
tools:
  - module: tool-bash
    config: {timeout: 60}
  - module: tool-work
    source: ../modules/tool-work
agents:
  include:
    - mine:worker
context:
  include:
    - mine:context/rules.md
"""

TOOL = """\
class Work:
    name = "work"
    description = "Does the work that has to be done, and says when it is done."
    input_schema = {"type": "object", "properties": {"what": {"type": "string"}}}
"""


def thin_bundle(workspace: Workspace) -> None:
    """A thin bundle with a behaviour, an agent, context and a local tool, on a base beside it."""
    workspace.write("bundle.md", THIN)
    workspace.write("behaviors/work.yaml", BEHAVIOR)
    workspace.write("context/guide.md", "# Guide\n\nRead before you write.\n")
    workspace.write("context/rules.md", "# Rules\n\nNever guess.\n")
    workspace.write(
        "agents/worker.md", "---\nmeta:\n  name: worker\n  description: Works.\n---\nYou work alone.\n"
    )
    workspace.write("modules/tool-work/amplifier_module_tool_work/__init__.py", TOOL)
    workspace.write("base/bundle.md", BASE)
    workspace.write("base/context/shared.md", "Shared words.\n")


def repository(workspace: Workspace, name: str, files: dict[str, str]) -> Repository:
    """A git repository with one commit, beside the folder that commands run in."""
    made = Repository(workspace.path / "repositories" / name)
    made.commit({path: dedent(text) for path, text in files.items()})
    return made


def address(repository: Repository, ref: str = "main", inside: str = "") -> str:
    fragment = f"#subdirectory={inside}" if inside else ""
    return f"git+file://{repository.path}@{ref}{fragment}"


def home(workspace: Workspace) -> Path:
    """The home root of the commands that run in a workspace."""
    return workspace.path / "home" / ".amplihack"


def bundle_request(
    folder: Path,
    source: str = "./bundle.yaml",
    *,
    strict: bool = True,
    registered: Mapping[str, str] | None = None,
) -> LoadRequest:
    """A request for a bundle in a folder, without settings and names of other places."""
    return LoadRequest(
        source=source,
        base=folder,
        cache_dir=folder / "cache",
        environment={},
        names=KnownNames(files=BundleFiles(), registered=registered or {}),
        strict=strict,
    )


def plan_leaves(bundle: Bundle) -> Iterator[tuple[tuple[str, ...], Tree]]:
    """Every value of the mount plan with its path, modules and agents under their names."""
    for section in SECTIONS:
        table = bundle.section(section.name)
        if section.plan is not None and table.entries:
            yield from leaves(table, (section.name,))
