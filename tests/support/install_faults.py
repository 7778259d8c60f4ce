"""Try an install with a fault at every file operation, and look at what is left.

It runs as a program of its own: `python -m tests.support.install_faults WHERE STRIDE kill|ENOSPC|… WORD …`.
The process has loaded everything, and each try is a fork of it. `WHERE/start` is the home to start from.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

_CHANGES = ("open", "os.", "shutil.")


class _Fault:
    """Counts the file operations of a process, and strikes at one of them."""

    def __init__(self, at: int, kind: str, root: Path) -> None:
        self.at, self.kind, self.root, self.count = at, kind, str(root), 0

    def hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not event.startswith(_CHANGES) or event in ("os.listdir", "os.scandir", "os.fork"):
            return
        if event == "open" and not self._is_about_home(args):
            return
        self.count += 1
        if self.count == self.at:
            self.strike()

    def _is_about_home(self, args: tuple[Any, ...]) -> bool:
        writes = isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        return bool(writes) or str(args[0]).startswith(self.root)

    def strike(self) -> None:
        if self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        number = getattr(errno, self.kind)
        raise OSError(number, os.strerror(number), self.root)


def in_child(work: Callable[[], int]) -> int:
    """Return the exit code of the work in a fork of this process; minus the number of a signal."""
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            with open(os.devnull, "w") as nowhere:  # noqa: PTH123
                os.dup2(nowhere.fileno(), 1)
            code = work()
        finally:
            sys.stderr.flush()
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    return os.waitstatus_to_exitcode(status)


def tree(home: Path) -> dict[str, bytes] | None:
    """Return what is staged, or None if nothing is."""
    bundle = home / ".amplihack" / "amplifier-bundle"
    if not bundle.is_dir():
        return None
    return {
        str(file.relative_to(bundle)): file.read_bytes()
        for file in sorted(bundle.rglob("*"))
        if file.is_file()
    }


def _nothing(fd: object) -> None:
    pass


def everything(home: Path) -> list[str]:
    return sorted(str(path.relative_to(home)) for path in home.rglob("*"))


def try_all(where: Path, stride: int, kind: str, words: list[str]) -> dict[str, int]:
    """Strike at every so many operations, until a command ends without being struck."""
    from amplihack.cli.main import main

    os.fsync = _nothing  # a killed process loses nothing that it wrote; only a power cut would
    start, home = where / "start", where / "struck home"
    before = tree(start)
    os.environ["HOME"] = str(where / "warm home")
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):  # noqa: PTH123
        main(words)  # now everything is loaded
        main(["recipe", "list"])
    os.environ["HOME"] = str(home)
    shutil.copytree(start, home, symlinks=True)
    assert in_child(lambda: main(words)) == 0
    after = tree(home)
    # What was interrupted is completed by the next start; an uninstall by doing it again.
    again = words if words[0] == "uninstall" else ["recipe", "list"]
    gone = everything(home)
    seen = {"points": 0, "old": 0, "new": 0}
    struck = where / "struck"
    while True:
        shutil.rmtree(home)
        shutil.copytree(start, home, symlinks=True)
        struck.unlink(missing_ok=True)
        point = seen["points"] * stride + 1
        code = in_child(lambda point=point: struck_main(point, kind, home, words, struck))  # type: ignore[misc]
        left = tree(home)
        assert left in (before, after), f"mixed after point {point}: {left}"
        seen["old" if left == before else "new"] += 1
        if kind != "kill":
            assert code in (0, 1, 3), f"exit {code} at point {point}"
        assert in_child(lambda: main(again)) == 0, f"not healed after point {point}"
        # A rollback that was struck may not have happened; an install always happens in the end.
        good = (before, after) if "--rollback" in words else (after,)
        assert tree(home) in good, f"healed to something else after point {point}"
        left_over = [path.name for path in (home / ".amplihack" / "generations").glob(".*")]
        assert not left_over, f"left over after {point}: {left_over}"
        if words[0] == "uninstall":
            assert everything(home) == gone, f"not all is gone after point {point}"
        if not struck.exists():
            return seen
        seen["points"] += 1


def struck_main(point: int, kind: str, home: Path, words: list[str], struck: Path) -> int:
    from amplihack.cli.main import main

    fault = _Fault(point, kind, home)
    strike = fault.strike

    def told_strike() -> None:
        os.close(os.open(struck, os.O_WRONLY | os.O_CREAT))
        strike()

    fault.strike = told_strike  # type: ignore[method-assign]
    sys.addaudithook(fault.hook)
    return main(words)


if __name__ == "__main__":
    sys.stdout.write(
        json.dumps(try_all(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])) + "\n"
    )
