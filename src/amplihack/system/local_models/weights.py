"""Choose the weights to load, and say whether the machine can hold them."""

from __future__ import annotations

import os
from pathlib import Path

from amplihack.errors import InputError, NotFound, NothingToUse
from amplihack.records import Record
from amplihack.system.home import Home
from amplihack.system.local_models.catalogue import CATALOGUE, model_called
from amplihack.system.local_models.store import is_here, models_here, weights_of

_OVERHEAD = 1.3  # how much more memory a file takes than its size


class LoadedFile(Record, kw_only=True):
    """Weights that can be loaded."""

    name: str
    path: Path
    memory: int


def chosen_weights(home: Home, wanted: str) -> LoadedFile:
    """Return the weights of a model by name or path; of the largest that is here if none is wanted.

    Raises NotFound or NothingToUse.
    """
    if not wanted:
        here = models_here(home)
        if not here:
            raise NothingToUse("there is no local model", fix=f"amplihack model pull {next(iter(CATALOGUE))}")
        wanted = max(here, key=lambda model: model.size).name
    if wanted.endswith(".gguf") or "/" in wanted:
        return _from_file(home.path(wanted))
    model = model_called(wanted)
    if not is_here(home, model):
        raise NothingToUse(f"the model {model.name} is not here", fix=f"amplihack model pull {model.name}")
    return LoadedFile(name=model.name, path=weights_of(home, model), memory=model.memory)


def _from_file(path: Path) -> LoadedFile:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            is_weights = file.read(4) == b"GGUF"
    except OSError as error:
        raise NotFound(f"cannot read {path}: {error.strerror}", fix="give the path of a GGUF file") from error
    if not is_weights:
        raise InputError(f"{path} is no GGUF file", fix="give the path of a GGUF file")
    return LoadedFile(name=path.stem, path=path, memory=int(size * _OVERHEAD))


def require_memory(weights: LoadedFile) -> None:
    """Raise InputError when the machine has too little memory left for the weights."""
    known = [room for room in (available_memory(), room_in_container()) if room is not None]
    free = min(known, default=None)
    if free is not None and free < weights.memory:
        needed = weights.memory / 1e9
        raise InputError(
            f"{weights.name} needs about {needed:.1f} GB of memory, and {free / 1e9:.1f} GB are free",
            fix="close other programs, or use a smaller model",
        )


def available_memory(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """Return how many bytes can be used without swapping; None where nobody can tell."""
    try:
        for line in meminfo.read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def room_in_container(
    groups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")
) -> int | None:
    """Return how many bytes the limits of the container leave; None if there are none."""
    try:
        (path,) = (line[3:] for line in own.read_text("utf-8").splitlines() if line.startswith("0::"))
    except (OSError, ValueError):  # no such kernel, or its older kind of groups
        return None
    inner = groups / path.lstrip("/")
    above = [inner, *inner.parents]
    rooms = map(_room_in_group, above[: above.index(groups) + 1])
    return min((room for room in rooms if room is not None), default=None)


def _room_in_group(group: Path) -> int | None:
    try:
        most, used = ((group / f"memory.{name}").read_text("ascii").strip() for name in ("max", "current"))
        stat = dict(line.split() for line in (group / "memory.stat").read_text("ascii").splitlines())
        return None if most == "max" else int(most) - int(used) + int(stat.get("inactive_file", 0))
    except (OSError, ValueError):  # the outermost group has no limit
        return None


def usual_threads() -> int:
    """Return one less than the cores that we may use: a second busy program would slow all of them down."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable - 1)
