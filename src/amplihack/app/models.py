"""List, fetch and remove the models that run in this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from amplihack.records import Record
from amplihack.system.home import Home
from amplihack.system.local_models import store
from amplihack.system.local_models.catalogue import CATALOGUE, model_called
from amplihack.system.local_models.fetching import OnProgress, fetch_weights


class ModelRow(Record, kw_only=True):
    """A model as `model list` shows it."""

    name: str
    here: bool
    bytes: int
    fetched_bytes: int
    memory_bytes: int
    licence: str
    summary: str
    path: str


def list_models(home: Home) -> list[ModelRow]:
    return [
        ModelRow(
            name=model.name,
            here=store.is_here(home, model),
            bytes=model.size,
            fetched_bytes=store.fetched_bytes(home, model),
            memory_bytes=model.memory,
            licence=model.licence,
            summary=model.summary,
            path=str(store.weights_of(home, model)),
        )
        for model in CATALOGUE.values()
    ]


async def pull_model(
    home: Home, name: str, environment: Mapping[str, str], on_progress: OnProgress
) -> tuple[Path, bool]:
    """Return where the weights are, and whether they had to be fetched. Raises NotFound or WeightsError."""
    model = model_called(name)
    is_new = await fetch_weights(home, model, environment, on_progress)
    return store.weights_of(home, model), is_new


def remove_model(home: Home, name: str) -> int:
    """Remove a model and return how many bytes that were. Raises NotFound."""
    return store.remove(home, model_called(name))
