"""List the words that steer what runs in other tools, by what to write here instead."""

from __future__ import annotations

from collections.abc import Mapping
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
_COMMAND_BELOW = "write `steps:`, each with an `id:` and a `command:` or a `prompt:`"
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
_STEP_TIMEOUT = "write `default_step_timeout:`, or `timeout:` on the steps"
_ATTEMPTS = "write `max_attempts:`, the attempts in all, the first included"
_DELAY = "write `initial_delay:`"
_LIMIT_ABOVE = "write `timeout:` on the step: it holds for each attempt"
_NOT_EVERY = "write `on: transient` to try again only what may pass by itself"
_QUESTION = "write `prompt:`"
_ANYBODY = "remove it: whoever may run `amplihack runs approve` here can answer, and one answer counts"
_WIDTH = "write `parallel: 4`: as many rounds at a time"
_MASKED = "name the variables under `secrets:` of the recipe"
_AT_THE_TOP = "write it at the top of the recipe: it holds for all steps"
_INSIDE = "check it in a first step, with a `command:` that fails where it does not hold"
_ALLOWED = "write `enum:` with the list of what may be given"


def by_word(rows: Mapping[str, str]) -> dict[str, str]:
    """Return the advice for each word, from rows of an advice and the words that it is for."""
    return {word: advice for advice, words in rows.items() for word in words.split()}


