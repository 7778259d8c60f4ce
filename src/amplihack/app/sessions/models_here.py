"""Choose the model of a session here, and read scripts that stand for one."""

from __future__ import annotations

import json
import re
from typing import Any

from amplihack.app.workspace import Workspace
from amplihack.documents import Mapping, Node, Sequence, read_document, to_value
from amplihack.errors import DocumentError, NotFound
from amplihack.sessions.model_choice import ChosenModel, ModelFacts, choose_model, scripted
from amplihack.system.files import read_bytes
from amplihack.system.model_facts import model_facts

_SCRIPTED = "scripted:"


def facts_here(workspace: Workspace) -> ModelFacts:
    return model_facts(workspace.environment, workspace.home)


def model_here(workspace: Workspace, planned: list[dict[str, Any]], wish: str | None) -> ChosenModel:
    """Return the providers of a session. Raises UsageError, NotFound, DocumentError or NothingToUse."""
    facts = facts_here(workspace)
    wanted = wish or (facts.environment.get("AMPLIHACK_MODEL") or "")
    if wanted.startswith(_SCRIPTED):
        return scripted(_script(workspace, wanted.removeprefix(_SCRIPTED)), wanted)
    path = workspace.home.path(wanted.removeprefix("local/"))
    if wanted.endswith(".gguf") and not path.is_file():
        raise NotFound(f"Model not found: {path}", fix="check the path; `amplihack model list` shows others")
    return choose_model(planned, wish, facts)


def _script(workspace: Workspace, file: str) -> dict[str, Any]:
    """Read a script: the settings of `provider-scripted`, the list of its steps, or answers of an agent."""
    path = workspace.home.path(file)
    root = read_document(read_bytes(path, kind="Script of a model"), str(path), kind="Script of a model").root
    if isinstance(root, Sequence):
        return _steps(root)
    if isinstance(root, Mapping):
        found = to_value(root)
        return dict(found) if isinstance(found, dict) else {}
    fix = "write a list such as `- text: Hello`, or a mapping with `steps:`"
    raise DocumentError("the script of a model must be a list or a mapping", where=root.where, fix=fix)


def _steps(root: Sequence) -> dict[str, Any]:
    """Return a list as steps. A list of what `--agent scripted:` takes, with `reply`, becomes rules."""
    listed = to_value(root)
    entries = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    if not any("reply" in each for each in entries):
        return {"steps": listed}
    return {"rules": [_rule(item, each) for item, each in zip(root.items, entries, strict=False)]}


def _rule(item: Node, answer: dict[str, Any]) -> dict[str, Any]:
    unknown = answer.keys() - {"match", "reply", "error", "delay"}
    if unknown:
        what = f"`{min(unknown)}` has no meaning in the script of a model"
        raise DocumentError(what, where=item.where, fix="leave it out, or write a list of steps with `text:`")
    match = str(answer.get("match") or "")
    is_pattern = len(match) > 2 and match[0] == match[-1] == "/"
    when = match[1:-1] if is_pattern else re.escape(match) or "(?s:.*)"
    reply = answer.get("reply")
    made: dict[str, Any] = {"when": when, "delay": answer.get("delay") or 0}
    if "error" in answer:
        return {**made, "error": str(answer["error"])}
    return {**made, "text": reply if isinstance(reply, str) else json.dumps(reply)}
