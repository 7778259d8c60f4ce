"""Apply provider preferences; those that cannot be met are logged."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from amplihack.sessions import models as _models
from amplihack.sessions import preferences as _preferences
from amplihack.sessions.models import Coordinator, ModelResolutionResult, is_glob_pattern
from amplihack.sessions.preferences import MountPlan, ProviderPreference
from amplihack.sessions.preferences import override_provider as _apply_single_override
from amplihack.sessions.providers import find_provider_index as _find_provider_index
from amplihack.sessions.providers import find_provider_instance as _find_provider_instance
from amplihack.sessions.providers import provider_lookup as _build_provider_lookup

__all__ = [
    "ModelResolutionResult",
    "ProviderPreference",
    "_apply_single_override",
    "_build_provider_lookup",
    "_find_provider_index",
    "_find_provider_instance",
    "apply_provider_preferences",
    "apply_provider_preferences_with_resolution",
    "is_glob_pattern",
    "resolve_model_pattern",
]

_logger = logging.getLogger(__name__)


def apply_provider_preferences(mount_plan: MountPlan, preferences: Sequence[ProviderPreference]) -> MountPlan:
    return _preferences.apply_provider_preferences(mount_plan, preferences, warn=_logger.warning)


async def apply_provider_preferences_with_resolution(
    mount_plan: MountPlan, preferences: Sequence[ProviderPreference], coordinator: Coordinator
) -> MountPlan:
    return await _preferences.apply_provider_preferences_with_resolution(
        mount_plan, preferences, coordinator, warn=_logger.warning
    )


async def resolve_model_pattern(
    model_hint: str, provider_name: str | None, coordinator: Coordinator
) -> ModelResolutionResult:
    return await _models.resolve_model_pattern(model_hint, provider_name, coordinator, warn=_logger.warning)
