"""Add the variables of `--env-file` to an environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from amplihack.documents.dotenv import read_dotenv
from amplihack.errors import Problem
from amplihack.system.files import read_text


def add_env_files(
    environment: Mapping[str, str], files: Mapping[str, Path]
) -> tuple[dict[str, str], tuple[Problem, ...]]:
    """Return the environment with the variables of the files, and what is said of those that lose.

    `files` are paths, by what messages call them.
    A later file wins over an earlier one, and the environment itself over all of them: what somebody sets for
    one command counts more than what a file keeps. Raises NotFound, InputError or DocumentError.
    """
    found: dict[str, str] = {}
    for name, path in files.items():
        found.update(read_dotenv(read_text(path, kind="Env file"), name))
    kept = sorted(name for name, value in found.items() if environment.get(name, value) != value)
    what = f"--env-file: the environment has another value for {', '.join(kept)}, which counts"
    fix = "unset it there to use the value of the file"
    notes = (Problem(what, fix=fix, severity="note"),) if kept else ()
    return {**found, **environment}, notes
