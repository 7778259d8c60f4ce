"""Processes that try to get away from their step, each in its own way. As a program, it is one of them.

    python strays.py PLACE KIND

It writes its id and its start to the file KIND in PLACE, and stays.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

_NAME, _DUMPABLE = 15, 4  # PR_SET_NAME, PR_SET_DUMPABLE
_STAYS = "stay:"  # before the kind of one that has lost its environment on the way


def main(place: Path, kind: str) -> None:
    if kind.startswith(_STAYS):
        stay(place, kind.removeprefix(_STAYS))
    for change in KINDS[kind]:
        change()
    stay(place, kind)


def stay(place: Path, kind: str) -> None:
    if kind in ("bare", "all"):
        for change in LATE[kind]:
            change()
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    note = place / f".{kind}"
    note.write_text(f"{os.getpid()} {fields[19]}")
    note.rename(place / kind)
    if kind in ("elsewhere", "all"):
        go_elsewhere()
    while True:
        time.sleep(60)


def fork_off() -> None:
    if os.fork():
        os._exit(0)


def lead_group() -> None:
    fork_off()
    os.setpgid(0, 0)


def detach() -> None:
    fork_off()
    os.setsid()
    fork_off()


def lose_environment() -> None:
    place, kind = sys.argv[1:]
    words = [sys.executable, __file__, place, f"{_STAYS}{kind}"]
    os.execve(sys.executable, words, {})  # noqa: S606 - ourselves


def hide() -> None:
    import ctypes

    ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)


def rename() -> None:
    import ctypes

    ctypes.CDLL(None).prctl(_NAME, b"kworker/0:1", 0, 0, 0)


def close_all() -> None:
    os.closerange(0, 4096)


def be_deaf() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)


def go_elsewhere() -> None:
    os.chdir("/")
    if os.getuid() == 0:
        os.chroot("/proc")


KINDS: dict[str, tuple[Callable[[], object], ...]] = {
    "plain": (),
    "session": (fork_off, os.setsid),
    "detached": (detach,),
    "orphan": (fork_off,),
    "bare": (detach, lose_environment),
    "hidden": (detach, hide),
    "group": (lead_group,),
    "closed": (detach, close_all),
    "elsewhere": (detach,),
    "renamed": (detach, rename),
    "deaf": (detach, be_deaf),
    "all": (detach, lose_environment),
}
LATE: dict[str, tuple[Callable[[], object], ...]] = {
    "bare": (),
    "all": (detach, hide, rename, close_all, be_deaf),
}
IN_BASH = {  # what bash itself has for it
    "nohup": "nohup {} >/dev/null 2>&1 &",
    "disowned": "{} & disown -a",
    "coproc": "coproc {{ {}; }}",
    "jobs": "set -m; {} & set +m",
    "subshell": "( ( {} & ) & )",
    "bare-setsid": "(setsid env -i {} >/dev/null 2>&1 &)",
}


def script(place: Path) -> str:
    """A bash script that starts one of each kind and waits until all are there."""

    def start(kind: str) -> str:
        return f"'{sys.executable}' '{__file__}' '{place}' {kind}"

    lines = [f"{start(kind)} &" for kind in KINDS]
    for name, form in IN_BASH.items():
        line = form.format(f"'{sys.executable}' '{__file__}' '{place}' {_STAYS}{name}")
        lines.append(f"{line} # {name}")
    wait = f"until [ $(ls '{place}' | wc -l) = {len(KINDS) + len(IN_BASH)} ]; do sleep 0.02; done"
    return "\n".join(["set +e", *lines, wait])


def alive(place: Path) -> set[str]:
    """The kinds that still live."""
    found = set()
    for note in place.iterdir():
        pid, started = note.read_text().split()
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if fields[19] == started and fields[0] not in "ZX":
            found.add(note.name)
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
