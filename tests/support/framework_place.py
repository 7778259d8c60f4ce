"""A small git repository, the real framework bundle, and an agent that does what a test tells it to."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.workspace import Answer, Workspace

ROOT = Path(__file__).parents[2]

# Reads a prompt and takes the first rule that fits. A rule may run a script in the agent's directory first.
_AGENT = """\
import json, os, pathlib, subprocess, sys
here = pathlib.Path(__file__).parent
prompt = sys.stdin.read()
rules = json.loads((here / "rules.json").read_text())
with open(here / "asked.jsonl", "a") as log:
    log.write(json.dumps({"prompt": prompt, "cwd": os.getcwd()}) + chr(10))
for number, rule in enumerate(rules):
    used = here / f"used-{number}"
    count = len(used.read_text()) if used.exists() else 0
    if any(word not in prompt for word in rule["match"]) or (rule["times"] and count >= rule["times"]):
        continue
    with open(used, "a") as mark:
        mark.write("x")
    if rule["run"]:
        subprocess.run(["bash", "-ec", rule["run"]], check=True)
    if rule["fail"]:
        sys.exit(rule["fail"])
    reply = rule["reply"]
    print(reply if isinstance(reply, str) else json.dumps(reply))
    sys.exit(0)
sys.exit(f"no rule fits this prompt: {prompt[:300]}")
"""


@dataclass(frozen=True)
class Rule:
    """What the agent does with a prompt that holds all these words."""

    match: tuple[str, ...]
    reply: Any = ""
    run: str = ""
    times: int = 0  # how often it fits; 0 means always
    fail: str = ""


def rule(*match: str, reply: Any = "", run: str = "", times: int = 0, fail: str = "") -> Rule:
    return Rule(match, reply, run, times, fail)


@dataclass
class FrameworkPlace:
    """The program of this checkout, with its bundle, in a repository with one tested function."""

    workspace: Workspace
    repo: Path
    agent: Path = field(init=False)

    def __post_init__(self) -> None:
        self.agent = self.workspace.path / "agent"
        self.agent.mkdir()
        (self.agent / "agent.py").write_text(_AGENT)
        self.workspace.env.update(
            PYTHONPATH=str(ROOT / "src"),
            GIT_CONFIG_GLOBAL=os.devnull,
            GIT_CONFIG_SYSTEM=os.devnull,
            AMPLIHACK_AGENT_BINARY=f"command:{shlex.join((sys.executable, str(self.agent / 'agent.py')))}",
        )

    def answers(self, *rules: Rule) -> None:
        """Tell the agent what to do; the first rule that fits a prompt counts."""
        (self.agent / "rules.json").write_text(json.dumps([vars(each) for each in rules]))
        for used in self.agent.glob("used-*"):
            used.unlink()

    @property
    def asked(self) -> list[str]:
        """Return the prompts that the agent got, in order."""
        log = self.agent / "asked.jsonl"
        return [json.loads(line)["prompt"] for line in log.read_text().splitlines()] if log.exists() else []

    def asked_for(self, words: str) -> int:
        return sum(words in prompt for prompt in self.asked)

    def run(self, recipe: str, *words: str, env: dict[str, str] | None = None, **values: Any) -> Answer:
        """Run a recipe of the bundle in the repository; values are given with --set-json."""
        given = [
            word for name, value in values.items() for word in ("--set-json", f"{name}={json.dumps(value)}")
        ]
        return self.workspace.run("recipe", "run", recipe, "-C", str(self.repo), *given, *words, env=env)

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.repo, env=self.workspace.env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def steps(self) -> dict[str, dict[str, Any]]:
        """Return the steps of the newest run, of all its recipes, by their ids."""
        found: dict[str, dict[str, Any]] = {}

        def walk(steps: list[dict[str, Any]]) -> None:
            for step in steps:
                found[step["step_id"]] = step
                walk(step["children"])

        walk(self.workspace.run("runs", "show", "--json").json["steps"])
        return found


def make_place(workspace: Workspace) -> FrameworkPlace:
    repo = workspace.path / "it's a repo"
    repo.mkdir()
    place = FrameworkPlace(workspace, repo)
    (repo / "calc.sh").write_text("add() { echo $(($1 + $2)); }\n")
    (repo / "check.sh").write_text('. ./calc.sh\n[ "$(add 1 2)" = 3 ] || { echo "add is wrong"; exit 1; }\n')
    (repo / "Makefile").write_text("test:\n\t@sh ./check.sh\n")
    place.git("init", "--quiet", "--initial-branch=main")
    place.git("config", "user.name", "Ada")
    place.git("config", "user.email", "ada@example.org")
    place.git("add", "-A")
    place.git("commit", "--quiet", "-m", "start")
    return place


# what an agent usually answers ------------------------------------------------------------------------------

MULTIPLY = textwrap.dedent("""\
    echo 'mul() { echo $(($1 * $2)); }' >> calc.sh
    echo '[ "$(mul 2 5)" = 10 ] || { echo "mul is wrong"; exit 1; }' >> check.sh
    """)
WRONG = MULTIPLY.replace("$1 * $2", "$1 + $2")
RIGHT = "sed -i.bak 's/mul() { echo $(($1 + $2))/mul() { echo $(($1 * $2))/' calc.sh && rm calc.sh.bak"


def classified(kind: str, *streams: dict[str, str]) -> Rule:
    reply = {
        "task_type": kind,
        "goal": "what was asked",
        "success_criteria": ["it works"],
        "no_merge": False,
        "workstreams": list(streams),
    }
    return rule("Classify the task", reply=reply)


PLANNED = rule("Plan this change", reply={"approach": ["do"], "files": ["calc.sh"], "tests": [], "risks": []})
BUILT = rule("Make this change", run=MULTIPLY, reply="I added mul.")
APPROVED = rule("Review this change", reply={"verdict": "approve", "findings": []})
TRIED = rule("Try this change as its user", reply={"verdict": "PASS", "evidence": ["mul 2 5 printed 10"]})
SUMMED_UP = rule("Summarise this work", reply="This is the summary.")
ACHIEVED = rule("Compare the result", reply={"goal_status": "ACHIEVED", "summary": "fine", "missing": []})


def reflected(status: str, times: int = 1) -> Rule:
    return rule(
        "Compare the result",
        reply={"goal_status": status, "summary": f"this is {status}", "missing": ["the rest"]},
        times=times,
    )


DEVELOPMENT = (PLANNED, BUILT, APPROVED, TRIED, SUMMED_UP)
