"""Add the variables of `--env-file` to an environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from amplihack.documents import MAX_BYTES
from amplihack.documents.dotenv import Reference, read_dotenv
from amplihack.errors import Location, Problem
from amplihack.system.given_files import given_text


def add_env_files(
    environment: Mapping[str, str], files: Mapping[str, Path]
) -> tuple[dict[str, str], tuple[Problem, ...]]:
    """Return the environment with the variables of the files, and what is said of those that lose.

    `files` are paths, by what messages call them.
    A later file wins over an earlier one, and the environment itself over all of them: what somebody sets for
    one command counts more than what a file keeps. Raises NotFound, InputError or DocumentError.
    """
    found: dict[str, str] = {}
    notes: list[Problem] = []
    for name, path in files.items():
        file = read_dotenv(given_text(path, limit=MAX_BYTES, kind="Env file"), name)
        notes += (_repeated(name, variable, line) for variable, line in file.repeated.items())
        notes += _replaced(name, found, file.values)
        found.update(file.values)
        notes += (
            _literal(name, each)
            for each in file.references
            if each.variable not in environment
            and (each.in_braces or each.name in found or each.name in environment)
        )
    notes += _kept(environment, found)
    return {**found, **environment}, tuple(notes)


def _repeated(file: str, variable: str, line: int) -> Problem:
    what = f"{variable} has another value before, which is lost: this one counts"
    return Problem(what, Location(file, line, 1), "remove one of the two", "warning")


def _literal(file: str, reference: Reference) -> Problem:
    # A name in braces may be a piece of a password; one without them is that of a variable that exists.
    written = "${…}" if reference.in_braces else f"${reference.name}"
    what = f"{written} stays in {reference.variable} as it is: nothing in an env file is filled in"
    fix = "write the value itself; single quotes around it say that it is meant so"
    return Problem(what, Location(file, reference.line, 1), fix, "warning")


def _replaced(file: str, before: Mapping[str, str], values: Mapping[str, str]) -> Iterator[Problem]:
    names = sorted(name for name, value in values.items() if before.get(name, value) != value)
    if names:
        what = f"--env-file: {file} replaces {', '.join(names)} of an earlier file"
        yield Problem(what, fix="name the file that should win last", severity="note")


def _kept(environment: Mapping[str, str], found: Mapping[str, str]) -> Iterator[Problem]:
    names = sorted(name for name, value in found.items() if environment.get(name, value) != value)
    if names:
        what = f"--env-file: the environment has another value for {', '.join(names)}, which counts"
        yield Problem(what, fix="unset it there to use the value of the file", severity="note")
