from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from amplihack.sessions.models import is_glob_pattern, matching_models, resolve_model_pattern
from amplihack.sessions.preferences import (
    ProviderPreference,
    apply_provider_preferences,
    apply_provider_preferences_with_resolution,
)
from amplihack.sessions.providers import find_provider_index, find_provider_instance


class Provider:
    def __init__(self, *models: Any) -> None:
        self.models = models

    async def list_models(self) -> list[Any]:
        if self.models and isinstance(self.models[0], Exception):
            raise self.models[0]
        return list(self.models)


class Synchronous:
    def list_models(self) -> list[str]:
        return ["gpt-5"]


class Model:
    id = "claude-haiku-4-5"


class Coordinator:
    def __init__(self, mounted: Mapping[str, Any] | None, providers: list[dict[str, Any]] | None = None):
        self.mounted = mounted
        self.config = {"providers": providers or []}

    def get(self, mount_point: str, /) -> Any:
        assert mount_point == "providers"
        return self.mounted


def plan(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"providers": list(entries), "session": {"raw": True}}


ANTHROPIC: dict[str, Any] = {"module": "provider-anthropic", "config": {"priority": 10, "api_key": "k"}}
OPENAI: dict[str, Any] = {"module": "provider-openai"}


def test_a_preference_survives_being_written_and_read() -> None:
    wish = ProviderPreference("openai", "gpt-5", {"temperature": 0.3})
    assert ProviderPreference.from_dict(wish.to_dict()) == wish
    assert ProviderPreference("openai", "gpt-5").to_dict() == {"provider": "openai", "model": "gpt-5"}


@pytest.mark.parametrize("missing", ["provider", "model"])
def test_a_preference_needs_both_names(missing: str) -> None:
    data = {"provider": "openai", "model": "gpt-5"}
    del data[missing]
    with pytest.raises(ValueError, match=f"requires '{missing}' key"):
        ProviderPreference.from_dict(data)


def test_the_first_wish_that_can_be_met_comes_first() -> None:
    before = plan(ANTHROPIC, OPENAI)
    wishes = [ProviderPreference("azure", "gpt-4"), ProviderPreference("openai", "gpt-5")]
    after = apply_provider_preferences(before, wishes)
    assert after["providers"] == [
        ANTHROPIC,
        {"module": "provider-openai", "config": {"priority": 0, "default_model": "gpt-5"}},
    ]
    assert before == plan(ANTHROPIC, OPENAI)
    assert after["session"] is before["session"]


def test_no_wish_changes_where_requests_go_or_in_whose_name() -> None:
    config = {"api_key": "evil", "base_url": "http://evil", "priority": 9, "temperature": 0.3}
    wishes = [ProviderPreference("anthropic", "claude", config)]
    after = apply_provider_preferences(plan(ANTHROPIC), wishes)
    expected = {"priority": 0, "api_key": "k", "temperature": 0.3, "default_model": "claude"}
    assert after["providers"][0]["config"] == expected


def test_a_plan_that_cannot_meet_any_wish_is_returned_itself_and_that_is_told() -> None:
    told: list[str] = []
    before = plan(ANTHROPIC)
    wish = ProviderPreference("openai", "gpt-5")
    assert apply_provider_preferences(before, [wish], warn=told.append) is before
    assert told == [
        "No preferred providers found: wished for openai/gpt-5; the mount plan has provider-anthropic"
    ]
    empty: dict[str, Any] = {}
    assert apply_provider_preferences(empty, [wish], warn=told.append) is empty
    assert apply_provider_preferences(before, [], warn=told.append) is before
    assert told[1:] == ["the mount plan has no providers to choose from"]


@pytest.mark.parametrize("name", ["anthropic", "provider-anthropic", "team-b"])
def test_a_provider_has_several_names(name: str) -> None:
    entries: list[dict[str, Any]] = [OPENAI, {**ANTHROPIC, "id": "team-b"}]
    assert find_provider_index(entries, name) == 1


def test_a_module_without_the_prefix_is_found_with_it() -> None:
    assert find_provider_index([{"module": "local"}], "provider-local") == 0


def test_of_several_instances_the_one_with_the_lowest_priority_is_meant() -> None:
    entries: list[dict[str, Any]] = [
        {"module": "provider-anthropic", "id": "a", "config": {"priority": 5}},
        {"module": "provider-anthropic", "id": "b", "config": {"priority": 1}},
        {"module": "provider-anthropic", "id": "c"},
    ]
    assert find_provider_index(entries, "anthropic") == 1
    assert find_provider_index(entries, "c") == 2


