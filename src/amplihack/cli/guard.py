"""Turn errors into text and exit codes. It imports little, because every command starts here."""

from __future__ import annotations

import atexit
import io
import os
import sys

TYPE_CHECKING = False  # `typing` itself costs more than all the rest of `--version`
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from amplihack.errors import AmplihackError, Problem

FAILED = 1
INTERRUPTED = 130
OUR_BUG = 70


class _Results:
    """Keeps the stream of results, once it is apart from stdout."""

    stream: TextIO | None = None


def results() -> TextIO:
    """Return the stream that results go to."""
    return _Results.stream or sys.stdout


def keep_results_apart() -> None:
    """Let whatever prints to stdout from now on print to stderr, except for results.

    Modules of bundles run in this process, and what they and their processes print is none of ours.
    """
    if _Results.stream is not None or not _is_descriptor(sys.stdout, 1) or not _is_descriptor(sys.stderr, 2):
        return
    sys.stdout.flush()
    raw = io.FileIO(os.dup(1), "w")
    _Results.stream = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=sys.stdout.encoding,
        errors=sys.stdout.errors,
        line_buffering=raw.isatty(),
    )
    os.dup2(2, 1)


def _is_descriptor(stream: TextIO, number: int) -> bool:
    try:
        return stream.fileno() == number
    except (OSError, ValueError, AttributeError):
        return False


def guarded(command: Callable[[], int], words: Sequence[str]) -> int:
    """Run a command. Errors are explained on stderr and become an exit code.

    `words` are those of the command line; if they ask for JSON, an error is a JSON document, too.
    """
    if not _streams_are_open():
        return _cannot_write("stdout is closed")
    _keep_our_rights()
    code = FAILED
    try:
        code = _code_of(command)
        results().flush()
    except KeyboardInterrupt:
        say("interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        discard_output()  # the reader has left, as in `amplihack … | head`, and changes nothing about the end
        return code
    except Exception as error:  # noqa: BLE001 - what nobody expected is our bug, and says so
        return _explained(error, words)
    return code


def _code_of(command: Callable[[], int]) -> int:
    try:
        return command()
    except SystemExit as ended:  # argparse, after a help page; what it printed may still fail to be written
        return ended.code if isinstance(ended.code, int) else 0


def say(text: str) -> None:
    """Write to stderr. If it cannot be written to, the result still matters, so the text is discarded."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - stays open as long as the process runs


def _streams_are_open() -> bool:
    """Return False without stdout. Replace a missing stdin or stderr, before a file takes its number."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: PTH123, SIM115 - stays open as long as the process runs
    if sys.stdout is None:
        return False
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        _buffer_output(sys.stdout)
        sys.stdout.reconfigure(errors="backslashreplace")  # file names may hold anything
    return True


def _keep_our_rights() -> None:
    """Let no umask take our own rights to what we make: we could not even remove it."""
    mask = os.umask(0o077)
    os.umask(mask & 0o077)
    if mask & 0o700:
        used = f"{mask & 0o077:04o}"
        say(f"warning: the umask {mask:04o} would keep you out of what you make; {used} is used\n")


def _buffer_output(stdout: io.TextIOWrapper) -> None:
    """Put a buffer behind an unbuffered stdout, as PYTHONUNBUFFERED makes it; each line still goes at once.

    Python loses the rest of a text if a signal arrives while it is written without a buffer.
    """
    if isinstance(stdout.buffer, io.FileIO):
        raw = io.FileIO(stdout.fileno(), "w", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), encoding=stdout.encoding, errors=stdout.errors, line_buffering=True
        )


def _explained(error: Exception, words: Sequence[str]) -> int:
    from amplihack.errors import AmplihackError, InputError  # deferred: most commands end without an error

    if isinstance(error, AmplihackError):
        return _explain(error, words)
    if isinstance(error, OSError) and _is_about_output(error):
        discard_output()
        return _cannot_write(error.strerror)
    if isinstance(error, OSError) and _is_no_path(error):
        refused = InputError(f"{_short(error.filename)}: {error.strerror}", fix="check this path")
        return _explain(refused, words)
    if isinstance(error, OSError) and _is_about_descriptors(error):
        few = AmplihackError("too many files are open", fix="allow more: `ulimit -n 256`")
        return _explain(few, words)
    if isinstance(error, MemoryError):
        few = AmplihackError("there is not enough memory", fix="work with less at a time, or allow more")
        return _explain(few, words)
    return _our_bug(error, words)


def _is_no_path(error: OSError) -> bool:
    """Tell whether the system refused a name as such, or us: it comes from outside, wherever it was used."""
    import errno

    names = (errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR)
    return error.filename is not None and error.errno in (*names, errno.EACCES, errno.EPERM)


def _is_about_descriptors(error: OSError) -> bool:
    import errno

    return error.errno in (errno.EMFILE, errno.ENFILE)


def _short(name: object) -> str:
    text = os.fsdecode(name) if isinstance(name, bytes) else str(name)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _explain(error: AmplihackError, words: Sequence[str]) -> int:
    from amplihack.cli.asked import wanted_colour
    from amplihack.cli.show import choose_colours

    choose_colours(wanted_colour(words))
    _tell(error.problems, words)
    return error.exit_code


def _tell(problems: tuple[Problem, ...], words: Sequence[str]) -> None:
    """Tell what went wrong. If the JSON document of it cannot be written, the lines on stderr have to do."""
    from amplihack.cli.asked import wants_json
    from amplihack.cli.show import tell_failure

    try:
        tell_failure(problems, as_json=wants_json(words))
        results().flush()
    except OSError as error:
        discard_output()
        if not isinstance(error, BrokenPipeError):
            _cannot_write(error.strerror)


def _is_about_output(error: OSError) -> bool:
    """Tell a failed write to stdout from a failure of a named file, which is explained elsewhere."""
    import errno

    return error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _cannot_write(why: str | None) -> int:
    if sys.stderr is not None:
        say(f"the result cannot be written: {why}\n  fix: send it to a file or a terminal with room for it\n")
    return FAILED


def discard_output() -> None:
    """Discard buffered output, so that the end of the process does not try to write it again."""
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - only its descriptor is wanted
        os.dup2(nowhere.fileno(), results().fileno())


def _our_bug(error: Exception, words: Sequence[str]) -> int:
    import traceback  # deferred: nobody should need it

    from amplihack.errors import Problem
    from amplihack.version import __version__

    say("".join(traceback.format_exception(error)) + "\n")
    what = f"amplihack {__version__} has a bug: the error above is not your fault."
    fix = "please report it, with the lines above and the command that you ran"
    _tell((Problem(what, fix=fix),), words)
    return OUR_BUG


def leave(code: int) -> int:
    """End this process, which is ours alone, with that code; return it where threads are still at work.

    Taking every module apart, as Python does at its end, costs a fifth of a short command and helps nobody:
    files are closed and memory is given back anyway. Functions registered with `atexit` are called. Once the
    kernel of sessions is loaded, Python's own end may crash, so that nothing waits for threads.
    """
    threading = sys.modules.get("threading")
    if "amplifier_core" not in sys.modules and threading is not None and threading.active_count() > 1:
        return code
    atexit._run_exitfuncs()
    for stream in filter(None, (_Results.stream, sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue  # nobody is left to be told
    os._exit(code)
