"""List the settings of the modules that we ship, so that a bundle can be checked without mounting them.

What a module reads in its `mount` is the truth; a test holds this list to it.
"""

from __future__ import annotations

_LOOP = (
    "extended_thinking fallback max_iterations max_output_tokens max_parallel_tools max_repeats "
    "reasoning_effort response_format stream tool_timeout"
)
_DELEGATE = "context_turns exclude_tools max_concurrent max_depth max_recursion_depth settings"
_SCRIPTED = "at_end context_window name priority responses rules steps"
_API = (
    "api_key api_key_env base_url context_window default_model extra_body max_retries max_retry_delay "
    "max_tokens model name pricing priority temperature timeout"
)
_NAMES = {
    "loop-streaming": _LOOP,
    "loop-basic": _LOOP,
    "loop-events": _LOOP,
    "context-simple": "auto_compact compact_threshold max_tokens target_usage",
    "tool-filesystem": (
        "allowed_read_paths allowed_write_paths denied_read_paths denied_write_paths max_file_bytes "
        "max_lines require_approval"
    ),
    "tool-bash": (
        "allowed_commands denied_commands hide_env max_background_jobs max_output_bytes max_timeout "
        "require_approval show_env timeout"
    ),
    "tool-search": "allowed_read_paths denied_read_paths max_results ripgrep timeout",
    "tool-todo": "max_items",
    "tool-web": (
        "allowed_domains allowed_hosts allowed_private_hosts blocked_domains default_limit denied_hosts "
        "max_bytes max_size offline page_characters timeout"
    ),
    "tool-delegate": _DELEGATE,
    "tool-task": _DELEGATE,
    "tool-recipes": "agent allow_approve pass_credentials timeout",
    "tool-mcp": "max_result_characters servers timeout",
    "hooks-streaming-ui": "show_thinking show_thinking_stream show_token_usage show_tools ui",
    "hooks-logging": "additional_events log_deltas max_bytes max_field_characters path session_log_template",
    "hooks-approval": "default_action mode rules timeout",
    "hooks-redaction": "allowlist patterns redact_model_input",
    "hooks-cost": "budget_tokens budget_usd warn_at",
    "provider-scripted": _SCRIPTED,
    "provider-anthropic": _API,
    "provider-openai": _API,
    "provider-chat-completions": _API,
    "provider-local": "context_window default_model max_tokens model name priority temperature threads",
    "provider-mock": _SCRIPTED,
}


def settings_of(module: str) -> frozenset[str]:
    """Return the names that the `config` of a module of ours may have; empty if it is not ours."""
    return frozenset(_NAMES.get(module, "").split())
