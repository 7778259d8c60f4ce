"""Find the model of a step: what it prefers, as far as that can be had here, else the usual one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from amplihack.app.sessions.asking import AskRequest, TalkHost, open_talk, planned_providers
from amplihack.app.sessions.models_here import facts_here, model_here
from amplihack.app.sessions.prepared import BundleHere
from amplihack.app.workspace import Workspace
from amplihack.bundles.mount_plan import mount_plan
from amplihack.errors import AmplihackError
from amplihack.records import Record
from amplihack.sessions.model_choice import ChosenModel, is_provider
from amplihack.sessions.models import is_glob_pattern, matching_models, resolve_model_pattern


class Met(Record):
    """The wish that is met, None for the usual model, and what of the step could not be followed."""

    wish: str | None = None
    unmet: tuple[str, ...] = ()
    is_local: bool = False  # it runs in this process


class StepModels:
    """Chooses models for steps. Raises NothingToUse or InputError if there is no usual one."""

    def __init__(self, workspace: Workspace, here: BundleHere) -> None:
        self._workspace, self._here = workspace, here
        self._planned = planned_providers(mount_plan(here.loaded.bundle))
        self._resolved: dict[tuple[str, str], str | None] = {}
        self._usual = model_here(workspace, self._planned, None)

    async def for_step(self, wanted: Sequence[tuple[str, str]], tell: Callable[[str], None]) -> Met:
        """Return the first preference that can be met; models may be patterns, such as `claude-haiku-*`."""
        for provider, model in wanted:
            if provider and not is_provider(self._planned, provider):
                continue
            wish = f"{provider}/{model}" if provider and model else provider or model
            chosen = self._chosen(wish)
            if chosen is None:
                continue
            if not is_glob_pattern(model):
                return Met(wish, (), _is_local(chosen))
            service = provider or chosen.label.partition("/")[0]
            found = await self._newest(service, model, tell)
            if found is not None:
                return Met(f"{service}/{found}", (), _is_local(chosen))
        return Met(None, ("model",) if wanted else (), _is_local(self._usual))

    def _chosen(self, wish: str) -> ChosenModel | None:
        """Return what a wish means here; None if it cannot be had."""
        try:
            return model_here(self._workspace, self._planned, wish) if wish else None
        except AmplihackError:
            return None

    async def _newest(self, provider: str, pattern: str, tell: Callable[[str], None]) -> str | None:
        """Return the newest model that fits; the service is asked once."""
        key = (provider, pattern)
        if key not in self._resolved:
            self._resolved[key] = await self._asked_for(provider, pattern, tell)
        return self._resolved[key]

    async def _asked_for(self, provider: str, pattern: str, tell: Callable[[str], None]) -> str | None:
        """Ask the service for its models, and those of this machine for what is here."""
        if provider == "local":
            matching = matching_models(pattern, facts_here(self._workspace).models_here)
            return matching[0] if matching else None
        request = AskRequest(model=f"{provider}/{pattern}", keep=False)
        async with await open_talk(self._workspace, request, TalkHost(), here=self._here) as talk:
            found = await resolve_model_pattern(pattern, provider, talk.session.coordinator, warn=tell)
        return found.resolved_model


def _is_local(chosen: ChosenModel) -> bool:
    return any(each.get("module") == "provider-local" for each in chosen.providers)