def test_an_id_that_is_called_like_a_module_keeps_its_name() -> None:
    entries: list[dict[str, Any]] = [
        {"module": "provider-anthropic", "config": {"priority": 1}},
        {"module": "provider-other", "id": "anthropic"},
    ]
    assert find_provider_index(entries, "anthropic") == 1


def test_a_live_instance_is_found_by_its_module_through_the_plan() -> None:
    planned = [
        {"module": "provider-anthropic", "id": "sonnet", "config": {"priority": 5}},
        {"module": "provider-anthropic", "id": "opus", "config": {"priority": 1}},
    ]
    mounted = {"sonnet": "S", "opus": "O"}
    coordinator = Coordinator(mounted, planned)
    assert find_provider_instance(mounted, "anthropic", coordinator) == "O"
    assert find_provider_instance(mounted, "anthropic") is None
    assert find_provider_instance({**mounted, "anthropic": "A"}, "provider-anthropic", coordinator) == "A"
    assert find_provider_instance(mounted, "openai", coordinator) is None


@pytest.mark.parametrize(
    ("text", "glob"), [("gpt-4o", False), ("gpt-4*", True), ("gpt-?", True), ("gpt-[45]", True)]
)
def test_a_pattern_has_a_wildcard(text: str, glob: bool) -> None:
    assert is_glob_pattern(text) is glob


@pytest.mark.parametrize(
    ("pattern", "models", "newest"),
    [
        (
            "claude-3-haiku-*",
            ["claude-3-haiku-20240101", "claude-3-haiku-20240307"],
            "claude-3-haiku-20240307",
        ),
        ("model-*", ["model-9", "model-10"], "model-10"),
        ("opus-4*", ["opus-4-20250514", "opus-4-1-20250805"], "opus-4-1-20250805"),
        ("gpt-4o*", ["gpt-4o", "gpt-4o-mini"], "gpt-4o-mini"),
        ("QWEN3*", ["Qwen3.6-35B", "llama"], "Qwen3.6-35B"),
    ],
)
def test_the_newest_model_that_matches_wins(pattern: str, models: list[str], newest: str) -> None:
    assert matching_models(pattern, models)[0] == newest


@pytest.mark.asyncio
async def test_what_is_no_pattern_is_the_model_itself() -> None:
    found = await resolve_model_pattern("gpt-5", "openai", Coordinator({}))
    assert (found.resolved_model, found.pattern) == ("gpt-5", None)


@pytest.mark.asyncio
async def test_a_pattern_without_a_provider_stays_as_it_is() -> None:
    told: list[str] = []
    found = await resolve_model_pattern("gpt-*", None, Coordinator({}), warn=told.append)
    assert (found.resolved_model, found.pattern) == ("gpt-*", "gpt-*")
    assert len(told) == 1


@pytest.mark.asyncio
async def test_models_may_be_objects_and_the_listing_synchronous() -> None:
    coordinator = Coordinator({"provider-anthropic": Provider(Model()), "openai": Synchronous()})
    assert (await resolve_model_pattern("claude-*", "anthropic", coordinator)).resolved_model == Model.id
    assert (await resolve_model_pattern("gpt-*", "openai", coordinator)).resolved_model == "gpt-5"


@pytest.mark.parametrize(
    "mounted",
    [
        None,
        {},
        {"openai": object()},
        {"openai": Provider()},
        {"openai": Provider("o1")},
        {"openai": Provider(OSError("down"))},
    ],
)
@pytest.mark.asyncio
async def test_a_pattern_that_nothing_matches_is_unresolved(mounted: Mapping[str, Any] | None) -> None:
    told: list[str] = []
    found = await resolve_model_pattern("gpt-*", "openai", Coordinator(mounted), warn=told.append)
    assert found.resolved_model is None
    assert found.matched_models == []
    assert told


@pytest.mark.asyncio
async def test_a_wish_whose_pattern_fails_gives_way_to_the_next() -> None:
    coordinator = Coordinator({"anthropic": Provider("claude-opus"), "openai": Provider("gpt-5", "gpt-6")})
    wishes = [ProviderPreference("anthropic", "claude-haiku-*"), ProviderPreference("openai", "gpt-*")]
    after = await apply_provider_preferences_with_resolution(plan(ANTHROPIC, OPENAI), wishes, coordinator)
    assert after["providers"][0] == ANTHROPIC
    assert after["providers"][1]["config"] == {"priority": 0, "default_model": "gpt-6"}


@pytest.mark.asyncio
async def test_no_unresolved_pattern_ends_up_in_a_plan() -> None:
    before = plan(ANTHROPIC)
    wishes = [ProviderPreference("anthropic", "x-*"), ProviderPreference("azure", "gpt-5")]
    coordinator = Coordinator({"anthropic": Provider("claude")})
    assert await apply_provider_preferences_with_resolution(before, wishes, coordinator) is before
