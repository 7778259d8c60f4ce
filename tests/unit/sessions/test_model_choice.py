"""Which model a session asks: a wish, the plan, and what the machine has."""

from __future__ import annotations

from typing import Any

import pytest

from amplihack.errors import NotFound, NothingToUse, UsageError
from amplihack.records import replace
from amplihack.sessions.model_choice import (
    ModelFacts,
    choose_model,
    has_local,
    is_configured,
    ways_to_a_model,
)

ALL = frozenset({"anthropic", "openai", "xllamacpp"})
TWO: list[dict[str, Any]] = [
    {"module": "provider-anthropic", "config": {"default_model": "claude-a"}},
    {"module": "provider-openai", "config": {"default_model": "gpt-b", "priority": 5}},
]


def facts(*, packages: frozenset[str] = ALL, here: tuple[str, ...] = (), **variables: str) -> ModelFacts:
    return ModelFacts(
        environment=variables,
        packages=packages,
        models_here=here,
        models_known=("small", "large"),
        without_tools=frozenset({"small"}),
    )


def chosen(wish: str | None, here: ModelFacts, planned: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    found = choose_model(planned or [], wish, here).providers
    return min(found, key=lambda each: (each.get("config") or {}).get("priority", 100))


@pytest.mark.parametrize(
    ("wish", "variables", "module", "model"),
    [
        ("anthropic/claude-x", {"ANTHROPIC_API_KEY": "k"}, "provider-anthropic", "claude-x"),
        ("claude-x", {"ANTHROPIC_API_KEY": "k"}, "provider-anthropic", "claude-x"),
        ("anthropic", {"ANTHROPIC_API_KEY": "k"}, "provider-anthropic", None),
        ("openai/gpt-5", {"OPENAI_API_KEY": "k"}, "provider-openai", "gpt-5"),
        ("gpt-5", {"OPENAI_API_KEY": "k"}, "provider-openai", "gpt-5"),
        ("o3-mini", {"OPENAI_API_KEY": "k"}, "provider-openai", "o3-mini"),
        ("openai/llama", {"OPENAI_BASE_URL": "http://x"}, "provider-chat-completions", "llama"),
        ("meta/llama-3", {"OPENAI_BASE_URL": "http://x"}, "provider-chat-completions", "meta/llama-3"),
        (None, {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, "provider-anthropic", None),
        (None, {"OPENAI_API_KEY": "k"}, "provider-openai", None),
        (None, {"OPENAI_API_KEY": "k", "AMPLIHACK_MODEL": "gpt-9"}, "provider-openai", "gpt-9"),
    ],
)
def test_services_are_chosen_by_wish_then_by_key(
    wish: str | None, variables: dict[str, str], module: str, model: str | None
) -> None:
    found = chosen(wish, replace(facts(), environment=variables))
    assert (found["module"], found["config"].get("default_model")) == (module, model)


@pytest.mark.parametrize("wish", ["small", "local/small", "local/my.gguf", "./my.gguf", "local"])
def test_models_of_this_machine_need_nothing(wish: str) -> None:
    found = chosen(wish, facts(here=("small",)))
    assert found["module"] == "provider-local"
    assert found["config"]["model"] in ("small", "my.gguf", "./my.gguf")


def test_without_a_key_the_largest_model_that_is_here_answers() -> None:
    found = choose_model([], None, facts(here=("small", "large")))
    assert (found.label, found.uses_tools) == ("local/large", True)
    assert not choose_model([], None, facts(here=("small",))).uses_tools


def test_a_plan_is_left_alone_unless_something_is_wished() -> None:
    assert choose_model(TWO, None, facts()).providers == TWO
    assert choose_model(TWO, None, facts()).label == "openai/gpt-b"
    first = chosen("anthropic/claude-z", facts(), TWO)
    assert (first["module"], first["config"]["default_model"]) == ("provider-anthropic", "claude-z")
    assert chosen("anthropic", facts(), TWO)["config"]["default_model"] == "claude-a"
    assert chosen("whatever", facts(), TWO[:1])["config"]["default_model"] == "whatever"
    assert TWO[0]["config"] == {"default_model": "claude-a"}


@pytest.mark.parametrize(
    ("wish", "here", "error", "fix"),
    [
        ("who/knows", facts(), UsageError, "anthropic/MODEL"),
        ("anthropic/x", facts(), NothingToUse, "ANTHROPIC_API_KEY"),
        (None, facts(OPENAI_BASE_URL="http://x"), UsageError, "--model openai/NAME"),
        (None, facts(packages=frozenset(), ANTHROPIC_API_KEY="k"), NothingToUse, "amplihack[anthropic]"),
        (None, facts(), NothingToUse, "amplihack model pull"),
        (None, facts(packages=frozenset(), here=("small",)), NothingToUse, "amplihack[local]"),
        ("local/small", facts(packages=frozenset(), here=("small",)), NothingToUse, "amplihack[local]"),
        ("./my.gguf", facts(packages=frozenset()), NothingToUse, "amplihack[local]"),
        ("large", facts(here=("small",)), NothingToUse, "amplihack model pull large"),
        ("local", facts(), NothingToUse, "amplihack model pull smollm2-135m"),
        ("local/huge", facts(), NotFound, "small, large"),
    ],
)
def test_what_cannot_be_asked_says_how_it_could(
    wish: str | None, here: ModelFacts, error: type[Exception], fix: str
) -> None:
    with pytest.raises(error) as caught:
        choose_model([], wish, here)
    assert fix in caught.value.fix  # type: ignore[attr-defined]


def test_a_service_whose_package_is_here_comes_first() -> None:
    here = facts(packages=frozenset({"openai"}), ANTHROPIC_API_KEY="k", OPENAI_API_KEY="k")
    assert chosen(None, here)["module"] == "provider-openai"


def test_what_counts_as_a_model_to_ask() -> None:
    assert not is_configured(facts())
    assert is_configured(facts(OPENAI_BASE_URL="http://x"))
    assert not has_local(facts(packages=frozenset(), here=("small",)))
    assert has_local(facts(here=("small",)))
    assert "pip install" not in ways_to_a_model(facts())
