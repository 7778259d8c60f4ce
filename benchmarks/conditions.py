"""How fast conditions are, as ratios: evaluation against a bare lambda, parsing against `compile()`."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from amplihack.recipes.conditions import holds, parse_condition

SCOPE: dict[str, Any] = {
    "status": "ready",
    "count": 3,
    "flag": True,
    "result": {"verdict": "pass", "findings": []},
    "kind": "feature",
    "out": "all checks ok=true",
}

ALTERNATIVES = [f"k{n}" for n in range(50)]
Scope: TypeAlias = Mapping[str, Any]
CASES: list[tuple[str, str, Callable[[Scope], object]]] = [
    ("name", "flag", lambda s: s.get("flag")),
    ("equality", "status == 'ready'", lambda s: s.get("status") == "ready"),
    ("path", "result.verdict == 'pass'", lambda s: s["result"].get("verdict") == "pass"),
    ("placeholder", "'ok=true' in '{{out}}'", lambda s: "ok=true" in str(s.get("out"))),
    (
        "typical",
        "kind in ['feature', 'bug'] and (count >= 3 or not flag) and status != 'failed'",
        lambda s: (
            s["kind"] in ["feature", "bug"] and (s["count"] >= 3 or not s["flag"]) and s["status"] != "failed"
        ),
    ),
    (
        "50 alternatives",
        " or ".join(f"kind == 'k{n}'" for n in range(50)),
        lambda s: s["kind"] in ALTERNATIVES,
    ),
]


def main() -> None:
    print(f"{'condition':<16}{'evaluated/s':>14}{'× lambda':>10}{'parsed/s':>12}{'× compile()':>13}")
    for title, text, plain in CASES:
        evaluated, baseline = _evaluation(text, plain)
        parsed, compiled = _parsing(text)
        print(
            f"{title:<16}{1 / evaluated:>14,.0f}{evaluated / baseline:>10.1f}"
            f"{1 / parsed:>12,.0f}{parsed / compiled:>13.1f}"
        )


def _evaluation(text: str, plain: Callable[[Scope], object]) -> tuple[float, float]:
    condition = parse_condition(text)
    return _seconds(lambda: holds(condition, SCOPE)), _seconds(lambda: plain(SCOPE))


def _parsing(text: str) -> tuple[float, float]:
    python = text.replace("{{", "{").replace("}}", "}")
    return _seconds(lambda: parse_condition(text)), _seconds(lambda: compile(python, "condition", "eval"))


def _seconds(action: Callable[[], object]) -> float:
    """Seconds for one call, the best of five rounds."""
    timer = timeit.Timer(action)
    rounds, _ = timer.autorange()
    rounds = max(1, rounds // 10)
    return min(timer.repeat(5, rounds)) / rounds


if __name__ == "__main__":
    main()
