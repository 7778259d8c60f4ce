"""The two little languages against Python and against themselves at half the size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from benchmarks.bench import Bench
from benchmarks.measure import function
from benchmarks.table import Row

from amplihack.errors import TemplateError
from amplihack.recipes.conditions import holds, parse_condition
from amplihack.recipes.templates.bash import read_script

_SCOPE: dict[str, Any] = {"status": "ready", "count": 3, "flag": True, "kind": "feature"}
_CONDITION = "kind in ['feature', 'bug'] and (count >= 3 or not flag) and status != 'failed'"
_CALLS = 2_000

# Shapes of bash in which a careless reader looks at the same text again and again.
_SHAPES: Mapping[str, Callable[[int], str]] = {
    "functions": lambda n: 'f() { local a="${1:-$HOME}"; [[ $a == /* ]] && echo "{{x}}" | b; }\n' * n,
    "backticks": lambda n: "{{x}} " + "`a` " * n,
    "commands in backticks": lambda n: "`" + "a {{x}};" * n + "`",
    "double parentheses": lambda n: "{{x}} " + "((1)) ; " * n,
    "substitutions": lambda n: "{{x}} " + '"$(a "$(b)")" ' * n,
    "one long word": lambda n: "a'b'\"c\"" * n + "{{x}}",
    "one long command": lambda n: "a " * n + "{{x}}",
    "comments": lambda n: "# {{x}}\n" * n,
    "quoted heredocs": lambda n: "cat <<'E'\n{{x}}\nE\n" * n,
    "heredoc of many lines": lambda n: "cat <<E\n" + "{{x}} $(a)\n" * n + "E\n",
    "placeholders side by side": lambda n: "{{x}}" * n,
    "heredocs on one line": lambda n: "cat" + " <<E" * n + "\n" + "{{x}}\nE\n" * n,
    "a long pipeline": lambda n: "a {{x}} | " * n + "bash",
    "blocks": lambda n: "{ a {{x}}; } | sh; " * n,
    "outputs in arithmetic": lambda n: "echo $(( $(a {{x}}) ))\n" * n,
    "variables that are evaluated": lambda n: (
        "".join(f"a{i}=$a{i + 1}; " for i in range(n)) + "((a0)); a={{x}}"
    ),
    "unclosed": lambda n: "{{x}} " + "a[ " * n,
}


def conditions(bench: Bench) -> list[Row]:
    condition = parse_condition(_CONDITION)

    def plain(scope: Mapping[str, Any]) -> bool:
        return bool(
            scope["kind"] in ["feature", "bug"]
            and (scope["count"] >= 3 or not scope["flag"])
            and scope["status"] != "failed"
        )

    works = {
        "evaluated": function(lambda: [holds(condition, _SCOPE) for _ in range(_CALLS)]),
        "plain": function(lambda: [plain(_SCOPE) for _ in range(_CALLS)]),
        "parsed": function(lambda: [parse_condition(_CONDITION) for _ in range(_CALLS // 10)]),
        "compiled": function(lambda: [compile(_CONDITION, "c", "eval") for _ in range(_CALLS // 10)]),
    }
    costs = bench.measure(works, 8)
    return [
        Row(
            "a typical condition, evaluated",
            "a Python function",
            bench.ratio(costs["evaluated"], costs["plain"]),
        ),
        Row(
            "a typical condition, parsed",
            "compile() of the same text",
            bench.ratio(costs["parsed"], costs["compiled"]),
        ),
    ]


def scripts(bench: Bench) -> list[Row]:
    """Measure each shape of a script at two sizes; only the one that grows most is told."""
    sizes = (500, 1_000) if bench.quick else (4_000, 8_000)
    growths = {}
    for name, shape in _SHAPES.items():
        half, whole = (function(partial(_read, shape(size))) for size in sizes)
        costs = bench.measure({"half": half, "whole": whole}, 4)
        growths[name] = bench.ratio(costs["whole"], costs["half"])
    worst = max(growths, key=growths.__getitem__)
    return [Row(f"a bash script, worst of {len(growths)} shapes: {worst}", "half of it", growths[worst], 3)]


def _read(text: str) -> None:
    with suppress(TemplateError):  # the one that never closes
        read_script(text)
