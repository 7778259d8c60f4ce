"""Run a program in our place: it has our terminal, gets our signals, and its end is ours."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from amplihack.errors import AmplihackError

# Ctrl-Z, and the size of the window, reach the program by itself: it is in the same group as we are.
_PASSED_ON = frozenset(
    {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}
)
_BY_KEY = (signal.SIGINT, signal.SIGQUIT)  # which the terminal sends to the whole group
_FROM_KERNEL = 0x80  # SI_KERNEL: what the terminal sends, nobody's `kill`
_UNSET_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores these, and programs expect them


def run_in_foreground(
    argv: Sequence[str], environment: Mapping[str, str], *, all_to_stderr: bool = False
) -> int:
    """Run a program to its end and return its exit code; 128 and the number if a signal ended it.

    With `all_to_stderr` nothing of it is on our stdout. Raises AmplihackError if it cannot be started.
    """
    streams = [(os.POSIX_SPAWN_DUP2, 2, 1)] if all_to_stderr else []
    with _waiting_for_signals() as mask:
        try:
            child = os.posix_spawnp(
                argv[0],
                list(argv),
                dict(environment),
                file_actions=streams,
                setsigmask=mask,
                setsigdef=_UNSET_BY_PYTHON,
            )
        except OSError as error:
            what = f"{argv[0]} cannot be started: {error.strerror}"
            raise AmplihackError(what, fix="check that it is a program, and that you may run it") from error
        return _until_its_end(child)


@contextmanager
def _waiting_for_signals() -> Iterator[set[signal.Signals | int]]:
    """Let signals wait until we ask for them; gives the mask that was there before."""
    # Without a handler, some systems forget that a child has ended.
    handler = signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON | {signal.SIGCHLD})
    try:
        yield mask
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGCHLD, handler)


def _until_its_end(child: int) -> int:
    while True:
        number, by_key = _next_signal()
        if number == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended == child:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
        elif not by_key:
            os.kill(child, number)


def _next_signal() -> tuple[int, bool]:
    """Return the next signal, and whether the terminal sent it: then the program has got it already."""
    waited = _PASSED_ON | {signal.SIGCHLD}
    if hasattr(signal, "sigwaitinfo"):
        info = signal.sigwaitinfo(waited)
        return info.si_signo, info.si_code == _FROM_KERNEL
    number = signal.sigwait(waited)  # macOS does not say who sent it
    return number, number in _BY_KEY and _has_terminal()


def _has_terminal() -> bool:
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False
