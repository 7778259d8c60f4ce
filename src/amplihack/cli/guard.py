"""Turn errors into text and exit codes. It imports little, because every command starts here."""

from __future__ import annotations

import atexit
import io
import os
import sys

TYPE_CHECKING = False  # `typing` itself costs more than all the rest of `--version`
if TYPE_CHECKING:
    from collections.abc import Callable

    from amplihack.errors import AmplihackError

FAILED = 1
INTERRUPTED = 130
OUR_BUG = 70


def guarded(command: Callable[[], int]) -> int:
    """Run a command. Errors are explained on stderr and become an exit code."""
    if not _streams_are_open():
        return _cannot_write("stdout is closed")
    code = FAILED
    try:
        code = command()
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        discard_output()  # the reader has left, as in `amplihack … | head`, and changes nothing about the end
        return code
    except Exception as error:  # noqa: BLE001 - what nobody expected is our bug, and says so
        return _explained(error)
    return code


def _streams_are_open() -> bool:
    """Return False without stdout. Replace a missing stdin or stderr, before a file takes its number."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: PTH123, SIM115 - stays open as long as the process runs
    if sys.stdout is None:
        return False
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # file names may hold anything
    return True


def _explained(error: Exception) -> int:
    from amplihack.errors import AmplihackError  # deferred: most commands end without an error

    if isinstance(error, AmplihackError):
        return _explain(error)
    if isinstance(error, OSError) and _is_about_output(error):
        discard_output()
        return _cannot_write(error.strerror)
    return _our_bug(error)


def _explain(error: AmplihackError) -> int:
    from amplihack.cli.show import show_problems

    show_problems(error.problems)
    return error.exit_code


def _is_about_output(error: OSError) -> bool:
    """Tell a failed write to stdout from a failure of a named file, which is explained elsewhere."""
    import errno

    return error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _cannot_write(why: str | None) -> int:
    if sys.stderr is not None:
        sys.stderr.write(
            f"the result cannot be written: {why}\n  fix: send it to a file or a terminal with room for it\n"
        )
    return FAILED


def discard_output() -> None:
    """Discard buffered output, so that the end of the process does not try to write it again."""
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - only its descriptor is wanted
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _our_bug(error: Exception) -> int:
    import traceback  # deferred: nobody should need it

    from amplihack.version import __version__

    traceback.print_exception(error)
    sys.stderr.write(
        f"\namplihack {__version__} has a bug: the error above is not your fault.\n"
        "  fix: please report it, with the lines above and the command that you ran\n"
    )
    return OUR_BUG


def leave(code: int) -> int:
    """End this process, which is ours alone, with that code; return it where threads are still at work.

    Taking every module apart, as Python does at its end, costs a fifth of a short command and helps nobody:
    files are closed and memory is given back anyway. Functions registered with `atexit` are called.
    """
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        return code
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue  # nobody is left to be told
    os._exit(code)