_ANYWHERE: Final = by_word(
    {
        _CONDITION: """
            applies_if applies_when changes cond condition_expression conditional conditions continue_if
            enable_if enabled_if execute_if expr expression failure_condition guard if if_condition
            include_if only only_changes only_for only_if only_on only_when platforms pre_condition
            precondition preconditions predicate proceed_if rules run_if run_on run_once run_when
            success_condition trigger_rule when when_condition where
            arch creates os removes
        """,
        _OPPOSITE: "disabled_if except exclude_if ignore_if not_if skip_if skip_unless skip_when unless",
        _SECOND_STEP: """
            branch_on branches case cases choice choices decision edges elif else else_if if_else if_false
            if_true on_false on_true otherwise route router routes routing switch then transitions
        """,
        _DEPENDS: """
            after before depend_on dependencies depends depends_on_past deps downstream join needs parents
            requires run_after runs_after start_after upstream wait_for wait_for_downstream
        """,
        _COMMAND: "bash cmd cmds commands do exec run script sh shell",
        _RECIPE: """
            call call_recipe import_playbook import_tasks include include_tasks sub_recipe sub_workflow
            subrecipe uses
        """,
        _GOES_ON: """
            abort_on_error abort_on_failure allow_errors allow_fail allow_failure allow_failures
            any_errors_fatal blocking can_fail continue_on continue_on_errors continue_on_fail
            continue_on_failure critical error_policy error_strategy exit_on_error exit_on_failure fail_fast
            fail_on_error fail_on_first_error halt_on_error ignore_error ignore_errors ignore_exit_code
            ignore_failure ignore_failures mandatory max_fail_percentage non_fatal on_exception optional
            soft_fail stop_on_error stop_on_failure stop_on_first_failure
        """,
        _ON_FAILURE: """
            catch compensate failed_when fallback on_fail on_failure on_failure_callback on_success
            on_success_callback on_timeout onfail rescue rollback rollback_on try
        """,
        _ALWAYS: """
            after_all after_script always cleanup cleanup_on_fail defer ensure on_cancel on_complete on_end
            on_exit on_finish run_always teardown
        """,
        _LOOP: """
            batch batch_size each for for_each for_loop foreach_in foreach_item foreach_list items iterate
            iterate_over iterations loop loop_count loop_items loop_over map map_over matrix max_runs over
            range repeat_count repeat_times strategy times with_dict with_items with_list with_param
            with_sequence
        """,
        _WHILE: "do_until do_while repeat repeat_while while while_true",
        _RETRY: """
            attempts max_attempts max_retries max_tries retries retry_attempts retry_backoff retry_count
            retry_delay retry_if retry_limit retry_on_fail retry_policy retry_strategy retry_until
            until_success
        """,
        _GATE: """
            approval_gate approval_message approval_required approvals approve approvers ask_user
            auto_approve auto_approve_if confirm confirmation gate hitl human_approval human_in_the_loop
            human_review interrupt interrupt_after interrupt_before manual manual_approval needs_approval
            pause require_approval requires_approval requires_confirmation requires_review review_required
            reviewers sign_off suspend wait_for_approval wait_for_human wait_for_user
        """,
        _OFF: "active disable disabled enabled inactive never_run skip",
        _BREAK: """
            break break_if continue exit_condition loop_until repeat_until stop_condition until_condition
        """,
        _ENDS: """
            abort abort_if abort_when cancel_on exit exit_if exit_when fail fail_if fail_when halt return
            stop stop_if stop_when succeed_if success_if terminate
        """,
        _HOLDS: "assert assertion assertions asserts ensures expect expects",
        _HERE: "become become_user container hosts image runs_on",
    }
)
_STEP: Final = _ANYWHERE | by_word(
    {
        _GATE: """
            approval breakpoint checkpoint hold human human_input input_step manual_step wait_for_input
        """,
        _HANDED: "arguments vars with",
        _TAGS: "profiles tags",
        _RESULT: """
            assign output_var output_variable register result_var save_as save_output set_fact set_output
            store_as
        """,
        _AT_ONCE: """
            async barrier concurrency concurrent dynamic_fork_tasks_param fan_out fanout first_of fork_tasks
            forks in_parallel max_active_tis_per_dag max_parallel parallel_id parallel_limit parallel_with
            parallelism race run_in_parallel serial throttle wait_all wait_any
        """,
        _BEHIND: "background daemon detach fork",
        _PAUSE: """
            cooldown debounce delay delay_after delay_before delay_seconds pause_seconds poke_interval poll
            poll_interval poll_until quiet_period sleep start_delay start_in throttle_ms timer wait
            wait_after wait_before wait_seconds wait_timer wait_until
        """,
        _CHANGED: "handlers listen notify",
        _COMMAND: """
            bash_command bat entrypoint exec_start local_action powershell pwsh python python_callable
            scripts shell_command task_ref task_spec zsh
        """,
        _RECIPE: """
            child_workflow dag extends flow_id import_role include_role pipeline pipeline_ref pipeline_spec
            run_recipe sub_recipes sub_workflow_param subflow task_group template template_ref trigger
            trigger_dag_id use_recipe workflow
        """,
        _BLOCK: "block jobs tasks",
        _SECONDS: """
            active_deadline_seconds deadline execution_time_limit execution_timeout expire max_duration
            max_execution_time max_runtime max_time time_budget time_limit timeout_action timeout_minutes
            timeout_ms timeout_seconds ttl
        """,
        _DIRECTORY: "chdir dir workdir working_directory",
        "write a step before this one": "before_script",
        _CONDITION: """
            all all_of and and_ any any_of building_tag change_in changed changed_when changeset changesets
            cron cron_schedule end_date equals execute_once exists feature_flag filters generates if_changed
            linux macos none_of not not_after not_before on once one_of or or_ run_on_changes schedule
            schedule_interval sources start_date status toggle triggers unix up_to_date windows
        """,
        "remove it: every step runs on this machine": "delegate_to",
        "write `env:`": "environment",
        _IN_ORDER: """
            end entry_point finish_point go_to goto is_final is_first is_last jump jump_to loop_back_to next
            next_step next_steps order restart_from retry_from sequential start then_goto transition_to
        """,
        _ROUNDS: "iteration_limit loop_limit max_iter max_loops max_rounds",
        _INNER: """
            body child_steps children inner_steps loop_steps nested nested_steps sequence sub_steps
            sub_tasks substeps subtasks
        """,
        _SECOND_STEP: """
            add_edge branch branch_task branch_task_ids branchall branchone case_expression case_value_param
            conditional_edges connections decision_cases default default_case default_condition edge
            failure_branch path_map success_branch transition
        """,
        _DEPENDS: """
            await awaits blocks follows join_on needs_any passed predecessors prerequisite prerequisites
            prereqs requires_success upstream_task_ids upstream_tasks waits_for
        """,
        _GOES_ON: """
            best_effort cancel_on_build_failing circuit_breaker error_handler error_handling failfast failure
            fast_fail fastfail fatal_errors ignore ignore_unreachable is_optional keep_going min_success
            must_pass must_succeed nofail ok_codes onerror permissive required success_codes
            success_threshold tolerance tolerate
        """,
        _ON_FAILURE: """
            aborted after_execution after_failure after_success afterwards callback catch_error compensation
            epilogue error_equals errors failure_module on_abort onfailure onsuccess raise success undo
            unstable unsuccessful warn_error
        """,
        _ALWAYS: "after_step after_steps post_steps",
        _LOOP: """
            across count expand for_each_item foreach_parallel forloopflow item_processor items_path
            looping_strategy loops max_concurrency max_in_flight n_times parallel_for_each parallel_foreach
            whileloopflow
        """,
        _RETRY: """
            auto_rerun backoff backoff_coefficient backoff_rate backoff_seconds initial_interval
            interval_seconds jitter max_auto_reruns restart restart_policy retry_config retry_options
            retryable wait_between_tries
        """,
        _ENDS: "early_return return_early short_circuit succeed",
        _ONE_AT_A_TIME: """
            cancel_in_progress concurrency_group disable_concurrent_builds exclusive lock max_instances mutex
            resource_group semaphore serial_group serial_groups singleton synchronization
        """,
        _DRY: "check_mode dry_run no_op noop simulate",
        _OWN_STEP: """
            before_all before_install before_step before_steps post post_command post_hook post_run pre
            pre_command pre_hook pre_run pre_steps prologue setup
        """,
        _HOLDS: """
            checks guardrail guardrails health_check healthcheck readiness_probe smoke_test success_check
            validate verification verify
        """,
        _STAGES: "stage stages",
        _HERE: """
            become_method connection container_set docker executor init_containers machine node
            node_selector platform pool privileged remote_user resource_class services sidecars user
        """,
        "write `idle_timeout:`": "heartbeat heartbeat_seconds no_output_timeout silence_timeout",
        _MASKED: "mask masked no_log redact secret secrets sensitive",
        _AT_THE_TOP: "hooks rate_limit rate_limiting rate_limits throttling",
        _WIDTH: "max_concurrent max_workers",
    }
)
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
    _WIDTH: "write `parallel: 4` on the steps that have a `foreach:`",
    _BLOCK: _STEPS,
    _INNER: _STEPS,
    "write `env:`": "write `env:` on the steps",
    "write `idle_timeout:`": "write `idle_timeout:` on the steps",
    _BREAK: "write `break_when:` on a step with `steps:` inside it",
    _WHILE: "write `while_condition:` on a step with `steps:` inside it",
    _ON_FAILURE: _ON_FAILURE.replace("here", "on the steps"),
}
# Words that steer a step, and that are about a stage or a recipe as a whole where one of these has them.
_PROSE: Final = frozenset(
    ("all", "and", "any", "approval", "arch", "branch", "changed", "checkpoint", "checks", "connection",
     "count", "creates", "default", "docker", "edge", "end", "end_date", "entry_point",
     "error_handling", "errors", "exclusive", "exists", "extends", "failure", "hold", "hooks", "human",
     "linux", "machine", "macos", "node", "not", "once", "or", "order", "os", "permissive", "pipeline",
     "platform", "pool", "prerequisite", "prerequisites", "python", "rate_limiting", "removes",
     "required", "secrets", "sequential", "services", "setup", "sidecars", "sources", "stage", "stages",
     "start", "start_date", "status", "success", "tags", "template", "unix", "user", "validate",
     "verification", "verify", "windows")
)  # fmt: skip
_HOLDER: Final = {
    word: _BELOW.get(what, what)
    for word, what in (_STEP | _ANYWHERE | by_word({_ALWAYS: "finally always_run"})).items()
    if word not in _PROSE or word in _ANYWHERE
}
_STAGE: Final = _HOLDER | by_word(
    {
        _BELOW[_BREAK]: "until",
        _BELOW[_TAGS]: "tags",
        _STAGE_ORDER: "depends_on",
        _AT_ONCE: "parallel",
        _GOES_ON_BELOW: "continue_on_error",
        _RETRY_BELOW: "retry",
        "write `on_error:` on the steps": "on_error",
        _LOOP_BELOW: "foreach",
        _GATE: "input",
        _MASKED: "secrets",
        _AT_THE_TOP: "hooks rate_limiting",
        _ON_THE_STEPS: "command context env prompt timeout working_dir",
    }
)
_OF_THE_FILE: Final = frozenset(("reviewers",))  # of a stage who is to answer, of a recipe who has read it
_RECIPE_LEVEL: Final = {
    **{
        word: what
        for word, what in _HOLDER.items()
        if what not in (_OFF, _STAGE_ORDER) and word not in _OF_THE_FILE
    },
    **{word: _CONDITION_BELOW for word, what in _HOLDER.items() if what in (_CONDITION, _OPPOSITE)},
    **{word: _STEP_TIMEOUT for word, what in _HOLDER.items() if what == _BELOW[_SECONDS]},
    **by_word(
        {
            _VARIABLES: "arguments env environment variables vars",
            _STEPS: """
                dag entrypoint handlers modules nodes pipeline pipelines plan plays post_tasks pre_tasks
                roles states templates workflow workflows
            """,
            _TRIGGER: """
                active catchup cron disable disabled enabled on schedule schedule_interval skip trigger
                triggers
            """,
            "write a step before the others": "before_script",
            _CONDITION_BELOW: "condition",
            _BELOW[_BREAK]: "until",
            "write it on a step with `steps:` inside it": "foreach while_condition",
            _ON_THE_STEPS: "continue_on_error cwd depends_on on_error retry when_tags working_dir",
            _AT_ONCE: "parallel parallel_group",
            _GATE: "approval",
            _STEP_TIMEOUT: "default_timeout step_timeout timeout timeouts",
            "write `recursion: {max_total_steps: 200}`": "max_steps max_total_steps",
            "write `recursion: {max_depth: 6}`": "max_depth",
            "write `recipe:` on a step to run another recipe first": """
                depends deps needs run_after runs_after wait_for waits_for
            """,
            _COMMAND_BELOW: "command prompt",
            "write `rate_limiting: {max_concurrent_llm: 4}`": """
                max_concurrent max_workers rate_limit rate_limits ratelimit throttling
            """,
            "write it below `rate_limiting:`": "backoff",
            "write `recursion: {max_depth: 6, max_total_steps: 200}`": "recursion_config recursion_limits",
            "write `hooks: {pre_step: …}`, `post_step` or `on_error`": "callbacks hook",
            "write `extends:`": "base_recipe extend inherits",
        }
    ),
}
_RETRY_FIELDS: Final = by_word(
    {
        _ATTEMPTS: "attempts count limit max max_retries max_tries maximum num_retries retries times tries",
        _DELAY: "backoff_seconds delay delay_seconds interval sleep wait",
        _NOT_EVERY: """
            codes condition error_equals errors except exceptions exit_codes exit_status if on_errors
            on_exit_codes on_status only only_on retry_if retry_on retryable_errors rules unless until when
        """,
        _LIMIT_ABOVE: "attempt_timeout deadline max_duration max_elapsed_time max_time stop_after timeout",
        _ON_FAILURE.replace("here", "on the step"): "fallback on_exhausted on_failure then",
        "write `backoff:`": "backoff_strategy backoff_type policy strategy",
    }
)
_APPROVAL_FIELDS: Final = by_word(
    {
        _QUESTION: "description message question reason text title",
        "write `condition:` on the stage": """
            auto_approve_if condition except if needs only rules unless when_condition
        """,
        "write `default: approve` and `timeout:`": """
            auto auto_approve default_action default_answer on_timeout
        """,
        "write `required: true` or `required: false`": "disabled enabled skip",
        _ANYBODY: """
            approver approvers count groups min_approvals owners quorum required_approvals reviewers roles
            teams users
        """,
        "write `timeout:`": "deadline expires expires_in timeout_minutes",
        "remove it: a denial ends the run": "on_denied on_deny on_reject",
        "write `when: before` or `when: after`": "after at before position stage",
    }
)
_HOOKS: Final = by_word(
    {
        "write `on_error:`": "catch error failure on_fail on_failure",
        "write `pre_step:`": "before before_each before_step each_step on_start pre setup",
        "write `post_step:`": "after after_each after_step on_success post",
        _ALWAYS: """
            after_all after_run always cleanup finally on_complete on_end on_exit on_finish post_run
            teardown
        """,
        "write it as the first step": "before_all before_run init on_run_start pre_run",
        "test it in the command of the hook": "condition if only unless when",
    }
)
_INPUT_FIELDS: Final = by_word(
    {
        _CONDITION_BELOW: "condition depends_on if needs unless when",
        _ALLOWED: "allowed allowed_values one_of values",
        "write `required: true` or `required: false`": """
            allow_empty is_required mandatory nonempty not_empty optional
        """,
        "name it under `secrets:` of the recipe": "mask no_log secret sensitive",
        "write `pattern:` with a regular expression": "match matches regex regexp validate validation",
        "write `minimum:`": "at_least ge gte lower_bound min min_value minimum_value",
        "write `maximum:`": "at_most le lte max max_value maximum_value upper_bound",
        "write `minimum:` and `maximum:`": "between bounds range",
        "write `min_length:`": "min_items min_len minlen",
        "write `max_length:`": "max_items max_len maxlen",
        "write `default:`": "default_value fallback initial value",
        "write `env:`": "env_var environment envvar from_env",
        _INSIDE: "exclusive_maximum exclusive_minimum gt lt multiple_of step unique_items",
    }
)
WORDS: Final = {
    "input": _INPUT_FIELDS,
    "step": _STEP,
    "stage": _STAGE,
    "recipe": _RECIPE_LEVEL,
    "retry": _RETRY_FIELDS,
    "approval": _APPROVAL_FIELDS,
    "hooks": _HOOKS,
}
