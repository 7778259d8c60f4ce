"""Where the facade adds something: defaults from the environment, and warnings as log records."""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path, PosixPath
from typing import Any

import pytest

import amplifier_foundation
from amplifier_foundation import (
    ProviderPreference,
    apply_provider_preferences,
    apply_provider_preferences_with_resolution,
    bridge_child_cost,
    construct_agent_path,
    construct_context_path,
    read_with_retry,
    resolve_model_pattern,
)
from amplifier_foundation.paths import describe_cross_platform_path_mismatch, get_amplifier_home
from amplifier_foundation.session import find_sessions, resolve_session, write_metadata

WISHES = [ProviderPreference("openai", "gpt-*")]


class Coordinator:
    def get(self, *_: object) -> Any:
        return None

    async def collect_contributions(self, *_: object) -> Any:
        raise RuntimeError("closed")

    def register_contributor(self, *_: object) -> None:
        raise AssertionError("nothing to register")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path))
    return tmp_path.resolve()


def test_amplifiers_home_is_where_the_environment_says(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_amplifier_home() == home
    monkeypatch.delenv("AMPLIFIER_HOME")
    assert get_amplifier_home() == Path.home().resolve() / ".amplifier"


def test_sessions_are_looked_for_in_amplifiers_home(home: Path) -> None:
    session = home / "projects" / "p" / "sessions" / "abc"
    session.mkdir(parents=True)
    write_metadata(session, {"session_id": "abc"})
    assert resolve_session("ab") == session
    assert [entry["session_id"] for entry in find_sessions(project="p")] == ["abc"]
    assert find_sessions(project="other") == []


def test_wishes_that_cannot_be_met_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    plan: dict[str, Any] = {"providers": [{"module": "provider-anthropic"}]}
    with caplog.at_level(logging.WARNING, "amplifier_foundation.spawn_utils"):
        assert apply_provider_preferences(plan, WISHES) is plan
    assert "No preferred providers found" in caplog.text


@pytest.mark.asyncio
async def test_patterns_that_cannot_be_resolved_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    plan: dict[str, Any] = {"providers": [{"module": "provider-openai"}]}
    assert await apply_provider_preferences_with_resolution(plan, WISHES, Coordinator()) is plan
    assert (await resolve_model_pattern("a*", "openai", Coordinator())).resolved_model is None
    assert "no model of openai matches 'gpt-*'" in caplog.text
    assert "no model of openai matches 'a*'" in caplog.text


@pytest.mark.asyncio
async def test_a_bill_that_cannot_be_had_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    await bridge_child_cost(Coordinator(), Coordinator(), "child-1")
    assert "the cost of child-1 is not known" in caplog.text


@pytest.mark.asyncio
async def test_a_retry_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Flaky(PosixPath):
        failures = 1

        def read_text(self, *_: object, **__: object) -> str:
            if Flaky.failures:
                Flaky.failures -= 1
                raise OSError(errno.EIO, "Input/output error")
            return "content"

    assert await read_with_retry(Flaky("/synced"), initial_delay=0) == "content"
    assert caplog.text.count("cloud sync") == 1


def test_paths_of_other_systems_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    explained = describe_cross_platform_path_mismatch("C:\\x")
    assert explained is not None
    assert "Windows-style absolute path" in explained
    assert describe_cross_platform_path_mismatch("/x") is None
    with monkeypatch.context() as patch:
        patch.setattr(os, "name", "nt")
        explained = describe_cross_platform_path_mismatch("/x")
    assert explained is not None
    assert "POSIX-style absolute path" in explained


def test_errors_are_one_family() -> None:
    for name in ("NotFound", "Load", "Validation", "Dependency"):
        error = getattr(amplifier_foundation, f"Bundle{name}Error")
        assert issubclass(error, amplifier_foundation.BundleError)
        assert str(error("what happened")) == "what happened"


def test_merging_follows_the_documented_rules() -> None:
    parent = {"a": [1, True], "b": {"x": 1}, "c": 1}
    child = {"a": [True, 1.0], "b": {"y": 2}, "c": None}
    merged = amplifier_foundation.deep_merge(parent, child)
    assert repr(merged) == repr({"a": [1, True, 1.0], "b": {"x": 1, "y": 2}, "c": None})
    modules = amplifier_foundation.merge_module_lists(
        [{"module": "a", "source": "s", "config": {"x": 1}}], [{"module": "b"}, {"module": "a", "id": "2"}]
    )
    assert [module.get("id", module["module"]) for module in modules] == ["a", "b", "2"]


def test_agents_and_context_have_their_places() -> None:
    base = Path("/bundle")
    assert construct_agent_path(base, "reviewer") == Path("/bundle/agents/reviewer.md")
    assert construct_agent_path(base, "reviewer.md") == Path("/bundle/agents/reviewer.md")
    assert construct_context_path(base, "/context/a.yaml") == Path("/bundle/context/a.yaml")
    assert construct_context_path(base, "") == base
