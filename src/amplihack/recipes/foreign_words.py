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
_ALWAYS = "write `finally: true` on a step at the end of `steps:`; it runs whatever became of those before it"
_LOOP = "write `foreach:` with a list, and `as:` with the name of an item"
_WHILE = "write `while_condition:` with what has to hold for another round"
_RESULT = "write `output:` with the name of the variable"
_TAGS = "write `when_tags:`; the step runs if one of them is asked for"
_RETRY = "write `retry: {max_attempts: 3}`"
_AT_ONCE = "write `parallel_group:` on the steps that run at the same time"
_GATE = "write `approval: {prompt: …}` on a stage"
_OFF = "write `condition: false`, or remove the step"
_DIRECTORY = "write `working_dir:`"
_SECONDS = "write `timeout:`, in seconds or as 5m"
_VARIABLES = "write `context:` with the variables and their values"
_STEPS = "write `steps:`"
_TRIGGER = "remove it: a recipe runs when somebody starts it"
_ON_THE_STEPS = "write it on the steps"
_CONDITION_BELOW = "write `condition:` on the steps"
_COMMAND_BELOW = "write `steps:`, each with an `id:` and a `command:`"
_IN_ORDER = "steps run in their order; write `condition:` on those that may be left out"
_STAGE_ORDER = "remove it: stages run in their order"
_GOES_ON_BELOW = "write `on_error: continue` on the steps"
_RETRY_BELOW = "write `retry: {max_attempts: 3}` on the steps"
_LOOP_BELOW = "write `foreach:` on a step with `steps:` inside it"
_RECIPE_BELOW = "write a step with `recipe:` and the name or path of a recipe"
_ENDS = "let the command fail with `exit 1`, or write `condition:` on the steps that may be left out"
_BREAK = "write `break_when:` with what ends the loop"
_PAUSE = "write a step with `command: sleep 5`"
_BEHIND = "end the command with `&`: what it starts lives until the end of the run"
_HERE = "remove it: every step runs on this machine, as the user who runs the recipe"
_CHANGED = "write `condition:` on the step that follows; `output:` gives it a result to ask for"
_BLOCK = "a step holds others only in a loop; write them one after another"
_INNER = "write `steps:`, on a step with `foreach:` or `while_condition:`"
_HOLDS = "write a step with `command:` and a test that fails where it does not hold"
_ONE_AT_A_TIME = "use `flock FILE …` in the command: nothing else keeps two runs apart"
_DRY = "remove it, and start the recipe with `--dry-run`"
_OWN_STEP = "write it as a step of its own, in its place"
_STAGES = "use `stages:` of the recipe, each with a `name:` and its `steps:`"
_ROUNDS = "write `max_iterations:` beside `foreach:`, `max_while_iterations:` beside `while_condition:`"

