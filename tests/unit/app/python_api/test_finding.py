"""Recipes by the short names that scripts call."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplihack.app.python_api import finding
from amplihack.errors import UsageError
from amplihack.system import search_dirs


def put(path: Path, name: str | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"name: {name or path.stem}\nsteps:\n  - {{id: one, command: 'true'}}\n")
    return path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(search_dirs, "PACKAGED_BUNDLE", tmp_path / "packaged")
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_the_short_functions_ask_the_same_library(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(project.parent / "user"))
    monkeypatch.chdir(project)
    for name in ("AMPLIHACK_HOME", "AMPLIHACK_PACKAGE_RECIPE_DIR", "RECIPE_RUNNER_RECIPE_DIRS"):
        monkeypatch.delenv(name, raising=False)
    default = put(project / ".claude" / "recipes" / "build.yaml")
    other = put(project / "other" / "build.yaml")
    put(project / "other" / "later.yaml", "build")
    assert finding.find_recipe("build") == default
    assert finding.find_recipe("build", ["other"]) == other
    assert finding.find_recipe("../build") is None
    assert [info.path for info in finding.list_recipes(["other"])] == [other]
    assert finding.discover_recipes()["build"].path == default
    states = {state.path: state for state in finding.verify_global_installation()}
    assert states[default.parent].recipe_files == 1
    assert not states[project / "amplifier-bundle" / "recipes"].exists
    assert finding.cached_discover_recipes(["other"]).keys() == {"build"}


def test_a_cache_looks_again_when_it_is_old_or_asked_for_other_directories(tmp_path: Path) -> None:
    now = [0.0]
    cache = finding.DiscoveryCache(10, clock=lambda: now[0])
    put(tmp_path / "one" / "a.yaml")
    put(tmp_path / "two" / "z.yaml")
    one, two = [tmp_path / "one"], [tmp_path / "two"]
    assert cache.discover(one).keys() == {"a"}
    put(tmp_path / "one" / "b.yaml")
    now[0] = 9.9
    assert cache.discover(one).keys() == {"a"}
    now[0] = 10.0
    assert cache.discover(one).keys() == {"a", "b"}
    assert cache.discover(two).keys() == {"z"}
    put(tmp_path / "two" / "y.yaml")
    cache.invalidate()
    assert cache.discover(two).keys() == {"y", "z"}


def test_a_cache_without_a_lifetime_always_looks(tmp_path: Path) -> None:
    cache = finding.DiscoveryCache(0)
    assert cache.discover([tmp_path]) == {}
    put(tmp_path / "a.yaml")
    assert cache.discover([tmp_path]).keys() == {"a"}


def test_the_lifetime_of_the_cache_is_a_number_of_seconds() -> None:
    assert [finding.cache_ttl(text) for text in (None, "", "5", "0", "0.5", "2m")] == [30, 30, 5, 0, 0.5, 120]
    for text in ("soon", "-1", "nan", "inf"):
        with pytest.raises(UsageError, match="RECIPE_RUNNER_CACHE_TTL"):
            finding.cache_ttl(text)
