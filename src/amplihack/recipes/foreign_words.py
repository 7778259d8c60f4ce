"""Tell what to write here instead of words that steer what runs in other tools.

A step whose `if:` is ignored runs when it should not, so none of these is passed over as an unknown field.
"""

from __future__ import annotations

import re
from typing import Final

from amplihack.recipes.foreign_word_table import WORDS, by_word

# Fields of ours that decide what runs: written with hyphens or capitals they must not be passed over either.
_STEERING: Final = frozenset(
    {"condition", "depends_on", "continue_on_error", "on_error", "when_tags", "while_condition", "break_when",
     "foreach", "parallel_group", "approval", "fatal", "nonfatal", "retry", "override", "idempotent",
     "finally", "always_run", "recheck", "parallel", "timeout", "idle_timeout", "max_iterations",
     "max_while_iterations", "while_steps", "steps", "stages", "strict_shell", "parse_json_required",
     "output_exit_code", "update_context", "context_mode", "secrets", "context_validation", "hooks",
     "extends", "recursion", "dialect", "default_step_timeout", "rate_limiting", "env", "working_dir"}
)  # fmt: skip
# Tables of ours of which every field does.
_STEERING_TABLES: Final = frozenset({"retry", "approval", "hooks", "input", "recursion"})
# The parts of longer words that nobody has listed, each with the word that such a word is explained as.
_PARTS: Final = by_word(
    {
        "when": "if when only condition conditions conditional",
        "unless": "unless skip skips",
        "loop_until": "until",
        "while": "while",
        "loop": "loop foreach iterate repeat rerun",
        "retries": "retry retries attempts tries",
        "gate": "approval approve approver approvers confirm manual human gate pause suspend",
        "needs": """
            blocked dependencies dependency depends downstream needs prerequisite prerequisites upstream
        """,
        "concurrency": "parallel concurrent concurrency async",
        "time_limit": "timeout deadline",
        "abort": "abort halt terminate stop exit",
        "allow_failure": "failure failures failed fail error errors",
        "rollback": "rollback compensate",
    }
)
# Those of them that leave no doubt at the top of a file, where a word may be about the recipe as a whole.
_OF_RECIPES: Final = frozenset(
    ("if", "when", "unless", "until", "while", "foreach", "retry", "retries", "attempts", "timeout", "skip",
     "deadline", "concurrency", "concurrent", "parallel", "abort", "halt", "terminate")
)  # fmt: skip
# Words about a thing steer nothing, whatever else is in them: `when_to_use`, `skip_reason`.
_ABOUT: Final = frozenset(
    ("use", "reason", "reasons", "note", "notes", "description", "message", "criteria", "doc", "docs", "url",
     "comment", "comments", "hint", "hints", "text", "title", "label", "example", "examples", "log", "report",
     "file", "path", "template", "format", "type", "id", "name", "mode", "modes", "message", "info")
)  # fmt: skip


def snake_case(word: str) -> str:
    """Return a word as fields are written: `maxRetries`, `max-retries` and `Max Retries` as `max_retries`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word.strip())
    return re.sub(r"[\s_-]+", "_", apart).lower()


def instead_of(word: str, table: str, known: frozenset[str]) -> str | None:
    """Return what to write instead of a word that steers what runs elsewhere; None for any other word."""
    plain = snake_case(word)
    if plain in known and (plain in _STEERING or table in _STEERING_TABLES):
        return f"write `{plain}:`"
    return WORDS.get(table, {}).get(plain)


def part_of_it(word: str, table: str) -> str | None:
    """Return what to write instead of a word of several parts, one of which steers: `stop_after_if`.

    Nobody can list them all. Whoever asks has looked first whether it is a slip of a word of ours.
    """
    parts = snake_case(word).split("_")
    if table not in ("step", "stage", "recipe") or len(parts) < 2 or parts[-1] in _ABOUT:
        return None
    known = WORDS[table]
    telling = _PARTS.keys() & _OF_RECIPES if table == "recipe" else _PARTS.keys()
    steering = (known.get(_PARTS[part]) for part in parts if part in telling)
    whole = {"on": "on_failure", "with": "loop"}.get(parts[0], "")  # `on_completion`, `with_fileglob`
    return known.get(whole) or next(filter(None, steering), None)
