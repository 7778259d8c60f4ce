from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from amplihack import (
    ExecutionListener,
    NotFound,
    NothingToUse,
    RecipeRunner,
    StepResult,
    parse_recipe,
    run_recipe,
    run_recipe_by_name,
)

HELLO = 'name: hello\ncontext: {who: "O\'Brien"}\nsteps:\n  - {id: greet, command: "echo \'hi {{who}}\'"}\n'


@dataclass
class RealBash:
    """Runs commands with the variables it is given; agents answer with what they were asked."""

    available: bool = True
    agents: list[dict[str, object]] = field(default_factory=list)
    name: str = "real-bash"

    def is_available(self) -> bool:
        return self.available

    def execute_bash_step(
        self, command: str, working_dir: str, timeout: float | None, extra_env: Mapping[str, str]
    ) -> str:
        done = subprocess.run(
            ["/bin/bash", "-c", command],
            env=dict(extra_env),
            cwd=working_dir,
            timeout=timeout,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"Command failed (exit {done.returncode})")
        return done.stdout.decode()

    def execute_agent_step(self, prompt: str, **details: object) -> str:
        self.agents.append({"prompt": prompt, **details})
        return f"you said {prompt}"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_recipe_runs_on_this_machine_without_an_adapter() -> None:
    result = run_recipe(HELLO)
    assert (result.success, result.context["greet"]) == (True, "hi O'Brien")


def test_an_adapter_gets_a_command_without_values_and_the_values_beside_it() -> None:
    result = run_recipe(HELLO, RealBash(), {"who": "$(touch pwned)"})
    assert result.context["greet"] == "hi $(touch pwned)"
    assert not Path("pwned").exists()


def test_an_adapter_that_raises_fails_the_step_with_its_words() -> None:
    result = run_recipe("name: n\nsteps: [{id: a, command: exit 4}]", RealBash())
    assert not result.success
    assert result.step_results[0].error == "Step 'a' failed: bash step failed: Command failed (exit 4)"


def test_agent_steps_reach_the_adapter_with_model_and_mode() -> None:
    adapter = RealBash()
    result = run_recipe("name: n\nsteps: [{id: a, prompt: plan it, model: m, mode: PLAN}]", adapter)
    assert result.context["a"] == "you said plan it"
    assert (adapter.agents[0]["model"], adapter.agents[0]["mode"]) == ("m", "PLAN")


def test_an_adapter_that_is_not_available_runs_nothing() -> None:
    with pytest.raises(NothingToUse, match="real-bash"):
        run_recipe(HELLO, RealBash(available=False))


def test_a_dry_run_calls_no_adapter() -> None:
    result = run_recipe(HELLO, RealBash(available=False), dry_run=True)
    assert [step.status for step in result.step_results] == ["skipped"]


def test_a_recipe_by_name_is_found_in_the_given_folders_with_what_it_extends() -> None:
    Path("base.yaml").write_text("name: base\nsteps: [{id: one, command: echo 1}]\n")
    Path("leaf.yaml").write_text("name: leaf\nextends: base\nsteps: [{id: two, command: echo 2}]\n")
    result = run_recipe_by_name("leaf", dirs=["."])
    assert [step.step_id for step in result.step_results] == ["one", "two"]
    with pytest.raises(NotFound, match="not found"):
        run_recipe_by_name("nowhere", dirs=["."])


def test_a_listener_hears_each_step_once_and_every_line() -> None:
    class Ears(ExecutionListener):
        def __init__(self) -> None:
            self.heard: list[tuple[str, ...]] = []

        def on_step_start(self, step_id: str, step_type: str) -> None:
            self.heard.append(("start", step_id, step_type))

        def on_step_complete(self, result: StepResult) -> None:
            self.heard.append(("end", result.step_id, result.status))

        def on_output(self, step_id: str, line: str) -> None:
            self.heard.append(("line", step_id, line))

    ears = Ears()
    RecipeRunner(listener=ears, audit_dir="audit").execute(parse_recipe(HELLO))
    expected = [("start", "greet", "bash"), ("line", "greet", "hi O'Brien"), ("end", "greet", "completed")]
    assert ears.heard == expected
    (log,) = Path("audit").iterdir()
    assert json.loads(log.read_text())["status"] == "Completed"
