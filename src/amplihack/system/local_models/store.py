"""Say which models are here, and remove them. Weights lie in `models/` of the home directory."""

from __future__ import annotations

from pathlib import Path

from amplihack.errors import NotFound
from amplihack.system.home import Home
from amplihack.system.local_models.catalogue import CATALOGUE, LocalModel
from amplihack.system.local_models.checked import note_of

_PARTIAL = ".partial"
_WHEELS = ".wheels"


def models_folder(home: Home) -> Path:
    return home.root / "models"


def weights_of(home: Home, model: LocalModel) -> Path:
    """Return where the weights lie, or would."""
    return models_folder(home) / model.file_name


def partial_of(home: Home, model: LocalModel) -> Path:
    """Return where the weights lie until they are complete and checked."""
    return models_folder(home) / f"{model.file_name}{_PARTIAL}"


def wheels_of(home: Home, model: LocalModel) -> Path:
    return models_folder(home) / f"{model.file_name}{_WHEELS}"


def is_here(home: Home, model: LocalModel) -> bool:
    """Tell whether the weights are here. They get their name only once they were checked."""
    try:
        return weights_of(home, model).stat().st_size == model.size
    except OSError:
        return False


def fetched_bytes(home: Home, model: LocalModel) -> int:
    """Return how much of the weights is here: all, nothing, or what a cut-off fetch left."""
    for path in (weights_of(home, model), partial_of(home, model)):
        if path.is_file():
            return path.stat().st_size
    return 0


def remove(home: Home, model: LocalModel) -> int:
    """Remove the weights and what a fetch left, and return how many bytes that were. Raises NotFound."""
    from amplihack.system.files import remove_tree  # deferred: listing needs none of it

    size = 0
    for path in (weights_of(home, model), partial_of(home, model)):
        if path.is_file():
            size += path.stat().st_size
            path.unlink()
    remove_tree(wheels_of(home, model))
    note_of(weights_of(home, model)).unlink(missing_ok=True)
    if not size:
        raise NotFound(f"the model {model.name} is not here", fix="`amplihack model list` shows what is")
    return size


def models_here(home: Home) -> list[LocalModel]:
    return [model for model in CATALOGUE.values() if is_here(home, model)]
