"""Print text and JSON: results on stdout, everything else on stderr."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from amplihack.cli.guard import discard_output, results, say
from amplihack.errors import Location, Problem, Severity
from amplihack.system.colour import use_colours

if TYPE_CHECKING:
    from amplihack.recipes.decode import Decoded

_COLOURS: dict[Severity, str] = {"error": "31", "warning": "33", "note": "36"}
_TAB = "\t"
_WIDEST_LINE = 160  # a longer source line is cut around the caret


def out(text: str = "") -> None:
    """Print a part of the result. If the reader has left, it is discarded."""
    try:
        print(text, file=results())
    except BrokenPipeError:
        discard_output()


def flush_out() -> None:
    """Flush what has been printed so far."""
    try:
        results().flush()
    except BrokenPipeError:
        discard_output()


def err(text: str = "") -> None:
    say(f"{text}\n")


def out_json(value: Any) -> None:
    """Print one JSON document. The outputs in it may be large, so it is never held as a whole."""
    from amplihack.cli.json_document import write_document  # deferred: most commands print no JSON

    try:
        write_document(value, results().write)
    except BrokenPipeError:
        discard_output()


def out_exactly(text: str) -> None:
    """Print a result and nothing else: byte for byte, with a newline at its end as text files have it."""
    if text and not text.endswith("\n"):
        text += "\n"
    try:
        stream = results()
        if isinstance(stream, io.TextIOWrapper):
            stream.flush()
            stream.buffer.write(_as_bytes(text))
        else:
            stream.write(text)
    except BrokenPipeError:
        discard_output()


def _as_bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")  # bytes that were no text are bytes again
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")


class _Colours:
    """Keeps what `--color` says; every command decides it once, before it prints anything."""

    choice = "auto"


def choose_colours(choice: str) -> None:
    """Follow `--color` from now on."""
    _Colours.choice = choice


def paint(text: str, colour: str, stream: TextIO) -> str:
    """Return the text in a colour, if the stream is to have colours."""
    return _painted(text, colour) if _has_colours(stream) else text


def _has_colours(stream: TextIO) -> bool:
    return use_colours(_Colours.choice, os.environ, is_terminal=stream.isatty())


def _painted(text: str, colour: str) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if text else ""


def tell_failure(problems: Sequence[Problem], *, as_json: bool) -> None:
    """Tell why there is no result: on stderr, and where JSON is wanted also as one document on stdout."""
    show_problems(problems)
    if as_json:
        out_json(failure_json(problems))


def failure_json(problems: Sequence[Problem]) -> dict[str, Any]:
    """Return the document of a failure: the first problem as `error`, and all of them."""
    first = problems[0]
    error = {"what": first.what, "where": place(first.where) or None, "fix": first.fix}
    return {"error": error, "problems": [problem_json(problem) for problem in problems]}


def show_problems(problems: Iterable[Problem]) -> None:
    for text in draw_problems(problems, sys.stderr):
        err(text)


def show_dialect(decoded: Decoded, file: str) -> None:
    """Say which dialect a file was read in, where it does not say so itself and it makes a difference."""
    if told := decoded.told_dialect:
        err(printable(f"{file}: {told}", keep=""))


def draw_problems(problems: Iterable[Problem], stream: TextIO) -> Iterator[str]:
    """Yield for each problem what, where, the source line with a caret, and how to fix it."""
    colours = _has_colours(stream)  # asked once: there may be thousands of problems
    return (_drawn(problem, colours=colours) for problem in problems)


def _drawn(problem: Problem, *, colours: bool) -> str:
    head = f"{place(problem.where)}: " if problem.where else ""
    word = "" if problem.severity == "error" else f"{problem.severity}: "
    code = f" [{problem.code}]" if problem.code else ""
    caret, colour = "^", _COLOURS[problem.severity]
    if colours:
        head, word, caret = _painted(head, "1"), _painted(word, colour), _painted(caret, colour)
    lines = [f"{head}{word}{printable(problem.what)}{code}"]
    if problem.where:
        lines += _excerpt(problem.where, caret)
    if problem.fix:
        lines.append(f"  fix: {printable(problem.fix)}")
    return "\n".join(lines)


def place(where: Location | None) -> str:
    """Return `file:line:column` on one line, whatever the file name contains."""
    return printable(str(where), keep="") if where else ""


def _excerpt(where: Location, caret: str) -> list[str]:
    if not where.text.strip():
        return []
    start = max(0, where.column - _WIDEST_LINE // 2) if len(where.text) > _WIDEST_LINE else 0
    text = where.text[start : start + _WIDEST_LINE]
    number = str(where.line)
    # Tabs stay in the line above the caret, so that the caret stands under the same column.
    before = _TAB.join(" " * len(part) for part in text[: where.column - 1 - start].split(_TAB))
    return [
        f"  {number} | {printable(text, keep=_TAB)}",
        f"  {' ' * len(number)} | {before}{caret}",
    ]


def tally(problems: Collection[Problem]) -> str:
    """Return how many problems there are of each severity, such as `1 error, 2 notes`; empty for none."""
    counts = {kind: sum(each.severity == kind for each in problems) for kind in _COLOURS}
    return ", ".join(f"{count} {kind}{'s' if count != 1 else ''}" for kind, count in counts.items() if count)


def problem_json(problem: Problem) -> dict[str, Any]:
    where = problem.where
    return {
        "code": problem.code,
        "severity": problem.severity,
        "message": problem.what,
        "file": where.file if where else None,
        "line": where.line if where else None,
        "column": where.column if where else None,
        "fix": problem.fix,
    }


def printable(text: str, keep: str = "\n\t") -> str:
    """Return the text with escapes for characters that could control a terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else _escape(char) for char in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
