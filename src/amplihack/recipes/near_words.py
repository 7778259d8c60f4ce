"""Words that authors write for fields of ours, or hope for, and what to write instead.

Such a word steers nothing: it is passed over with a warning, which names our word. Those that would change
what runs are in `foreign_words`.
"""

from __future__ import annotations

from typing import Final

from amplihack.recipes.foreign_words import snake_case

_AGENT_CONFIG = "write it below `agent_config:`, which is handed to the agent as it is"
_IN_PROMPT = "say it in the prompt"
_ON_STEPS = "write it on the steps that need it"
_RATE = "write it below `rate_limiting:`"

_STEP: Final = {
    **dict.fromkeys(("item_variable", "item_var", "loop_var", "loop_variable", "iterator"), "write `as:`"),
    **dict.fromkeys(("iter_var", "item_name", "as_variable", "foreach_as", "each_as"), "write `as:`"),
    **dict.fromkeys(("variable_name", "loop_as", "item_as", "var", "index_var"), "write `as:`"),
    **dict.fromkeys(("index_variable", "counter_var"), "use {{loop.index}}, which every round has"),
    **dict.fromkeys(("collect_as", "collect_into", "collect_results", "collect_output"), "write `collect:`"),
    **dict.fromkeys(("aggregate", "gather", "results", "results_var", "reduce"), "write `collect:`"),
    **dict.fromkeys(
        ("result", "out", "output_key", "output_name", "output_as", "output_to"), "write `output:`"
    ),
    **dict.fromkeys(("returns", "capture", "capture_output", "stdout", "save_to"), "write `output:`"),
    **dict.fromkeys(("store_output", "store_result", "output_variable_name", "key"), "write `output:`"),
    **dict.fromkeys(("exit_code", "exit_code_var", "return_code", "rc"), "write `output_exit_code:`"),
    **dict.fromkeys(("stderr", "stderr_to", "capture_stderr"), "write `output_stderr:`"),
    **dict.fromkeys(("instructions", "question", "query", "user_prompt", "goal", "ask"), "write `prompt:`"),
    **dict.fromkeys(("prompt_template", "user_message", "content", "text", "objective"), "write `prompt:`"),
    **dict.fromkeys(("prompt_file", "prompt_path", "template_file"), "write `prompt:` with the text itself"),
    **dict.fromkeys(("system", "system_prompt", "persona", "role"), "name an `agent:` whose file says it"),
    **dict.fromkeys(("agent_name", "agent_type", "agent_id", "subagent", "use_agent"), "write `agent:`"),
    **dict.fromkeys(("sub_agent", "assistant", "delegate", "actor"), "write `agent:`"),
    **dict.fromkeys(("llm", "model_name", "model_id", "engine"), "write `model:`"),
    **dict.fromkeys(("temperature", "max_tokens", "top_p", "thinking", "max_turns"), _AGENT_CONFIG),
    **dict.fromkeys(("tools", "allowed_tools", "skills", "permissions", "mcp_servers"), _AGENT_CONFIG),
    **dict.fromkeys(("acceptance_criteria", "success_criteria", "constraints", "guidelines"), _IN_PROMPT),
    **dict.fromkeys(("examples", "expected_output", "deliverables"), _IN_PROMPT),
    **dict.fromkeys(("json", "output_json", "is_json", "as_json", "json_output"), "write `parse_json: true`"),
    **dict.fromkeys(("response_format", "output_format", "format", "parse"), "write `parse_json: true`"),
    **dict.fromkeys(("schema", "output_schema", "response_schema", "schema_json"), "write `json_schema:`"),
    **dict.fromkeys(("params", "parameters", "input", "variables", "recipe_context"), "write `context:`"),
    **dict.fromkeys(("args", "input_context", "pass_context", "recipe_inputs"), "write `context:`"),
    **dict.fromkeys(("recipe_path", "recipe_name", "recipe_file", "path", "file"), "write `recipe:`"),
    **dict.fromkeys(("env_vars", "environment_variables", "envs", "env_file", "dotenv"), "write `env:`"),
    **dict.fromkeys(
        ("strict", "shell_options", "set_e", "pipefail", "errexit", "set", "shopt"),
        "write `strict_shell: true`",
    ),
    **dict.fromkeys(("desc", "comment", "comments", "note", "notes", "summary"), "write `description:`"),
    **dict.fromkeys(("title", "label", "display_name"), "write `name:`"),
    **dict.fromkeys(("step", "step_id", "step_name", "identifier"), "write `id:`"),
    **dict.fromkeys(("retry_config", "retry_options"), "write `retry:`"),
    **dict.fromkeys(("error_handling", "error_handler", "onerror"), "write `on_error:`"),
    **dict.fromkeys(("group", "parallel_with", "parallel_id"), "write `parallel_group:`"),
    **dict.fromkeys(("kind", "step_type"), "write `type:`"),
    **dict.fromkeys(("max_concurrent", "max_workers"), "write `parallel: 4`: as many rounds at a time"),
}
_RECIPE: Final = {
    **dict.fromkeys(("max_concurrent_llm", "min_delay_ms", "backoff"), _RATE),
    **dict.fromkeys(("rate_limit", "rate_limits", "ratelimit", "throttling"), "write `rate_limiting:`"),
    **dict.fromkeys(("max_concurrent", "max_workers"), "write `rate_limiting: {max_concurrent_llm: 4}`"),
    **dict.fromkeys(("params", "input", "args", "options", "required_inputs"), "write `inputs:`"),
    **dict.fromkeys(("required_context", "context_schema", "inputs_schema"), "write `inputs:`"),
    **dict.fromkeys(("defaults", "initial_context", "default_context", "globals"), "write `context:`"),
    **dict.fromkeys(("default_timeout", "step_timeout", "timeouts"), "write `default_step_timeout:`"),
    **dict.fromkeys(("title", "display_name", "recipe", "recipe_name"), "write `name:`"),
    **dict.fromkeys(("summary", "about", "desc", "purpose", "comment", "notes"), "write `description:`"),
    **dict.fromkeys(("result", "returns", "final_output", "output_template"), "write `output:`"),
    **dict.fromkeys(("secret", "sensitive", "masked", "credentials"), "write `secrets:` with their names"),
    **dict.fromkeys(("phases", "stage", "phase"), "write `stages:`"),
    **dict.fromkeys(("step", "actions", "workflow_steps", "recipe_steps"), "write `steps:`"),
    **dict.fromkeys(("hook", "callbacks"), "write `hooks:`"),
    **dict.fromkeys(("extend", "inherits", "base", "parent", "base_recipe"), "write `extends:`"),
    **dict.fromkeys(("agent", "default_agent", "model", "default_model", "provider"), _ON_STEPS),
    **dict.fromkeys(("working_dir", "cwd", "command", "prompt", "json_schema", "parse_json"), _ON_STEPS),
    **dict.fromkeys(("session", "session_config", "orchestration"), "write `orchestrator: {config: …}`"),
    **dict.fromkeys(("recursion_limits", "recursion_config"), "write `recursion:`"),
    **dict.fromkeys(("strict", "shell_options", "set_e", "pipefail"), "write `strict_shell: true`"),
    **dict.fromkeys(("schema", "api_version", "spec_version"), "write `schema_version:`"),
    **dict.fromkeys(("keywords", "labels", "categories", "category"), "write `tags:`"),
    **dict.fromkeys(("authors", "maintainer", "maintainers", "owner"), "write `author:`"),
}
_STAGE: Final = {
    **dict.fromkeys(("id", "title", "stage", "label"), "write `name:`"),
    **dict.fromkeys(("desc", "summary", "comment", "notes"), "write `description:`"),
    **dict.fromkeys(("agent", "model", "prompt", "command", "output", "timeout"), _ON_STEPS),
    **dict.fromkeys(("context", "env", "working_dir"), _ON_STEPS),
}
_RATE_LIMITING: Final = {
    **dict.fromkeys(("max_concurrent", "max_parallel", "concurrency"), "write `max_concurrent_llm:`"),
    **dict.fromkeys(("delay", "delay_ms", "min_delay", "interval_ms"), "write `min_delay_ms:`"),
}
_RECURSION: Final = {
    **dict.fromkeys(("depth", "max_level", "max_levels", "max_recursion"), "write `max_depth:`"),
    **dict.fromkeys(("max_steps", "steps", "total_steps", "limit"), "write `max_total_steps:`"),
}
_WORDS: Final = {
    "step": _STEP,
    "recipe": _RECIPE,
    "stage": _STAGE,
    "rate_limiting": _RATE_LIMITING,
    "recursion": _RECURSION,
}


def word_for(word: str, table: str) -> str | None:
    """Return what to write for a word that is nearly one of ours; None if nobody can tell."""
    return _WORDS.get(table, {}).get(snake_case(word))
