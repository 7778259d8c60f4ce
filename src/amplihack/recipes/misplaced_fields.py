"""Say what to write instead of a field that has no effect on its step."""

from __future__ import annotations

from typing import Final

from amplihack.recipes.decode_steps import MISPLACED, WORDS_OF_A_PROMPT
from amplihack.recipes.fields import STEP
from amplihack.recipes.reading import Fields

_OTHER_LIMIT: Final = {
    "max_iterations": "max_while_iterations",
    "max_while_iterations": "max_iterations",
}


def fix_for(name: str, kind: str, fields: Fields) -> str:
    """Return the remedy for a field of a step of this kind."""
    if name in _OTHER_LIMIT and ("foreach" in fields or "while_condition" in fields):
        return f"write `{_OTHER_LIMIT[name]}:`, which limits this loop"
    if name == "working_dir":
        return "write it on the steps inside; `context:` can hand the path to a recipe"
    if (name, kind) in MISPLACED:
        return MISPLACED[name, kind]
    kinds = STEP.known[name].kinds
    if kinds and kind not in kinds:
        return f"remove it: it belongs to {' and '.join(kinds)} steps"
    if name in WORDS_OF_A_PROMPT and "prompt" in fields.nodes:
        return f"say it in the prompt, or rename it to x-{name} to keep it as a note"
    return "remove it: it belongs to loop steps"
