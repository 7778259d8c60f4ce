"""Choose the provider and model of a session, out of those in its mount plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from amplihack.records import Record, field
from amplihack.sessions.models import Coordinator, is_glob_pattern, resolve_model_pattern
from amplihack.sessions.providers import Entry, find_provider_index

MountPlan: TypeAlias = dict[str, Any]
Warn: TypeAlias = Callable[[str], None]

# An agent may choose how a model works, never where a request goes or in whose name.
PROTECTED_KEYS = frozenset({
    "api_key", "secret", "password", "token", "access_token", "bearer_token", "client_id", "client_secret",
    "tenant_id", "base_url", "host", "azure_endpoint", "api_version", "deployment_name", "organization",
    "project", "managed_identity_client_id", "use_managed_identity", "use_default_credential", "proxy",
    "http_proxy", "https_proxy", "verify_ssl", "ssl_verify", "verify", "ca_bundle",
})  # fmt: skip


class ProviderPreference(Record):
    """A preferred provider and model; the model may be a pattern."""

    provider: str
    model: str
    config: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"provider": self.provider, "model": self.model}
        return {**plain, "config": dict(self.config)} if self.config else plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ProviderPreference:
        """Return the preference from its data. Raises ValueError if one of the two names is missing."""
        if not isinstance(data, Mapping):
            raise ValueError(  # noqa: TRY004 - as for a missing key
                f"ProviderPreference requires a mapping, got {type(data).__name__}: {data!r}"
            )
        for key in ("provider", "model"):
            if key not in data:
                raise ValueError(f"ProviderPreference requires '{key}' key")
        return cls(data["provider"], data["model"], dict(data.get("config") or {}))


def apply_provider_preferences(
    mount_plan: MountPlan, preferences: Sequence[ProviderPreference], *, warn: Warn | None = None
) -> MountPlan:
    """Return a plan with the first preference that it can meet; the plan itself if it can meet none."""
    providers = _providers(mount_plan, preferences, warn)
    for wish in preferences if providers else ():
        index = find_provider_index(providers, wish.provider)
        if index is not None:
            return override_provider(mount_plan, providers, index, wish.model, wish.config)
    return _unmet(mount_plan, providers, preferences, warn)


async def apply_provider_preferences_with_resolution(
    mount_plan: MountPlan,
    preferences: Sequence[ProviderPreference],
    coordinator: Coordinator,
    *,
    warn: Warn | None = None,
) -> MountPlan:
    """Do the same with model patterns resolved by the live providers. An unresolved one is unmet."""
    providers = _providers(mount_plan, preferences, warn)
    for wish in preferences if providers else ():
        index = find_provider_index(providers, wish.provider)
        if index is None:
            continue
        model: str | None = wish.model
        if is_glob_pattern(wish.model):
            found = await resolve_model_pattern(wish.model, wish.provider, coordinator, warn=warn)
            model = found.resolved_model
        if model is not None:
            return override_provider(mount_plan, providers, index, model, wish.config)
    return _unmet(mount_plan, providers, preferences, warn)


def override_provider(
    mount_plan: MountPlan,
    providers: Sequence[Entry],
    index: int,
    model: str,
    pref_config: Mapping[str, Any] | None = None,
) -> MountPlan:
    """Return a new plan in which the provider at the index comes first, with this model."""
    # A preference may come from an agent file, so protected keys are dropped.
    chosen = {key: value for key, value in (pref_config or {}).items() if key not in PROTECTED_KEYS}
    copies = [dict(entry) for entry in providers]
    before = copies[index].get("config") or {}
    copies[index]["config"] = {**before, **chosen, "priority": 0, "default_model": model}
    return {**mount_plan, "providers": copies}


def _providers(
    mount_plan: MountPlan, preferences: Sequence[ProviderPreference], warn: Warn | None
) -> list[Entry]:
    listed = mount_plan.get("providers") or []
    providers = [entry for entry in listed if isinstance(entry, dict)]
    if preferences and not providers and warn is not None:
        warn("the mount plan has no providers to choose from")
    return providers


def _unmet(
    mount_plan: MountPlan,
    providers: Sequence[Entry],
    preferences: Sequence[ProviderPreference],
    warn: Warn | None,
) -> MountPlan:
    if providers and preferences and warn is not None:
        wished = ", ".join(f"{wish.provider}/{wish.model}" for wish in preferences)
        there = ", ".join(
            str(entry.get("id") or entry.get("instance_id") or entry.get("module")) for entry in providers
        )
        warn(f"No preferred providers found: wished for {wished}; the mount plan has {there}")
    return mount_plan
