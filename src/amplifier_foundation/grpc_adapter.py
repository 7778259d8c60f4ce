"""Say that there is no gRPC adapter here: programs that start it or import from it are told so.

Started by `python -m`, it answers as hosts expect of an adapter that cannot start: by a line `ERROR:…` on
stdout, and an exit code that is not 0.
"""

from __future__ import annotations

import sys

__all__: list[str] = []

_ABSENT = (
    "amplihack has no gRPC adapter: it serves no Python modules to hosts in other languages."
    " Install amplifier-foundation itself beside that host for it, or open the session in Python"
    " (docs/sessions.md)"
)


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise ImportError(f"{__name__}.{name}: {_ABSENT}", name=__name__)


if __name__ == "__main__":
    sys.stdout.write(f"ERROR:{_ABSENT}\n")
    sys.exit(1)
