"""Say how much memory is left: of the machine, in the container, and within the limits of this process."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

ADDRESSES = 250_000_000  # bytes of addresses beside the memory of a model: its engine, threads and their room


def available_memory(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """Return how many bytes can be used without swapping; None where nobody can tell."""
    try:
        for line in meminfo.read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def room_in_limits(statm: Path = Path("/proc/self/statm")) -> int | None:
    """Return how many bytes `ulimit -v` and `ulimit -d` leave this process; None if there are none."""
    try:
        pages = [int(each) for each in statm.read_text("ascii").split()]
    except (OSError, ValueError):
        return None
    rooms = []
    for limit, used in ((resource.RLIMIT_AS, pages[0]), (resource.RLIMIT_DATA, pages[5])):
        most = resource.getrlimit(limit)[0]
        if most != resource.RLIM_INFINITY:
            rooms.append(most - used * resource.getpagesize())
    return min(rooms, default=None)


def room_in_container(
    groups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")
) -> int | None:
    """Return how many bytes the limits of the container leave; None if there are none."""
    try:
        lines = own.read_text("utf-8").splitlines()
    except OSError:  # no such kernel
        return None
    rooms = (_room_in_group(group) for line in lines for group in _groups(groups, line))
    return min((room for room in rooms if room is not None), default=None)


def _groups(root: Path, line: str) -> Iterator[Path]:
    """Yield the group of a line of /proc/self/cgroup and those around it. Both kinds of groups are known."""
    _, _, rest = line.partition(":")
    controllers, _, path = rest.partition(":")
    if controllers and "memory" not in controllers.split(","):
        return
    top = root / "memory" if controllers else root
    inner = top / path.lstrip("/")
    if ".." in inner.parts:  # a group that cannot be seen from here
        inner = top
    while inner != top:
        yield inner
        inner = inner.parent
    yield top


def _room_in_group(group: Path) -> int | None:
    """Return what the limit of a group leaves, with the files that it can drop; None without a limit."""
    for most, used, dropped in _NAMES:
        try:
            limit, in_use = ((group / name).read_text("ascii").strip() for name in (most, used))
            stat = dict(line.split() for line in (group / "memory.stat").read_text("ascii").splitlines())
            if limit == "max" or int(limit) >= _UNLIMITED:
                return None
            return int(limit) - int(in_use) + int(stat.get(dropped, 0))
        except (OSError, ValueError):  # of the other kind, or the outermost group, which has no limit
            continue
    return None


_UNLIMITED = 1 << 60  # the older kind of groups has no word for it
_NAMES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
