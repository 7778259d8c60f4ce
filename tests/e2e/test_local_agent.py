"""A model in this process answers a command and the agent step of a recipe: no account, and no network."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.support.workspace import Workspace

MODELS = Path(__file__).parents[2] / ".models" / "models"
IS_HERE = find_spec("xllamacpp") is not None and (MODELS / "smollm2-135m.gguf").exists()
pytestmark = [
    pytest.mark.local,
    pytest.mark.skipif(not IS_HERE, reason="`make test-local` fetches the model"),
]


@pytest.fixture
def place(workspace: Workspace) -> Workspace:
    """A machine with the small model, and neither a key nor an agent tool."""
    keys = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "AMPLIHACK_MODEL")
    workspace.env |= {**dict.fromkeys(keys, ""), "PATH": "/usr/bin:/bin"}
    home = Path(workspace.env["HOME"]) / ".amplihack"
    home.mkdir()
    (home / "models").symlink_to(MODELS)
    return workspace


def test_it_is_asked_when_there_is_nothing_else(place: Workspace) -> None:
    answer = place.run("run", "What is the capital of France?")
    assert answer.exit_code == 0, answer.stderr
    assert "Paris" in answer.stdout
    assert "too small to use tools" in answer.stderr


def test_a_step_gets_json_that_fits(place: Workspace) -> None:
    schema = "{type: object, properties: {verdict: {enum: [ship, wait]}}, required: [verdict]}"
    ask = f"{{id: a, prompt: Is it good?, parse_json: true, json_schema: {schema}, output: said}}"
    place.write(
        "r.yaml", f"name: r\nsteps:\n  - {ask}\n  - {{id: b, command: 'echo {{{{said.verdict}}}}'}}\n"
    )
    answer = place.run("recipe", "run", "r.yaml", "--json")
    assert answer.exit_code == 0, answer.stderr
    first, second = answer.json["step_results"]
    assert second["output"] in ("ship", "wait")
    assert first["usage"]["output_tokens"] > 0