_ANYWHERE: Final = {
    **dict.fromkeys(("if", "when", "only_if", "run_if", "only", "rules"), _CONDITION),
    **dict.fromkeys(("cond", "conditions", "condition_expression", "precondition"), _CONDITION),
    **dict.fromkeys(("preconditions", "pre_condition", "when_condition", "run_when"), _CONDITION),
    **dict.fromkeys(("only_when", "execute_if", "guard", "where", "trigger_rule"), _CONDITION),
    **dict.fromkeys(("unless", "skip_if", "except", "skip_when", "skip_unless", "not_if"), _OPPOSITE),
    **dict.fromkeys(("else", "elif", "otherwise", "switch", "case", "then", "branches"), _SECOND_STEP),
    **dict.fromkeys(("needs", "requires", "depends", "deps", "after", "depend_on"), _DEPENDS),
    **dict.fromkeys(("dependencies", "run_after", "wait_for", "upstream", "before"), _DEPENDS),
    **dict.fromkeys(("run", "script", "shell", "cmd", "cmds", "commands", "bash"), _COMMAND),
    **dict.fromkeys(("exec", "sh", "do"), _COMMAND),
    **dict.fromkeys(("uses", "call", "include", "include_tasks", "import_tasks", "import_playbook"), _RECIPE),
    **dict.fromkeys(("sub_recipe", "subrecipe", "call_recipe", "sub_workflow"), _RECIPE),
    **dict.fromkeys(("allow_failure", "ignore_errors", "ignore_error", "continue_on_fail"), _GOES_ON),
    **dict.fromkeys(("continue_on", "fail_fast", "ignore_failure", "ignore_failures"), _GOES_ON),
    **dict.fromkeys(("continue_on_failure", "soft_fail", "can_fail", "allow_fail"), _GOES_ON),
    **dict.fromkeys(("rescue", "catch", "on_failure", "failed_when", "on_success", "on_fail"), _ON_FAILURE),
    **dict.fromkeys(("fallback", "compensate", "rollback", "onfail"), _ON_FAILURE),
    **dict.fromkeys(("always", "on_exit", "after_script", "ensure", "teardown"), _ALWAYS),
    **dict.fromkeys(("loop", "for", "for_each", "matrix", "strategy", "each", "iterate"), _LOOP),
    **dict.fromkeys(("iterate_over", "loop_over", "foreach_item", "map_over"), _LOOP),
    **dict.fromkeys(("with_items", "with_dict", "with_list", "with_param", "with_sequence"), _LOOP),
    **dict.fromkeys(("while", "repeat", "do_while"), _WHILE),
    **dict.fromkeys(("retries", "max_retries", "retry_on_fail", "attempts", "max_tries"), _RETRY),
    **dict.fromkeys(("retry_count", "retry_limit", "max_attempts", "retry_policy"), _RETRY),
    **dict.fromkeys(("approval_required", "auto_approve_if", "approval_message", "requires_approval"), _GATE),
    **dict.fromkeys(("manual", "gate", "confirm", "wait_for_approval", "approve"), _GATE),
    **dict.fromkeys(("human_approval", "require_approval", "needs_approval", "approvers"), _GATE),
    **dict.fromkeys(("disabled", "enabled", "skip", "disable", "active", "inactive"), _OFF),
    **dict.fromkeys(("success_condition", "failure_condition", "changes", "only_changes"), _CONDITION),
    **dict.fromkeys(("run_on", "platforms", "run_once", "continue_if", "proceed_if"), _CONDITION),
    **dict.fromkeys(("depends_on_past", "wait_for_downstream", "downstream", "start_after"), _DEPENDS),
    **dict.fromkeys(("runs_after", "parents", "join"), _DEPENDS),
    **dict.fromkeys(("optional", "critical", "mandatory", "blocking", "non_fatal", "allow_errors"), _GOES_ON),
    **dict.fromkeys(("any_errors_fatal", "max_fail_percentage", "ignore_exit_code"), _GOES_ON),
    **dict.fromkeys(("try", "on_failure_callback", "on_success_callback", "on_timeout"), _ON_FAILURE),
    **dict.fromkeys(("run_always", "defer", "after_all", "on_complete", "on_cancel"), _ALWAYS),
    **dict.fromkeys(("cleanup", "on_finish", "on_end"), _ALWAYS),
    **dict.fromkeys(("items", "loop_items", "for_loop", "foreach_in", "batch", "batch_size", "times"), _LOOP),
    **dict.fromkeys(("iterations", "max_runs"), _LOOP),
    **dict.fromkeys(("while_true", "do_until", "repeat_while"), _WHILE),
    **dict.fromkeys(("loop_until", "until_condition", "repeat_until", "exit_condition", "break"), _BREAK),
    **dict.fromkeys(("stop_condition", "break_if", "continue"), _BREAK),
    **dict.fromkeys(("retry_strategy", "retry_delay", "retry_backoff", "retry_attempts"), _RETRY),
    **dict.fromkeys(("until_success", "retry_until", "retry_if"), _RETRY),
    **dict.fromkeys(("stop", "abort", "exit", "return", "terminate", "halt", "fail"), _ENDS),
    **dict.fromkeys(("stop_when", "stop_if", "exit_when", "exit_if", "abort_if", "abort_when"), _ENDS),
    **dict.fromkeys(("fail_if", "fail_when", "succeed_if", "success_if", "cancel_on"), _ENDS),
    **dict.fromkeys(("suspend", "pause"), _GATE),
    **dict.fromkeys(("conditional", "predicate", "expr", "expression", "if_condition"), _CONDITION),
    **dict.fromkeys(("applies_if", "enabled_if", "enable_if", "include_if", "applies_when"), _CONDITION),
    **dict.fromkeys(("exclude_if", "disabled_if", "ignore_if"), _OPPOSITE),
    **dict.fromkeys(("on_true", "on_false", "if_true", "if_false", "if_else", "else_if"), _SECOND_STEP),
    **dict.fromkeys(("route", "routes", "router", "routing", "edges", "transitions"), _SECOND_STEP),
    **dict.fromkeys(("choice", "choices", "cases", "decision", "branch_on"), _SECOND_STEP),
    **dict.fromkeys(("stop_on_error", "abort_on_error", "halt_on_error", "fail_on_error"), _GOES_ON),
    **dict.fromkeys(("exit_on_error", "error_policy", "error_strategy", "on_exception"), _GOES_ON),
    **dict.fromkeys(("human_in_the_loop", "hitl", "human_review", "review_required", "sign_off"), _GATE),
    **dict.fromkeys(("requires_review", "manual_approval", "approval_gate", "approvals"), _GATE),
    **dict.fromkeys(("interrupt", "interrupt_before", "interrupt_after", "confirmation"), _GATE),
    **dict.fromkeys(("wait_for_user", "wait_for_human", "requires_confirmation", "ask_user"), _GATE),
    **dict.fromkeys(("assert", "asserts", "assertion", "assertions", "expect", "expects", "ensures"), _HOLDS),
    **dict.fromkeys(("loop_count", "repeat_count", "range", "map", "foreach_list", "over"), _LOOP),
    **dict.fromkeys(("container", "image", "runs_on", "hosts", "become", "become_user"), _HERE),
}  # fmt: skip
_OUTSIDE_STEPS: Final = {**_ANYWHERE, **dict.fromkeys(("finally", "always_run"), _ALWAYS)}

