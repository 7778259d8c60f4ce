"""Choose the weights to load, and say whether the machine can hold them."""

from __future__ import annotations

import os
from pathlib import Path

from amplihack.errors import InputError, NotFound, NothingToUse
from amplihack.records import Record
from amplihack.system.home import Home
from amplihack.system.local_models.catalogue import CATALOGUE, model_called
from amplihack.system.local_models.checked import are_pinned
from amplihack.system.local_models.memory import (
    ADDRESSES,
    available_memory,
    room_in_container,
    room_in_limits,
)
from amplihack.system.local_models.store import is_here, models_here, weights_of

_OVERHEAD = 1.3  # how much more memory a file takes than its size


class LoadedFile(Record, kw_only=True):
    """Weights that can be loaded. Those of a file of the user's own have no hash that they must have."""

    name: str
    path: Path
    memory: int
    sha256: str = ""


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
    path = weights_of(home, model)
    return LoadedFile(name=model.name, path=path, memory=model.memory, sha256=model.sha256)


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


def require_pinned(weights: LoadedFile) -> None:
    """Raise InputError when a file of ours is not what was fetched: a disk or a hand has changed it."""
    try:
        if not weights.sha256 or are_pinned(weights.path, weights.sha256):
            return
    except OSError as error:
        what = f"cannot read {weights.path}: {error.strerror}"
        raise InputError(what, fix="check its permissions and those of its directory") from error
    raise InputError(
        f"{weights.path} is not the model {weights.name} that was fetched: its sha256 is another one",
        fix=f"`amplihack model pull {weights.name}` fetches it again; another model goes by its path",
    )


def require_memory(weights: LoadedFile) -> None:
    """Raise InputError when machine, container or limits leave too little memory for the weights."""
    for place, room, needed in (
        ("are free", available_memory(), weights.memory),
        ("are left in this container", room_in_container(), weights.memory),
        ("are left within the limit of this process (ulimit)", room_in_limits(), weights.memory + ADDRESSES),
    ):
        if room is not None and room < needed:
            raise InputError(
                f"{weights.name} needs about {_gb(needed)} of memory, and {_gb(room)} {place}",
                fix="close other programs, raise the limit, or use a smaller model",
            )


def _gb(size: int) -> str:
    return f"{max(0, size) / 1e9:.1f} GB"


def usual_threads() -> int:
    """Return one less than the cores that we may use: a second busy program would slow all of them down."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable - 1)
