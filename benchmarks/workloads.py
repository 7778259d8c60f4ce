"""Recipes to measure with, and the same work for those who run no recipes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_HEAD = "name: bench\nrecursion: {max_total_steps: 100000}\n"
_READ = """\
  - id: step_{n}
    command: |
      echo "{{{{task}}}} for {{{{step_{before}}}}}" | tee log-{n}.txt
    condition: step_{before} != 'skip' and len(task) > 0
    output: result_{n}
    timeout: 60
"""


@dataclass(frozen=True, slots=True)
class Workload:
    """A recipe file, and the bash commands that it comes to; None where other runners have no such thing."""

    recipe: Path
    commands: Sequence[str] | None = None


def bash_steps(
    folder: Path, count: int, variables: int = 2, fields: str = "", program: str = "echo"
) -> Workload:
    """Write a recipe of steps that each use two of so many variables."""
    context = "".join(f"  v{number}: value {number}\n" for number in range(variables))
    lines = "".join(
        f"  - {{id: s{number}, {fields}command: '{program} {number} {{{{v0}}}} {{{{v1}}}}'}}\n"
        for number in range(count)
    )
    recipe = folder / f"steps-{count}-{variables}-{len(fields)}-{Path(program).name}.yaml"
    recipe.write_text(f"{_HEAD}context:\n{context}steps:\n{lines}")
    return Workload(recipe, [f"{program} {number} 'value 0' 'value 1'" for number in range(count)])


def foreach(folder: Path, count: int) -> Workload:
    recipe = folder / f"foreach-{count}.yaml"
    recipe.write_text(
        f"{_HEAD}context: {{items: {list(range(count))}}}\n"
        "steps:\n  - {id: s, foreach: '{{items}}', command: 'echo {{item}}', "
        f"max_iterations: {count}}}\n"
    )
    return Workload(recipe, [f"echo {number}" for number in range(count)])


def one_command(folder: Path, name: str, text: str) -> Workload:
    recipe = folder / f"{name}.yaml"
    recipe.write_text(f"name: {name}\nsteps:\n  - {{id: s, command: '{text}'}}\n")
    return Workload(recipe, [text])


def sub_recipes(folder: Path, count: int) -> Workload:
    (folder / "child.yaml").write_text("name: child\nsteps: [{id: c, command: echo c}]\n")
    recipe = folder / f"calls-{count}.yaml"
    lines = "".join(f"  - {{id: s{number}, recipe: child}}\n" for number in range(count))
    recipe.write_text(f"{_HEAD}steps:\n{lines}")
    return Workload(recipe)


def to_read(folder: Path, count: int) -> Workload:
    """Write a recipe with conditions and templates, for `validate` and `check`."""
    recipe = folder / f"read-{count}.yaml"
    steps = "".join(_READ.format(n=number, before=number - 1) for number in range(1, count))
    recipe.write_text(
        f"name: big\ncontext:\n  task: build\nsteps:\n  - {{id: step_0, command: echo start}}\n{steps}"
    )
    return Workload(recipe)


def agents(folder: Path, name: str, steps: Sequence[Mapping[str, str]]) -> Workload:
    recipe = folder / f"{name}.yaml"
    lines = "".join(
        f"  - {{{', '.join(f'{key}: {value}' for key, value in step.items())}}}\n" for step in steps
    )
    recipe.write_text(f"name: {name}\nsteps:\n{lines}")
    return Workload(recipe)


def shell_loop(count: int, program: str = "echo") -> str:
    """Return the program for `sh` that starts bash so many times."""
    return f"i=0; while [ $i -lt {count} ]; do /bin/bash -c '{program} $0' $i; i=$((i+1)); done"