_STEP: Final = {
    **_ANYWHERE,
    "approval": _GATE,
    "with": _HANDED,
    "vars": _HANDED,
    "arguments": _HANDED,
    "tags": _TAGS,
    **dict.fromkeys(("register", "set_output", "save_as", "store_as", "output_var"), _RESULT),
    **dict.fromkeys(("concurrency", "async", "parallelism", "max_parallel", "parallel_limit"), _AT_ONCE),
    **dict.fromkeys(("serial", "throttle"), _AT_ONCE),
    **dict.fromkeys(("background", "detach", "fork"), _BEHIND),
    **dict.fromkeys(("wait", "sleep", "delay", "wait_seconds", "delay_before", "start_delay"), _PAUSE),
    **dict.fromkeys(("notify", "handlers", "listen"), _CHANGED),
    **dict.fromkeys(("bash_command", "shell_command", "local_action"), _COMMAND),
    **dict.fromkeys(("template", "dag", "workflow", "trigger", "task_group"), _RECIPE),
    **dict.fromkeys(("block", "tasks", "jobs"), _BLOCK),
    **dict.fromkeys(("timeout_minutes", "timeout_seconds", "timeout_ms", "execution_timeout"), _SECONDS),
    **dict.fromkeys(("active_deadline_seconds", "max_duration", "time_limit", "deadline"), _SECONDS),
    **dict.fromkeys(("working_directory", "workdir", "chdir", "dir"), _DIRECTORY),
    "before_script": "write a step before this one",
    "changed_when": _CONDITION,
    "delegate_to": "remove it: every step runs on this machine",
    "environment": "write `env:`",
    **dict.fromkeys(("goto", "next", "jump", "next_step", "next_steps", "go_to", "jump_to"), _IN_ORDER),
    **dict.fromkeys(("loop_back_to", "restart_from", "retry_from", "then_goto"), _IN_ORDER),
    **dict.fromkeys(("max_iter", "max_loops", "max_rounds", "loop_limit", "iteration_limit"), _ROUNDS),
    **dict.fromkeys(("sub_steps", "substeps", "inner_steps", "child_steps", "children", "body"), _INNER),
    **dict.fromkeys(("nested", "nested_steps", "sequence", "subtasks", "sub_tasks", "loop_steps"), _INNER),
    **dict.fromkeys(("concurrent", "fan_out", "fanout", "in_parallel", "run_in_parallel"), _AT_ONCE),
    **dict.fromkeys(("poll", "poll_until", "poll_interval", "wait_until", "pause_seconds"), _PAUSE),
    **dict.fromkeys(("set_fact", "assign", "save_output", "output_variable", "result_var"), _RESULT),
    **dict.fromkeys(("on", "triggers", "schedule", "cron"), _CONDITION),
    **dict.fromkeys(("filters", "sources", "generates", "changed", "execute_once"), _CONDITION),
    **dict.fromkeys(("conditional_edges", "edge", "branch", "branch_task"), _SECOND_STEP),
    **dict.fromkeys(("upstream_task_ids", "upstream_tasks", "passed", "predecessors", "follows"), _DEPENDS),
    **dict.fromkeys(("scripts", "python_callable"), _COMMAND),
    **dict.fromkeys(("ignore", "ignore_unreachable", "required", "must_pass", "must_succeed"), _GOES_ON),
    **dict.fromkeys(("undo", "compensation", "on_abort"), _ON_FAILURE),
    **dict.fromkeys(("post_steps", "after_step", "after_steps"), _ALWAYS),
    **dict.fromkeys(("across", "foreach_parallel", "parallel_foreach", "parallel_for_each"), _LOOP),
    **dict.fromkeys(("restart", "restart_policy", "wait_between_tries"), _RETRY),
    **dict.fromkeys(("short_circuit", "succeed"), _ENDS),
    **dict.fromkeys(("mutex", "lock", "semaphore", "resource_group"), _ONE_AT_A_TIME),
    **dict.fromkeys(("check_mode", "dry_run"), _DRY),
    **dict.fromkeys(("pre_steps", "pre_run", "post_run", "pre_command", "post_command"), _OWN_STEP),
    **dict.fromkeys(("setup", "before_step", "before_steps", "before_all", "pre", "post"), _OWN_STEP),
    **dict.fromkeys(("end", "start", "order", "sequential", "is_last", "is_first"), _IN_ORDER),
    **dict.fromkeys(("start_in", "wait_before", "wait_after", "delay_after"), _PAUSE),
    **dict.fromkeys(("timeout_action", "ttl", "expire"), _SECONDS),
    **dict.fromkeys(("entrypoint", "exec_start"), _COMMAND),
    **dict.fromkeys(("healthcheck", "health_check", "readiness_probe"), _HOLDS),
    **dict.fromkeys(("stage", "stages"), _STAGES),
    **dict.fromkeys(("status", "exists", "up_to_date", "unix", "windows", "linux", "macos"), _CONDITION),
    **dict.fromkeys(("failure", "tolerate", "tolerance", "fatal_errors", "nofail", "best_effort"), _GOES_ON),
    **dict.fromkeys(("errors", "success", "failure_module", "raise", "error_equals"), _ON_FAILURE),
    **dict.fromkeys(("pwsh", "powershell", "bat", "zsh", "python", "task_ref", "task_spec"), _COMMAND),
    **dict.fromkeys(("subflow", "include_role", "import_role", "sub_recipes", "trigger_dag_id"), _RECIPE),
    **dict.fromkeys(("items_path", "item_processor", "expand", "max_in_flight", "max_concurrency"), _LOOP),
    **dict.fromkeys(("backoff_rate", "interval_seconds", "backoff_seconds"), _RETRY),
    **dict.fromkeys(("transition", "connections", "default_condition"), _SECOND_STEP),
    **dict.fromkeys(("early_return", "return_early"), _ENDS),
    **dict.fromkeys(("platform", "node", "executor", "resource_class", "privileged", "user"), _HERE),
    **dict.fromkeys(("checks", "guardrail", "guardrails", "verify", "verification", "validate"), _HOLDS),
    **dict.fromkeys(("branchone", "branchall", "default"), _SECOND_STEP),
    **dict.fromkeys(("forloopflow", "whileloopflow"), _LOOP),
    **dict.fromkeys(("prerequisite", "prerequisites", "blocks", "requires_success"), _DEPENDS),
    **dict.fromkeys(("callback", "unstable"), _ON_FAILURE),
    **dict.fromkeys(("is_optional", "cancel_on_build_failing"), _GOES_ON),
    **dict.fromkeys(("any_of", "all_of", "not", "and", "or", "equals", "one_of", "none_of"), _CONDITION),
    **dict.fromkeys(("changeset", "changesets", "change_in", "if_changed", "building_tag"), _CONDITION),
    **dict.fromkeys(("decision_cases", "default_case", "case_expression", "path_map"), _SECOND_STEP),
    **dict.fromkeys(("case_value_param", "success_branch", "failure_branch"), _SECOND_STEP),
    **dict.fromkeys(("branch_task_ids", "add_edge"), _SECOND_STEP),
    **dict.fromkeys(("join_on", "needs_any", "awaits", "await", "waits_for"), _DEPENDS),
    **dict.fromkeys(("fork_tasks", "dynamic_fork_tasks_param", "forks"), _AT_ONCE),
    **dict.fromkeys(("template_ref", "pipeline_ref", "child_workflow", "sub_workflow_param"), _RECIPE),
    **dict.fromkeys(("pipeline", "flow_id", "run_recipe", "use_recipe", "extends"), _RECIPE),
    **dict.fromkeys(("fast_fail", "fastfail", "failfast", "permissive", "keep_going"), _GOES_ON),
    **dict.fromkeys(("aborted", "unsuccessful", "epilogue", "catch_error", "warn_error"), _ON_FAILURE),
    **dict.fromkeys(("after_success", "after_failure", "after_execution", "afterwards"), _ON_FAILURE),
    **dict.fromkeys(("prologue", "before_install", "pre_hook", "post_hook"), _OWN_STEP),
    **dict.fromkeys(("serial_group", "serial_groups", "synchronization"), _ONE_AT_A_TIME),
    **dict.fromkeys(("concurrency_group", "disable_concurrent_builds"), _ONE_AT_A_TIME),
    **dict.fromkeys(("max_time", "max_runtime", "execution_time_limit", "time_budget"), _SECONDS),
    **dict.fromkeys(("heartbeat_seconds", "heartbeat", "silence_timeout"), "write `idle_timeout:`"),
    **dict.fromkeys(("max_auto_reruns", "auto_rerun", "backoff_coefficient", "initial_interval"), _RETRY),
    **dict.fromkeys(("timer", "quiet_period", "cooldown"), _PAUSE),
    **dict.fromkeys(("cron_schedule", "run_on_changes"), _CONDITION),
    **dict.fromkeys(("input_step", "manual_step", "human_input"), _GATE),
    **dict.fromkeys(("success_check", "smoke_test"), _HOLDS),
    "max_execution_time": _SECONDS,
    "no_output_timeout": "write `idle_timeout:`",
    "profiles": _TAGS,
    "daemon": _BEHIND,
}  # fmt: skip
# A stage and a recipe hold steps: what only a step can have is written there.
_BELOW: Final = {
    _COMMAND: _COMMAND_BELOW,
    _GOES_ON: _GOES_ON_BELOW,
    _RETRY: _RETRY_BELOW,
    _LOOP: _LOOP_BELOW,
    _RECIPE: _RECIPE_BELOW,
    _DEPENDS: _STAGE_ORDER,
    _TAGS: "write `when_tags:` on the steps",
    _RESULT: "write `output:` on the steps",
    _SECONDS: "write `timeout:` on the steps",
    _DIRECTORY: "write `working_dir:` on the steps",
    _CHANGED: "write `condition:` on the steps that follow",
    _HANDED: "write `context:` on the steps that call a recipe, `env:` on the steps that run a command",
    _ROUNDS: "write `max_iterations:` on the steps that have a `foreach:`",
    _BLOCK: _STEPS,
    _INNER: _STEPS,
    "write `env:`": "write `env:` on the steps",
    "write `idle_timeout:`": "write `idle_timeout:` on the steps",
    _BREAK: "write `break_when:` on a step with `steps:` inside it",
    _WHILE: "write `while_condition:` on a step with `steps:` inside it",
    _ON_FAILURE: _ON_FAILURE.replace("here", "on the steps"),
}
_HOLDER: Final = {word: _BELOW.get(what, what) for word, what in _OUTSIDE_STEPS.items()}
# Words that steer a step, and that are about a stage or a recipe as a whole where one of these has them.
_PROSE: Final = frozenset(
    ("status", "required", "default", "success", "failure", "errors", "order", "start", "end", "user",
     "node", "platform", "python", "linux", "macos", "unix", "windows", "sources", "verify", "verification",
     "validate", "checks", "stage", "stages", "template", "tags", "setup", "exists", "changed", "branch",
     "sequential", "edge", "prerequisite", "prerequisites", "extends", "pipeline", "permissive", "not",
     "and", "or", "approval")
)  # fmt: skip
_STEERS_STEPS: Final = {
    word: _BELOW.get(what, what) for word, what in _STEP.items() if word not in _PROSE | _OUTSIDE_STEPS.keys()
}
_STAGE: Final = {
    **_HOLDER,
    **_STEERS_STEPS,
    "until": _BELOW[_BREAK],
    "tags": "write `when_tags:` on the steps",
    "depends_on": _STAGE_ORDER,
    "parallel": _AT_ONCE,
    "continue_on_error": _GOES_ON_BELOW,
    "retry": _RETRY_BELOW,
    "on_error": "write `on_error:` on the steps",
    "foreach": _LOOP_BELOW,
    **dict.fromkeys(("tasks", "jobs", "block"), _STEPS),
}
_RECIPE_LEVEL: Final = {
    **{
        word: _CONDITION_BELOW if what in (_CONDITION, _OPPOSITE) else what
        for word, what in {**_HOLDER, **_STEERS_STEPS}.items()
        if what not in (_OFF, _STAGE_ORDER)
    },
    **dict.fromkeys(
        (word for word, what in _STEP.items() if what == _SECONDS),
        "write `default_step_timeout:`, or `timeout:` on the steps",
    ),
    "condition": _CONDITION_BELOW,
    "until": _BELOW[_BREAK],
    **dict.fromkeys(("run", "script", "shell", "cmds", "commands"), _COMMAND_BELOW),
    **dict.fromkeys(("jobs", "tasks", "workflow", "pipeline", "plays", "templates", "nodes"), _STEPS),
    **dict.fromkeys(("workflows", "pipelines", "plan", "states", "modules"), _STEPS),
    **dict.fromkeys(("env", "environment", "vars", "variables", "arguments"), _VARIABLES),
    **dict.fromkeys(("on", "triggers", "trigger", "schedule", "cron"), _TRIGGER),
    **dict.fromkeys(("foreach", "while_condition"), "write it on a step with `steps:` inside it"),
    **dict.fromkeys(("on_error", "continue_on_error", "retry", "when_tags", "depends_on"), _ON_THE_STEPS),
    **dict.fromkeys(("parallel", "parallel_group", "concurrency"), _AT_ONCE),
    **dict.fromkeys(("disabled", "enabled", "skip", "disable", "active"), _TRIGGER),
    **dict.fromkeys(("schedule_interval", "catchup"), _TRIGGER),
    **dict.fromkeys(("pre_tasks", "post_tasks", "handlers", "roles", "dag", "entrypoint"), _STEPS),
    "timeout_minutes": "write `default_step_timeout:`, or `timeout:` on the steps",
    **dict.fromkeys(("working_directory", "workdir"), "write `working_dir:` on the steps"),
    "approval": _GATE,
    "timeout": "write `default_step_timeout:`, or `timeout:` on the steps",
    "before_script": "write a step before the others",
    "max_total_steps": "write `recursion: {max_total_steps: 200}`",
    "max_steps": "write `recursion: {max_total_steps: 200}`",
    "max_depth": "write `recursion: {max_depth: 6}`",
    "needs": "write `recipe:` on a step to run another recipe first",
}  # fmt: skip
_ATTEMPTS = "write `max_attempts:`, the attempts in all, the first included"
_DELAY = "write `initial_delay:`"
_LIMIT_ABOVE = "write `timeout:` on the step: it holds for each attempt"
_NOT_EVERY = "write `on: transient` to try again only what may pass by itself"
_RETRY_FIELDS: Final = {
    **dict.fromkeys(("attempts", "max_retries", "retries", "times", "count", "limit", "tries"), _ATTEMPTS),
    **dict.fromkeys(("max_tries", "max", "maximum", "num_retries"), _ATTEMPTS),
    **dict.fromkeys(("delay", "wait", "interval", "sleep", "delay_seconds", "backoff_seconds"), _DELAY),
    **dict.fromkeys(
        ("if", "when", "until", "condition", "retry_on", "on_errors", "on_exit_codes"), _NOT_EVERY
    ),
    **dict.fromkeys(("retry_if", "only_on", "exit_codes", "codes", "errors", "exceptions"), _NOT_EVERY),
    **dict.fromkeys(("retryable_errors", "on_status", "error_equals", "exit_status"), _NOT_EVERY),
    **dict.fromkeys(("timeout", "stop_after", "max_time", "max_duration", "deadline"), _LIMIT_ABOVE),
    **dict.fromkeys(("max_elapsed_time", "attempt_timeout"), _LIMIT_ABOVE),
    **dict.fromkeys(
        ("on_failure", "fallback", "on_exhausted", "then"), _ON_FAILURE.replace("here", "on the step")
    ),
}
_QUESTION = "write `prompt:`"
_ANYBODY = "remove it: whoever may run `amplihack runs approve` here can answer, and one answer counts"
_APPROVAL_FIELDS: Final = {
    **dict.fromkeys(("message", "question", "text", "title", "description", "reason"), _QUESTION),
    **dict.fromkeys(("if", "condition", "unless", "auto_approve_if"), "write `condition:` on the stage"),
    **dict.fromkeys(
        ("auto_approve", "on_timeout", "default_action"), "write `default: approve` and `timeout:`"
    ),
    **dict.fromkeys(("enabled", "disabled", "skip"), "write `required: true` or `required: false`"),
    **dict.fromkeys(("approvers", "reviewers", "users", "groups", "roles", "teams", "owners"), _ANYBODY),
    **dict.fromkeys(("min_approvals", "required_approvals", "count", "quorum", "approver"), _ANYBODY),
    **dict.fromkeys(("expires", "expires_in", "timeout_minutes", "deadline"), "write `timeout:`"),
    **dict.fromkeys(("on_deny", "on_reject", "on_denied"), "remove it: a denial ends the run"),
    **dict.fromkeys(("at", "position", "before", "after", "stage"), "write `when: before` or `when: after`"),
}
_HOOKS: Final = {
    **dict.fromkeys(("on_failure", "on_fail", "failure", "error", "catch"), "write `on_error:`"),
    **dict.fromkeys(
        ("before", "before_step", "pre", "on_start", "before_each", "setup"), "write `pre_step:`"
    ),
    **dict.fromkeys(("after", "after_step", "post", "after_each", "on_success"), "write `post_step:`"),
}
_ALLOWED = "write `enum:` with the list of what may be given"
_INPUT_FIELDS: Final = {
    **dict.fromkeys(("if", "when", "condition", "unless", "depends_on", "needs"), _CONDITION_BELOW),
    **dict.fromkeys(("allowed", "allowed_values", "one_of", "values"), _ALLOWED),
    **dict.fromkeys(("optional", "mandatory", "is_required"), "write `required: true` or `required: false`"),
    **dict.fromkeys(("secret", "sensitive", "no_log", "mask"), "name it under `secrets:` of the recipe"),
    **dict.fromkeys(
        ("pattern", "regex", "validate"), "check it in a first step: `command: '[[ {{name}} =~ ^[a-z]+$ ]]'`"
    ),
    **dict.fromkeys(
        ("min", "max", "minimum", "maximum"),
        "check it in a first step: `command: (( {{name}} >= 1 && {{name}} <= 5 ))`",
    ),
}
_WORDS: Final = {
    "input": _INPUT_FIELDS,
    "step": _STEP,
    "stage": _STAGE,
    "recipe": _RECIPE_LEVEL,
    "retry": _RETRY_FIELDS,
    "approval": _APPROVAL_FIELDS,
    "hooks": _HOOKS,
}
# Fields of ours that decide what runs: written with hyphens or capitals they must not be passed over either.
_STEERING: Final = frozenset(
    {"condition", "depends_on", "continue_on_error", "on_error", "when_tags", "while_condition", "break_when",
     "foreach", "parallel_group", "approval", "fatal", "nonfatal", "retry", "override", "idempotent",
     "finally", "always_run", "recheck", "parallel", "timeout", "idle_timeout", "max_iterations",
     "max_while_iterations", "while_steps", "steps", "stages", "strict_shell", "parse_json_required",
     "output_exit_code", "update_context", "context_mode", "secrets", "context_validation", "hooks",
     "extends", "recursion", "dialect", "default_step_timeout", "rate_limiting", "env", "working_dir"}
)  # fmt: skip


