from __future__ import annotations

import sys

import pytest

from amplihack.errors import InputError
from amplihack.recipes.agent_port import AgentFailed
from amplihack.system.agent_tools.environment import RunIdentity, check_depth, child_environment

RUN = RunIdentity(run_id="run-1", tree_id="cafe1234")


def test_a_child_knows_its_run_and_its_depth() -> None:
    assert child_environment({"X": "1"}, agent="codex", run=RUN) == {
        "X": "1",
        "HOME": "/root",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "AMPLIHACK_TREE_ID": "cafe1234",
        "AMPLIHACK_RECIPE_RUN_ID": "run-1",
        "AMPLIHACK_PROCESS_MARK": "run-1.cafe1234;",
        "AMPLIHACK_AGENT_BINARY": "codex",
        "AMPLIHACK_SESSION_DEPTH": "1",
        "AMPLIHACK_MAX_DEPTH": "6",
        "AMPLIHACK_MAX_SESSIONS": "10",
        "AMPLIFIER_PYTHON": sys.executable,
    }


def test_what_the_parent_says_is_kept_except_its_own_session() -> None:
    parent = {
        "CLAUDECODE": "1",
        "HOME": "/home/ada",
        "PATH": "",
        "AMPLIHACK_TREE_ID": "beef0000",
        "AMPLIHACK_RECIPE_RUN_ID": "outer",
        "AMPLIHACK_SESSION_DEPTH": "2",
        "AMPLIHACK_MAX_DEPTH": "3",
        "AMPLIHACK_MAX_SESSIONS": "4",
    }
    child = child_environment(parent, agent=None, run=RUN)
    assert "CLAUDECODE" not in child
    assert "AMPLIHACK_AGENT_BINARY" not in child
    assert child["PATH"] == "/usr/local/bin:/usr/bin:/bin"
    assert {name: child[name] for name in parent if name not in ("CLAUDECODE", "PATH")} == {
        **{name: value for name, value in parent.items() if name not in ("CLAUDECODE", "PATH")},
        "AMPLIHACK_SESSION_DEPTH": "3",
    }


def test_an_agent_below_the_deepest_level_is_refused() -> None:
    check_depth({"AMPLIHACK_SESSION_DEPTH": "6", "AMPLIHACK_MAX_DEPTH": "6"})
    with pytest.raises(AgentFailed, match="at depth 7, and 6 is the most"):
        check_depth({"AMPLIHACK_SESSION_DEPTH": "7", "AMPLIHACK_MAX_DEPTH": "6"})


@pytest.mark.parametrize("text", ["deep", "-1", "1.5", "²"])
def test_a_depth_that_is_no_number_is_an_error_rather_than_no_limit(text: str) -> None:
    for name in ("AMPLIHACK_SESSION_DEPTH", "AMPLIHACK_MAX_DEPTH"):
        with pytest.raises(InputError, match=f"{name} must be a whole number"):
            child_environment({name: text}, agent=None, run=RUN)
