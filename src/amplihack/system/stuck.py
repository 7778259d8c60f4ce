"""Let go of streams that nobody reads any more, when somebody asks a run to end.

Writing to a full pipe waits until its reader goes on, which may be never; until then no signal is heard.
"""

from __future__ import annotations

import os
import select
import signal

_PATIENCE = 1.0  # seconds that a request to end may take to be heard
_STDERR = 2
_STREAMS = {_STDERR: "stderr"}  # by descriptor, what we write to while a run goes on


def add_stream(descriptor: int, name: str) -> None:
    """Let go of this stream, too, until it is removed."""
    _STREAMS[descriptor] = name


def remove_stream(descriptor: int) -> None:
    """Forget a stream that is being closed."""
    _STREAMS.pop(descriptor, None)


def expect_answer(*_signal: object) -> None:
    """Begin to look after streams, as the handler of a signal that the event loop should hear at once."""
    signal.signal(signal.SIGALRM, _let_go)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE, _PATIENCE)


def answered() -> None:
    """Leave the streams alone again: the event loop has heard."""
    signal.setitimer(signal.ITIMER_REAL, 0)


def _let_go(*_signal: object) -> None:
    """Put nowhere in the place of each stream that has no room. The write that waits goes on there."""
    stuck = [descriptor for descriptor in _STREAMS if not _has_room(descriptor)]
    for descriptor in stuck:
        nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(nowhere, descriptor, inheritable=descriptor == _STDERR)
        os.close(nowhere)
    if stuck and _STDERR not in stuck:
        names = " and ".join(_STREAMS[descriptor] for descriptor in stuck)
        os.write(_STDERR, f"warning: nobody reads {names}; the rest is lost\n".encode())


def _has_room(descriptor: int) -> bool:
    look = select.poll()
    look.register(descriptor, select.POLLOUT)
    return bool(look.poll(0))
