"""List words that authors write for fields of ours, or hope for, by what to write instead.

Such a word steers nothing: it is passed over with a warning, which names our word. Those that would change
what runs are in `foreign_words`.
"""

from __future__ import annotations

from typing import Final

from amplihack.recipes.foreign_word_table import by_word
from amplihack.recipes.foreign_words import snake_case

_AGENT_CONFIG = "write it below `agent_config:`, which is handed to the agent as it is"
_IN_PROMPT = "say it in the prompt"
_ON_STEPS = "write it on the steps that need it"

_STEP: Final = by_word(
    {
        "write `as:`": """
            as_variable each_as foreach_as index_var item_as item_name item_var item_variable iter_var
            iterator loop_as loop_var loop_variable var variable_name
        """,
        "use {{loop.index}}, which every round has": "counter_var index_variable",
        "write `collect:`": """
            aggregate collect_as collect_into collect_output collect_results gather reduce results
            results_var
        """,
        "write `output:`": """
            capture capture_output key out output_as output_key output_name output_to output_variable_name
            result returns save_to stdout store_output store_result
        """,
        "write `output_exit_code:`": "exit_code exit_code_var rc return_code",
        "write `output_stderr:`": "capture_stderr stderr stderr_to",
        "write `prompt:`": """
            ask content goal instructions objective prompt_template query question text user_message
            user_prompt
        """,
        "write `prompt:` with the text itself": "prompt_file prompt_path template_file",
        "name an `agent:` whose file says it": "persona role system system_prompt",
        "write `agent:`": """
            actor agent_id agent_name agent_type assistant delegate sub_agent subagent use_agent
        """,
        "write `model:`": "engine llm model_id model_name",
        _AGENT_CONFIG: """
            allowed_tools max_tokens max_turns mcp_servers permissions skills temperature thinking tools
            top_p
        """,
        _IN_PROMPT: """
            acceptance_criteria constraints deliverables examples expected_output guidelines
            success_criteria
        """,
        "write `parse_json: true`": """
            as_json format is_json json json_output output_format output_json parse response_format
        """,
        "write `json_schema:`": "output_schema response_schema schema schema_json",
        "write `context:`": """
            args input input_context parameters params pass_context recipe_context recipe_inputs variables
        """,
        "write `recipe:`": "file path recipe_file recipe_name recipe_path",
        "write `env:`": "dotenv env_file env_vars environment_variables envs",
        "write `strict_shell: true`": "errexit pipefail set set_e shell_options shopt strict",
        "write `description:`": "comment comments desc note notes summary",
        "write `name:`": "display_name label title",
        "write `id:`": "identifier step step_id step_name",
        "write `parallel_group:`": "group",
        "write `type:`": "kind step_type",
    }
)
_RECIPE: Final = by_word(
    {
        "write `inputs:`": """
            args context_schema input inputs_schema options params required_context required_inputs
        """,
        "write `context:`": "default_context defaults globals initial_context",
        "write `name:`": "display_name recipe recipe_name title",
        "write `description:`": "about comment desc notes purpose summary",
        "write `output:`": "final_output output_template result returns",
        "write `secrets:` with their names": "credentials",
        "write `stages:`": "phase phases stage",
        "write `steps:`": "actions recipe_steps step workflow_steps",
        "write `extends:`": "base parent",
        _ON_STEPS: "agent default_agent default_model json_schema model parse_json provider",
        "write `orchestrator: {config: …}`": "orchestration session session_config",
        "write it below `rate_limiting:`": "max_concurrent_llm min_delay_ms",
        "write `strict_shell: true`": "pipefail set_e shell_options strict",
        "write `schema_version:`": "api_version schema spec_version",
        "write `tags:`": "categories category keywords labels",
        "write `author:`": "authors maintainer maintainers owner owners reviewer reviewers",
    }
)
_STAGE: Final = by_word(
    {
        "write `name:`": "id label stage title",
        "write `description:`": "comment desc notes summary",
        _ON_STEPS: "agent model output",
    }
)
_INPUT: Final = by_word(
    {
        "write `description:`": "ask comment desc help label message notes prompt summary title",
        "write it in `description:`: what is inside a list or a map is not checked": """
            item_type items nullable properties schema
        """,
    }
)
_RATE_LIMITING: Final = by_word(
    {
        "write `max_concurrent_llm:`": "concurrency max_concurrent max_parallel",
        "write `min_delay_ms:`": "delay delay_ms interval_ms min_delay",
    }
)
_RECURSION: Final = by_word(
    {
        "write `max_depth:`": "depth max_level max_levels max_recursion",
        "write `max_total_steps:`": "limit max_steps steps total_steps",
    }
)
_WORDS: Final = {
    "step": _STEP,
    "recipe": _RECIPE,
    "stage": _STAGE,
    "input": _INPUT,
    "rate_limiting": _RATE_LIMITING,
    "recursion": _RECURSION,
}


def word_for(word: str, table: str) -> str | None:
    """Return what to write for a word that is nearly one of ours; None if nobody can tell."""
    return _WORDS.get(table, {}).get(snake_case(word))
