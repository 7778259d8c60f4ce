"""A bundle whose agents have a script each: `root` answers, and starts the others."""

from __future__ import annotations

import json
from typing import Any

from tests.support.workspace import Workspace

PAID = {"input_tokens": 10, "output_tokens": 4, "cost_usd": "0.25"}
_NO_KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "AMPLIHACK_MODEL")


def a_family(workspace: Workspace, *rules: dict[str, Any], **scripts: Any) -> None:
    """Write `mine.yaml`, with a script for each agent; rules say what its tools may do unasked."""
    allowed = [{"tool": "delegate", "action": "allow"}, *rules]
    # A child has the models of its parent as well: who stands further down comes first.
    models = {name: _plays(name, script, 90 - place) for place, (name, script) in enumerate(scripts.items())}
    mine = {
        "bundle": {"name": "mine"},
        "includes": [{"bundle": "foundation"}],
        "hooks": [{"module": "hooks-approval", "config": {"rules": allowed}}],
        "spawn": {"tools": ["tool-bash", "tool-delegate"]},
        "agents": {name: {"instruction": name, "providers": [model]} for name, model in models.items()},
        "providers": [models["root"]] if models else [],
    }
    workspace.env |= dict.fromkeys(_NO_KEYS, "")
    workspace.write("mine.yaml", json.dumps(mine))


def _plays(name: str, steps: Any, priority: int) -> dict[str, Any]:
    config = {"steps": steps, "priority": priority}
    return {"module": "provider-scripted", "instance_id": name, "config": config}


def uses(*tools: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """A step of a script that calls tools."""
    return {"tools": [{"name": name, "input": given} for name, given in tools], "usage": PAID}


def says(text: str) -> dict[str, Any]:
    return {"text": text, "usage": PAID}


def bash(command: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command}


def delegate(agent: str, instruction: str = "work") -> tuple[str, dict[str, Any]]:
    return "delegate", {"agent": agent, "instruction": instruction}
