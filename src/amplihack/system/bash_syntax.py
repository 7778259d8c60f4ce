"""Ask bash whether scripts are right by its grammar, without running anything."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from amplihack.patterns import pattern
from amplihack.recipes.check.bash_port import SyntaxFault
from amplihack.system.bash_program import BASH

_TIMEOUT = 30.0
_ENVIRONMENT = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}  # no BASH_ENV, no options from outside
_SAID = pattern(r"line ([0-9]+): (.*)")
_HEREDOC = pattern(r"(?<!<)<<(?!<)-?[ \t]*(?:\\|(['\"]))?([A-Za-z0-9_.-]+)")
_EXTGLOB = pattern(r"extglob|BASH_ENV|BASHOPTS|\bsource\b|\beval\b|(?:^|[\s;&|(])\.[ \t]", re.MULTILINE)
# A quote or a backtick that a script leaves open would hide the scripts after it. This line is right only if
# none is open: otherwise it closes the open one, and the bracket behind it is an error.
_GUARD = """: ") ;;" ') ;;' '`) ;;`'\n"""
_NEEDS_EXTGLOB = "it is right only with `shopt -s extglob`, which has to stand on a line before"


def syntax_faults(scripts: Sequence[str]) -> Mapping[int, SyntaxFault]:
    """Return what is wrong with the scripts, by their position.

    One bash reads all scripts, each as the body of a function. Only if that fails, or where a script could
    hide those after it, each is read alone: so no fault comes from its neighbours.
    """
    together = [number for number, script in enumerate(scripts) if _closes_heredocs(script)]
    joined = "".join(f"f() {{ :\n{scripts[number]}\n\n}}\n{_GUARD}" for number in together)
    alone: Sequence[int] = range(len(scripts))
    if together and _read(joined) == (0, ""):
        alone = sorted(set(alone) - set(together))
    found = ((number, _fault(scripts[number])) for number in alone)
    return {number: fault for number, fault in found if fault}


def _fault(script: str) -> SyntaxFault | None:
    code, said = _read(script)
    if code == 0:
        return next(_faults(said, script, certain=False), None)
    if _read(script, "-O", "extglob")[0] == 0:
        if _EXTGLOB.search(script):
            return None
        first = next(_faults(said, script, certain=True), None)
        return SyntaxFault(first.line, f"{first.what}; {_NEEDS_EXTGLOB}", certain=True) if first else None
    return next(_faults(said, script, certain=True), None)


def _faults(said: str, script: str, *, certain: bool) -> Iterator[SyntaxFault]:
    """Yield what bash says, without what only repeats the line."""
    lines = script.count("\n") + 1
    for found in _SAID.finditer(said):
        yield SyntaxFault(min(int(found.group(1)), lines), found.group(2), certain)


def _closes_heredocs(script: str) -> bool:
    """Tell whether every delimiter of a heredoc is there as a line; if in doubt, not."""
    if "<<" not in script:
        return True
    lines = Counter(line.strip("\t") for line in script.split("\n"))
    words = Counter(found.group(2) for found in _HEREDOC.finditer(script))
    operators = script.count("<<") - script.count("<<<")
    return operators <= words.total() and words <= lines


def _read(script: str, *options: str) -> tuple[int, str]:
    """Return the exit code of bash and what it says; where there is no bash, nothing, as a run will tell."""
    try:
        done = subprocess.run(  # noqa: S603 - with -n bash runs nothing of it
            (BASH, *options, "-n"),
            input=script.encode("utf-8", "surrogateescape"),
            env=_ENVIRONMENT,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0, ""
    return done.returncode, done.stderr.decode("utf-8", "replace")
