"""Which agent is used, and what is said when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplihack.errors import NothingToUse, UsageError
from amplihack.system.agent_tools.choose import choose_agent
from amplihack.system.agent_tools.environment import RunIdentity
from amplihack.system.agent_tools.spec import AgentSearch, agent_spec


class Machine:
    """A PATH with nothing on it, until something is installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()

    def install(self, *names: str) -> None:
        for name in names:
            program = self.bin / name
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)

    def around(self, **variables: str) -> AgentSearch:
        return AgentSearch(
            environment={"PATH": str(self.bin), **variables},
            cwd=self.folder,
            run=RunIdentity(run_id="run", tree_id="tree"),
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize(
    ("installed", "chosen"),
    [
        (["codex", "copilot", "claude"], "claude"),
        (["codex", "copilot"], "copilot"),
        (["codex"], "codex"),
    ],
)
def test_the_first_installed_tool_is_used(machine: Machine, installed: list[str], chosen: str) -> None:
    machine.install(*installed)
    assert choose_agent(None, machine.around()).name == chosen


def test_a_named_agent_comes_before_the_variable_and_that_before_the_path(machine: Machine) -> None:
    machine.install("claude", "copilot", "codex")
    around = machine.around(AMPLIHACK_AGENT_BINARY="codex")
    assert choose_agent(None, around).name == "codex"
    assert choose_agent("copilot", around).name == "copilot"
    assert choose_agent(str(machine.bin / "claude"), around).name == "claude"


def test_no_agent_at_all_says_what_to_do(machine: Machine) -> None:
    with pytest.raises(NothingToUse, match="none of claude, copilot and codex") as caught:
        choose_agent(None, machine.around())
    assert caught.value.exit_code == 4
    assert "npm install" in caught.value.fix


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("codex", 'the agent "codex" is not installed'),
        ("/opt/claude", 'the agent "/opt/claude" is not installed'),
        ("command:frobnicate --fast", '"frobnicate" is not installed'),
    ],
)
def test_a_named_agent_that_is_missing_is_found_out_at_once(machine: Machine, spec: str, words: str) -> None:
    machine.install("claude")
    with pytest.raises(NothingToUse, match=words):
        choose_agent(spec, machine.around())


@pytest.mark.parametrize(
    ("spec", "words", "fix"),
    [
        ("claud", 'unknown agent "claud"', 'did you mean "claude"?'),
        ("gpt", 'unknown agent "gpt"', "command:<template>"),
        ("command:'oops", "cannot be read", "quotes"),
    ],
)
def test_a_spec_that_makes_no_sense_is_a_usage_error(
    machine: Machine, spec: str, words: str, fix: str
) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        choose_agent(spec, machine.around())
    assert fix in caught.value.fix


def test_a_launcher_stands_in_for_any_tool_but_must_be_there(machine: Machine) -> None:
    around = machine.around(AMPLIHACK_LAUNCHER_BINARY="wrap")
    with pytest.raises(NothingToUse, match='the launcher "wrap" is not installed'):
        choose_agent("claude", around)
    machine.install("wrap")
    assert choose_agent(None, around).name == "claude"
    assert choose_agent("RustyClawd", around).name == "RustyClawd"


def test_a_nested_run_finds_the_same_script_from_any_directory(machine: Machine) -> None:
    (machine.folder / "answers.yaml").write_text("- reply: hi")
    spec = agent_spec("scripted:answers.yaml", machine.around())
    assert spec == f"scripted:{machine.folder}/answers.yaml"
    assert choose_agent(spec, machine.around()).name == "scripted"


def test_arguments_that_cannot_be_split_are_refused(machine: Machine) -> None:
    machine.install("claude")
    with pytest.raises(UsageError, match="AMPLIHACK_AGENT_ARGS cannot be read"):
        choose_agent("claude", machine.around(AMPLIHACK_AGENT_ARGS="'open"))
