"""How long it takes until a command that needs nothing has answered, against Python doing nothing."""

from __future__ import annotations

from benchmarks.measure import AMPLIHACK, PYTHON, Row, best_of

ROUNDS = 20


def rows() -> list[Row]:
    plain, isolated, version, help_page = best_of(
        ROUNDS,
        (PYTHON, "-c", "pass"),
        (PYTHON, "-I", "-c", "pass"),
        (AMPLIHACK, "--version"),
        (AMPLIHACK, "--help"),
    )
    return [
        Row("amplihack --version", "python -c pass", version / plain, 2),
        Row("amplihack --version", "python -I -c pass", version / isolated),
        Row("amplihack --help", "python -c pass", help_page / plain),
    ]