_STEERING_TABLES: Final = frozenset(
    {"retry", "approval", "hooks", "input", "recursion"}
)  # with all they have
# The parts of longer words that nobody has listed, each with the word that such a word is explained as.
_PARTS: Final = {
    **dict.fromkeys(("if", "when", "only", "condition", "conditions", "conditional"), "when"),
    **dict.fromkeys(("unless", "skip", "skips"), "unless"),
    **dict.fromkeys(("until",), "loop_until"),
    **dict.fromkeys(("while",), "while"),
    **dict.fromkeys(("loop", "foreach", "iterate", "repeat", "rerun"), "loop"),
    **dict.fromkeys(("retry", "retries", "attempts", "tries"), "retries"),
    **dict.fromkeys(("approval", "approve", "approver", "approvers", "confirm", "manual", "human"), "gate"),
    **dict.fromkeys(("gate", "pause", "suspend"), "gate"),
    **dict.fromkeys(("depends", "dependency", "dependencies", "needs", "blocked"), "needs"),
    **dict.fromkeys(("prerequisite", "prerequisites", "upstream", "downstream"), "needs"),
    **dict.fromkeys(("parallel", "concurrent", "concurrency", "async"), "concurrency"),
    **dict.fromkeys(("timeout", "deadline"), "time_limit"),
    **dict.fromkeys(("abort", "halt", "terminate", "stop", "exit"), "abort"),
    **dict.fromkeys(("failure", "failures", "failed", "fail", "error", "errors"), "allow_failure"),
    **dict.fromkeys(("rollback", "compensate"), "rollback"),
}
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
    return _WORDS.get(table, {}).get(plain)


def part_of_it(word: str, table: str) -> str | None:
    """Return what to write instead of a word of several parts, one of which steers: `stop_after_if`.

    Nobody can list them all. Whoever asks has looked first whether it is a slip of a word of ours.
    """
    parts = snake_case(word).split("_")
    if table not in ("step", "stage", "recipe") or len(parts) < 2 or parts[-1] in _ABOUT:
        return None
    known = _WORDS[table]
    telling = _PARTS.keys() & _OF_RECIPES if table == "recipe" else _PARTS.keys()
    steering = (known.get(_PARTS[part]) for part in parts if part in telling)
    whole = {"on": "on_failure", "with": "loop"}.get(parts[0], "")  # `on_completion`, `with_fileglob`
    return known.get(whole) or next(filter(None, steering), None)
