"""The real claude, codex and copilot, where they are installed, with an environment made from nothing.

They are looked for in `.agents/node_modules/.bin` (`make test-agents` installs them there) and get a home of
their own, a key that opens nothing, and the address of a server on 127.0.0.1.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.support.model_server import ModelServer

TOOLS = Path(__file__).parents[2] / ".agents" / "node_modules" / ".bin"
_MISSING = [name for name in ("claude", "codex", "copilot") if not (TOOLS / name).exists()]
_NODE = shutil.which("node")

needs_agent_tools = [
    pytest.mark.agents,
    pytest.mark.skipif(bool(_MISSING), reason=f"not installed in .agents: {', '.join(_MISSING)}"),
    pytest.mark.skipif(_NODE is None, reason="node is not installed"),
]

# What makes each of them run the shell commands of a test, in the words of the tool itself.
PERMISSIONS = {
    "claude": {"AMPLIHACK_AGENT_ARGS": "--allowedTools Bash"},
    "codex": {"AMPLIHACK_AGENT_ARGS": "--sandbox workspace-write"},
    "copilot": {"AMPLIHACK_ALLOW_ALL_TOOLS": "1"},
}

_CODEX = """
model = "test-model"
model_provider = "local"
[model_providers.local]
name = "local"
base_url = "{url}/v1"
env_key = "LOCAL_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""


def agent_environment(home: Path, server: ModelServer) -> dict[str, str]:
    """Return the environment that leads every tool to the server, and write what codex reads in its home."""
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text(_CODEX.format(url=server.url))
    return {
        "PATH": f"{TOOLS}:{Path(_NODE or 'node').parent}:/usr/bin:/bin",
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{server.url}/v1",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": "gpt-4.1",
        "LOCAL_KEY": "dummy",
        "AMPLIHACK_RATELIMIT_BASE_DELAY_SECS": "0",
    }
