"""Export the public names of Amplifier's foundation library, for unchanged bundles, modules and apps.

Everything is imported on first use, so that `import amplifier_foundation` costs almost nothing. Type checkers
read `__init__.pyi`, which lists the same names.
"""

from __future__ import annotations

_HOMES = {
    "bundle._dataclass": ("Bundle",),
    "bundle._observability": ("inject_additional_events",),
    "bundle._prepared": (
        "BundleModuleResolver",
        "BundleModuleSource",
        "PreparedBundle",
        "SessionPreInitializer",
        "bridge_child_cost",
        "sum_cost_usd",
    ),
    "cache.disk": ("DiskCache",),
    "cache.protocol": ("CacheProviderProtocol",),
    "cache.simple": ("SimpleCache",),
    "configurator._overlay": (
        "RUNTIME_CONTEXT_OVERLAY_CAPABILITY",
        "RUNTIME_SKILL_OVERLAY_CAPABILITY",
        "RuntimeOverlay",
        "TransitionResult",
    ),
    "configurator._session": ("SessionConfigurator",),
    "dicts.merge": (
        "deep_merge",
        "merge_module_lists",
    ),
    "dicts.navigation": (
        "get_nested",
        "set_nested",
    ),
    "exceptions": (
        "BundleDependencyError",
        "BundleError",
        "BundleLoadError",
        "BundleNotFoundError",
        "BundleValidationError",
    ),
    "io.files": (
        "read_with_retry",
        "write_with_backup",
        "write_with_retry",
    ),
    "io.frontmatter": ("parse_frontmatter",),
    "io.yaml": (
        "read_yaml",
        "write_yaml",
    ),
    "mentions.deduplicator": ("ContentDeduplicator",),
    "mentions.loader": (
        "expand_mentions_in_instruction",
        "load_mentions",
    ),
    "mentions.models": (
        "ContextFile",
        "MentionResult",
    ),
    "mentions.parser": ("parse_mentions",),
    "mentions.protocol": ("MentionResolverProtocol",),
    "mentions.resolver": ("BaseMentionResolver",),
    "paths.construction": (
        "construct_agent_path",
        "construct_context_path",
    ),
    "paths.discovery": (
        "find_bundle_root",
        "find_files",
    ),
    "paths.resolution": (
        "ParsedURI",
        "normalize_path",
        "parse_uri",
    ),
    "registry": (
        "BundleRegistry",
        "BundleState",
        "UpdateInfo",
        "load_bundle",
    ),
    "serialization": (
        "sanitize_for_json",
        "sanitize_message",
    ),
    "session.capabilities": (
        "WORKING_DIR_CAPABILITY",
        "get_working_dir",
        "set_working_dir",
    ),
    "sources.protocol": (
        "SourceHandlerProtocol",
        "SourceHandlerWithStatusProtocol",
        "SourceResolverProtocol",
        "SourceStatus",
    ),
    "sources.resolver": ("SimpleSourceResolver",),
    "spawn_utils": (
        "ModelResolutionResult",
        "ProviderPreference",
        "apply_provider_preferences",
        "apply_provider_preferences_with_resolution",
        "is_glob_pattern",
        "resolve_model_pattern",
    ),
    "subprocess_runner": ("run_session_in_subprocess",),
    "tracing": ("generate_sub_session_id",),
    "updates": (
        "BundleStatus",
        "check_bundle_status",
        "update_bundle",
    ),
    "validator": (
        "BundleValidator",
        "ValidationResult",
        "validate_bundle",
        "validate_bundle_or_raise",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
_PARTS = frozenset(
    {*(module.partition(".")[0] for module in _HOMES), "bundle_docs", "grpc_adapter", "modules"}
)

__all__ = [*_HOME_OF]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _HOME_OF:
        return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    if name in _PARTS:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*_HOME_OF, *_PARTS})
