"""Read a script as bash does, to find out where each placeholder stands."""

from amplihack.recipes.templates.bash.places import (
    Edit,
    Heredoc,
    Place,
    Quoting,
    Refusal,
    Word,
    apply_edits,
)
from amplihack.recipes.templates.bash.reading import Reading, read_script

__all__ = [
    "Edit",
    "Heredoc",
    "Place",
    "Quoting",
    "Reading",
    "Refusal",
    "Word",
    "apply_edits",
    "read_script",
]
