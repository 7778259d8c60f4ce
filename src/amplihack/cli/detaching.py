"""Go on in the background: the command returns when its run has begun, or says why it has not."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from amplihack.cli.show import err, out, out_json
from amplihack.system.parent_death import die_with, live_on

if TYPE_CHECKING:
    from amplihack.system.run_store.new_runs import NewRuns


def detached(work: Callable[[Callable[[str], None]], int], store: NewRuns, *, as_json: bool) -> int:
    """Do the work in a process of its own, which no terminal can end, and print the id of its run.

    The work gets what to call when its run is kept. From then on, what it prints goes to the log of the run;
    until then, the terminal hears what is wrong, and it ends with us: a run that begins after we were killed
    would be one that nobody knows of, beside the one that is started in its place.
    """
    reading, writing = os.pipe()
    starter = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        os.close(writing)
        return _told(child, reading, as_json=as_json)
    os.close(reading)
    die_with(starter)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)

    def begun(run_id: str) -> None:
        from amplihack.system.run_store.new_runs import log_file  # deferred: `sqlite3` is slow to load

        live_on()
        log = log_file(store, run_id)
        sys.stdout.flush()
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        os.write(writing, run_id.encode())
        os.close(writing)

    return work(begun)


def _told(child: int, reading: int, *, as_json: bool) -> int:
    word = b""
    while part := os.read(reading, 4096):
        word += part
    os.close(reading)
    if not word:  # it has said why
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    run_id = word.decode()
    out_json({"run_id": run_id}) if as_json else out(run_id)
    err(f"`amplihack runs tail {run_id}` follows it")
    return 0
