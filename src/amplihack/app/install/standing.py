"""Tell what is staged, in a few words for programs."""

from __future__ import annotations

from pathlib import Path

from amplihack.records import Record
from amplihack.system.generations import Generations
from amplihack.system.healed import own_bundle
from amplihack.system.install_stamp import read_stamp


class StagedState(Record, kw_only=True):
    """What is staged under a home root; None where there is nothing, or nobody can tell."""

    home_root: str
    staged_version: str | None  # as the stamp says it
    generation: str | None
    tree_digest: str | None
    own_bundle: str | None  # that this program carries


def standing(root: Path) -> StagedState:
    """Return what is staged. Raises AmplihackError for a stamp or a record that cannot be read."""
    generations = Generations(root)
    active = generations.active()
    record = generations.record(active) if active else None
    return StagedState(
        home_root=str(root),
        staged_version=read_stamp(root, lambda _line: None),  # a malformed one is none; `doctor` tells more
        generation=active,
        tree_digest=record.tree_digest if record else None,
        own_bundle=own_bundle(),
    )
