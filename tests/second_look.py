"""Runs pytest. A few failing tests get a second look, alone, and a word about it.

Hundreds of our tests watch real processes, beside each other, on machines that may have two cores. A test
that fails there and passes alone does not decide about a change that has nothing to do with it; but it is
named at the end, because what it met is a fault of the program as often as one of the test. Exits with the
code of pytest.

    python -m tests.second_look [ARGUMENTS OF PYTEST]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

FAILED = 1  # how pytest ends when tests failed; every other code is no matter of a second look
MOST = 5  # more failures than these are no accident


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="amplihack-pytest-") as cache:
        command = [sys.executable, "-m", "pytest", *arguments, "-o", f"cache_dir={cache}"]
        code = subprocess.run(command, check=False).returncode
        failed = failed_tests(Path(cache))
        if code != FAILED or not 0 < len(failed) <= MOST:
            return code
        print(f"a second look, alone: {', '.join(failed)}", flush=True)
        alone = [*command, "-n", "0", "--last-failed", *(["--no-cov"] if "--cov" in arguments else [])]
        code = subprocess.run(alone, check=False).returncode
    if code == 0:
        print("UNSTEADY, passed only when alone: find out why\n  " + "\n  ".join(failed), flush=True)
    return code


def failed_tests(cache: Path) -> list[str]:
    """Return the tests that pytest noted as failed."""
    notes = cache / "v" / "cache" / "lastfailed"
    return sorted(json.loads(notes.read_text("utf-8"))) if notes.exists() else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
