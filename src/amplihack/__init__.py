"""Package, compose and run AI-agent work.

Each name is imported on first use, so that `import amplihack` costs almost nothing. Type checkers read
`__init__.pyi`, which lists the same names.
"""

from __future__ import annotations

from amplihack.version import __version__

_HOMES = {
    "amplihack.app.adapter": ("Adapter", "ExecutionListener"),
    "amplihack.app.python_api.finding": (
        "DiscoveryCache",
        "cached_discover_recipes",
        "discover_recipes",
        "find_recipe",
        "list_recipes",
        "verify_global_installation",
    ),
    "amplihack.app.python_api.reading": (
        "RecipeContext",
        "RecipeParser",
        "load_recipe",
        "parse_recipe",
        "validate_recipe",
    ),
    "amplihack.app.python_api.running": (
        "RecipeRunner",
        "run_file",
        "run_file_async",
        "run_recipe",
        "run_recipe_by_name",
    ),
    "amplihack.app.sessions.prepared": ("HostParts", "Prepared", "prepare_bundle"),
    "amplihack.errors": (
        "AmplihackError",
        "ConditionError",
        "DocumentError",
        "InputError",
        "Location",
        "NotFound",
        "NothingToUse",
        "Problem",
        "RecipeError",
        "TemplateError",
        "UsageError",
    ),
    "amplihack.recipes.classify": ("classify", "may_attempt"),
    "amplihack.recipes.conditions": ("parse_condition",),
    "amplihack.recipes.explain": ("describe", "explain"),
    "amplihack.recipes.model": ("Recipe", "Stage", "Step"),
    "amplihack.recipes.results": ("RunResult", "StepResult"),
    "amplihack.recipes.schema": ("json_schema",),
    "amplihack.recipes.templates": ("ShellScript", "render_shell", "render_text"),
    "amplihack.sessions.errors": (
        "ModulesFailed",
        "SessionError",
        "SessionInUse",
        "SessionNotFound",
        "SessionNotStored",
        "SpawnRefused",
        "TurnCancelled",
    ),
    "amplihack.sessions.happenings": ("Happening",),
    "amplihack.sessions.usage": ("TokenUsage",),
    "amplihack.system.agent_files": ("AgentFiles",),
    "amplihack.system.kernel.session": ("LiveSession",),
    "amplihack.system.recipe_manifest": ("check_upstream_changes", "update_manifest"),
    "amplihack.system.recipe_upstream": ("compare_with_upstream",),
    "amplihack.system.run_store.store": ("RunStore",),
    "amplihack.system.session_store.store": ("SessionStore",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["__version__", *_HOME_OF]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'amplihack' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
