"""Words that steer what runs in other tools, and what to write here instead.

A step whose `if:` is ignored runs when it should not, so none of these is passed over as an unknown field.
"""

from __future__ import annotations

import re
from typing import Final

_CONDITION = "write `condition:` with what has to hold"
_OPPOSITE = "write `condition:` with what has to hold, the opposite of this"
_SECOND_STEP = "write a second step with the opposite `condition:`"
_DEPENDS = "write `depends_on: [id]`; steps run in the order of the file"
_COMMAND = "write `command:` with the script"
_RECIPE = "write `recipe:` with the name or path of a recipe, or `command:`"
_HANDED = "write `context:` on a recipe step, `env:` on a command"
_GOES_ON = "write `on_error: continue`"
_ON_FAILURE = (
    "write `on_error: continue` here, and a later step with `condition: steps.ID.status == 'failed'`"
)
_ALWAYS = "write `on_error: continue` on the steps before; then this one runs whatever became of them"
_LOOP = "write `foreach:` with a list, and `as:` with the name of an item"
_WHILE = "write `while_condition:` with what has to hold for another round"
_RESULT = "write `output:` with the name of the variable"
_TAGS = "write `when_tags:`; the step runs if one of them is asked for"
_RETRY = "write `retry: {max_attempts: 3}`"
_AT_ONCE = "write `parallel_group:` on the steps that run at the same time"
_GATE = "write `approval: {prompt: …}` on a stage"
_OFF = "write `condition: false`, or remove the step"
_DIRECTORY = "write `working_dir:`"
_SECONDS = "write `timeout:` in seconds"
_VARIABLES = "write `context:` with the variables and their values"
_STEPS = "write `steps:`"
_TRIGGER = "remove it: a recipe runs when somebody starts it"
_ON_THE_STEPS = "write it on the steps"
_CONDITION_BELOW = "write `condition:` on the steps"
_COMMAND_BELOW = "write `steps:`, each with an `id:` and a `command:`"
_BLOCK = "a step holds others only in a loop; write them one after another"

_ANYWHERE: Final = {
    **dict.fromkeys(("if", "when", "only_if", "run_if", "only", "rules"), _CONDITION),
    **dict.fromkeys(("unless", "skip_if", "except"), _OPPOSITE),
    **dict.fromkeys(("else", "elif", "otherwise", "switch", "case"), _SECOND_STEP),
    **dict.fromkeys(("needs", "requires", "depends", "deps", "after"), _DEPENDS),
    **dict.fromkeys(("run", "script", "shell", "cmd", "cmds", "commands", "bash", "exec", "sh"), _COMMAND),
    **dict.fromkeys(("uses", "call", "include", "include_tasks", "import_tasks", "import_playbook"), _RECIPE),
    **dict.fromkeys(("allow_failure", "ignore_errors", "ignore_error", "continue_on_fail"), _GOES_ON),
    **dict.fromkeys(("continue_on", "fail_fast"), _GOES_ON),
    **dict.fromkeys(("rescue", "catch", "on_failure", "failed_when", "on_success"), _ON_FAILURE),
    **dict.fromkeys(("always", "finally", "on_exit", "after_script"), _ALWAYS),
    **dict.fromkeys(("loop", "for", "for_each", "matrix", "strategy"), _LOOP),
    **dict.fromkeys(("with_items", "with_dict", "with_list", "with_param", "with_sequence"), _LOOP),
    **dict.fromkeys(("while", "repeat", "do_while"), _WHILE),
    **dict.fromkeys(("retries", "max_retries", "retry_on_fail", "attempts", "max_tries"), _RETRY),
    **dict.fromkeys(("approval_required", "auto_approve_if", "approval_message", "requires_approval"), _GATE),
    **dict.fromkeys(("manual", "gate", "confirm", "wait_for_approval", "approve"), _GATE),
    **dict.fromkeys(("disabled", "enabled", "skip", "disable"), _OFF),
}  # fmt: skip
_STEP: Final = {
    **_ANYWHERE,
    "approval": _GATE,
    "with": _HANDED,
    "vars": _HANDED,
    "arguments": _HANDED,
    "instruction": "write `prompt:`",
    "tags": _TAGS,
    **dict.fromkeys(("register", "set_output", "save_as", "store_as", "output_var"), _RESULT),
    **dict.fromkeys(("concurrency", "async"), _AT_ONCE),
    **dict.fromkeys(("block", "tasks", "jobs"), _BLOCK),
    **dict.fromkeys(("timeout_minutes", "timeout_seconds", "timeout_ms"), _SECONDS),
    **dict.fromkeys(("working_directory", "workdir", "chdir", "dir"), _DIRECTORY),
    "before_script": "write a step before this one",
    "changed_when": _CONDITION,
    "delegate_to": "remove it: every step runs on this machine",
    "goto": "steps run in their order; write `condition:` on those that may be left out",
}
_STAGE: Final = {
    **_ANYWHERE,
    "tags": "write `when_tags:` on the steps",
    "depends_on": "stages run in their order; remove it",
    "parallel": _AT_ONCE,
    "continue_on_error": "write `on_error: continue` on the steps",
    "on_error": "write `on_error:` on the steps",
    "foreach": "write `foreach:` on a step with `steps:` inside it",
    **dict.fromkeys(("tasks", "jobs", "block"), _STEPS),
}
_RECIPE_LEVEL: Final = {
    **{word: what for word, what in _ANYWHERE.items() if what not in (_OFF, _DEPENDS)},
    **dict.fromkeys(("if", "when", "only_if", "run_if", "condition", "unless"), _CONDITION_BELOW),
    **dict.fromkeys(("run", "script", "shell", "cmds", "commands"), _COMMAND_BELOW),
    **dict.fromkeys(("jobs", "tasks", "workflow", "pipeline", "plays", "templates", "nodes"), _STEPS),
    **dict.fromkeys(("env", "environment", "vars", "variables", "arguments"), _VARIABLES),
    **dict.fromkeys(("on", "triggers", "trigger", "schedule", "cron"), _TRIGGER),
    **dict.fromkeys(("foreach", "while_condition"), "write it on a step with `steps:` inside it"),
    **dict.fromkeys(("on_error", "continue_on_error", "retry", "when_tags", "depends_on"), _ON_THE_STEPS),
    **dict.fromkeys(("parallel", "parallel_group", "concurrency"), _AT_ONCE),
    "approval": _GATE,
    "timeout": "write `default_step_timeout:`, or `timeout:` on the steps",
    "before_script": "write a step before the others",
    "needs": "write `recipe:` on a step to run another recipe first",
}  # fmt: skip
_WORDS: Final = {"step": _STEP, "stage": _STAGE, "recipe": _RECIPE_LEVEL}
# Fields of ours that decide what runs: written with hyphens or capitals they must not be passed over either.
_STEERING: Final = frozenset(
    {"condition", "depends_on", "continue_on_error", "on_error", "when_tags", "while_condition", "break_when",
     "foreach", "parallel_group", "approval", "fatal", "nonfatal", "retry", "override"}
)  # fmt: skip


def instead_of(word: str, table: str, known: frozenset[str]) -> str | None:
    """Return what to write instead of a word that steers what runs elsewhere; None for any other word."""
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word).replace("-", "_").lower()
    if plain in _STEERING and plain in known:
        return f"write `{plain}:`"
    return _WORDS.get(table, {}).get(plain)
