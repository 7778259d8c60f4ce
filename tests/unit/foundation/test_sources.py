"""Sources: handlers for each kind of address, a resolver of them all, and updates of what a bundle uses."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from amplifier_foundation import (
    Bundle,
    BundleNotFoundError,
    BundleRegistry,
    BundleStatus,
    SimpleSourceResolver,
    SourceHandlerWithStatusProtocol,
    SourceStatus,
    UpdateInfo,
    check_bundle_status,
    parse_uri,
    update_bundle,
)
from amplifier_foundation.paths.resolution import ParsedURI, ResolvedSource
from amplifier_foundation.sources import (
    FileSourceHandler,
    GitCloneTimeoutError,
    GitSourceHandler,
    HttpSourceHandler,
    ZipSourceHandler,
)

ADDRESSES = {
    FileSourceHandler: ("file:///p", "/p", "./p"),
    GitSourceHandler: ("git+https://h/r@main", "git+ssh://git@h/r", "git+file:///r"),
    ZipSourceHandler: ("zip+https://h/a.zip", "zip+file:///a.zip"),
    HttpSourceHandler: ("https://h/b.yaml", "http://h/b.yaml"),
}


def git(repository: Path, *words: str) -> str:
    run = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *words],
        cwd=repository, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return run.stdout.strip()


def commit(repository: Path, tool: str) -> str:
    (repository / "bundle.yaml").write_text(f"bundle: {{name: far}}\ntools: [{{module: {tool}}}]\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", tool)
    return git(repository, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "far"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    commit(path, "old")
    return path


@pytest.mark.parametrize("kind", ADDRESSES)
def test_each_handler_takes_its_own_addresses(kind: type[GitSourceHandler]) -> None:
    handler = kind()
    assert isinstance(handler, SourceHandlerWithStatusProtocol)
    for other, addresses in ADDRESSES.items():
        assert {handler.can_handle(parse_uri(uri)) for uri in addresses} == {other is kind}


@pytest.mark.asyncio
async def test_files_are_found_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "bundles/core").mkdir(parents=True)
    (tmp_path / "bundles/core/bundle.yaml").write_text("bundle: {name: core}\n")
    handler = FileSourceHandler(base_path=tmp_path)
    parsed = ParsedURI(scheme="file", host="", path=str(tmp_path / "bundles"), ref="", subpath="core")
    found = await handler.resolve(parsed, tmp_path / "cache")
    assert (found.active_path, found.source_root) == (tmp_path / "bundles/core", tmp_path / "bundles")
    assert found.is_subdirectory
    relative = await handler.resolve(parse_uri("./bundles/core"), tmp_path / "cache")
    assert relative.active_path == tmp_path / "bundles/core"
    with pytest.raises(BundleNotFoundError, match="not found"):
        await handler.resolve(parse_uri("./none"), tmp_path / "cache")


@pytest.mark.asyncio
async def test_an_archive_is_unpacked_once(tmp_path: Path) -> None:
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("one/bundle.yaml", "bundle: {name: one}")
        file.writestr("two/bundle.yaml", "bundle: {name: two}")
    parsed = parse_uri(f"zip+file://{archive}#subdirectory=one")
    first = await ZipSourceHandler().resolve(parsed, tmp_path / "cache")
    assert (first.active_path / "bundle.yaml").is_file()
    assert first.source_root != first.active_path
    archive.unlink()
    assert await ZipSourceHandler().resolve(parsed, tmp_path / "cache") == first


@pytest.mark.asyncio
async def test_a_repository_is_cached_compared_and_updated(repository: Path, tmp_path: Path) -> None:
    handler, cache = GitSourceHandler(), tmp_path / "cache"
    parsed = parse_uri(f"git+file://{repository}@main")
    found = await handler.resolve(parsed, cache)
    assert "old" in (found.active_path / "bundle.yaml").read_text()
    assert (await handler.get_status(parsed, cache)).has_update is False
    new = commit(repository, "new")
    status = await handler.get_status(parsed, cache)
    assert (status.has_update, status.remote_commit) == (True, new)
    assert "old" in ((await handler.resolve(parsed, cache)).active_path / "bundle.yaml").read_text()
    updated = await handler.update(parsed, cache)
    assert "new" in (updated.active_path / "bundle.yaml").read_text()
    assert "old" in (found.active_path / "bundle.yaml").read_text()  # a version never changes


@pytest.mark.asyncio
async def test_an_update_that_fails_keeps_what_is_there(repository: Path, tmp_path: Path) -> None:
    handler, cache = GitSourceHandler(), tmp_path / "cache"
    parsed = parse_uri(f"git+file://{repository}")
    found = await handler.resolve(parsed, cache)
    shutil.move(repository, tmp_path / "moved")
    with pytest.raises(BundleNotFoundError):
        await handler.update(parsed, cache)
    assert (found.active_path / "bundle.yaml").is_file()


@pytest.mark.asyncio
async def test_the_resolver_asks_added_handlers_first(tmp_path: Path) -> None:
    class Mine:
        def can_handle(self, parsed: ParsedURI) -> bool:
            return parsed.scheme in ("", "mine")

        async def resolve(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource:
            return ResolvedSource(active_path=cache_dir / parsed.path, source_root=cache_dir)

    resolver = SimpleSourceResolver(cache_dir=tmp_path, base_path=tmp_path)
    with pytest.raises(BundleNotFoundError, match="No handler"):
        await resolver.resolve("just-a-name")
    resolver.add_handler(Mine())
    found = await resolver.resolve("just-a-name")
    assert (found.active_path, found.is_subdirectory) == (tmp_path / "just-a-name", True)
    assert (await resolver.resolve(".")).active_path == tmp_path


def test_the_resolver_caches_in_amplifiers_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path))
    assert SimpleSourceResolver().cache_dir == tmp_path / "cache" / "bundles"


def test_a_clone_that_takes_too_long_is_an_error_of_its_own() -> None:
    error = GitCloneTimeoutError(("clone",), 3, uri="git+https://h/r")
    assert isinstance(error, BundleNotFoundError)
    assert (error.git_args, error.timeout_s) == (("clone",), 3)


def status(has_update: bool | None) -> SourceStatus:
    return SourceStatus(source_uri="u", has_update=has_update)


@pytest.mark.parametrize(
    ("known", "summary"),
    [
        ((True, False, None), "1 update(s) available"),
        ((False, None), "Up to date (1 source(s) could not be checked)"),
        ((False, False), "All 2 source(s) up to date"),
    ],
)
def test_a_status_sums_up_its_sources(known: tuple[bool | None, ...], summary: str) -> None:
    whole = BundleStatus("b", None, [status(each) for each in known])
    assert whole.summary.startswith(summary)
    assert whole.has_updates is (True in known)
    assert len(whole.updateable_sources) == known.count(True)
    assert len(whole.up_to_date_sources) == known.count(False)
    assert len(whole.unknown_sources) == known.count(None)


@pytest.mark.asyncio
async def test_a_stale_include_and_an_agents_module_are_seen_and_updated(
    repository: Path, tmp_path: Path
) -> None:
    module = tmp_path / "module"
    module.mkdir()
    git(module, "init", "-q", "-b", "main")
    (module / "pyproject.toml").write_text("[project]\nname = 'm'\n")
    git(module, "add", ".")
    git(module, "commit", "-qm", "m")
    top = tmp_path / "top"
    top.mkdir()
    (top / "bundle.yaml").write_text(
        f"bundle: {{name: top}}\nincludes: ['git+file://{repository}@main']\n"
        f"agents: {{a: {{tools: [{{module: m, source: 'git+file://{module}@main'}}]}}}}\n"
    )
    registry = BundleRegistry(tmp_path / "home")
    bundle = await registry.load(str(top))
    cache = tmp_path / "home" / "cache"
    before = await check_bundle_status(bundle, cache)
    assert [each.source_uri for each in before.sources] == [
        f"file://{top}",
        f"git+file://{repository}@main",
        f"git+file://{module}@main",
    ]
    assert [each.has_update for each in before.sources] == [None, False, True]  # the module is not here yet
    new = commit(repository, "new")
    assert await update_bundle(bundle, cache, selective=[f"git+file://{repository}@main"]) is bundle
    after = await check_bundle_status(bundle, cache)
    assert [each.cached_commit for each in after.updateable_sources] == [None]
    assert after.sources[1].cached_commit == new
    await update_bundle(bundle, cache)
    assert (await check_bundle_status(bundle, cache)).has_updates is False


@pytest.mark.asyncio
async def test_a_registry_knows_what_is_newer_and_gets_it(repository: Path, tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path / "home")
    registry.register({"far": f"git+file://{repository}@main"})
    old = git(repository, "rev-parse", "HEAD")
    assert (await registry.load("far")).tools == [{"module": "old"}]
    assert await registry.check_update("far") is None
    assert await registry.check_update("nobody") is None
    new = commit(repository, "new")
    expected = UpdateInfo("far", old, new, f"git+file://{repository}@main")
    assert await registry.check_update("far") == expected
    assert await registry.check_update() == [expected]
    assert (await registry.update("far")).tools == [{"module": "new"}]
    assert list(await registry.update()) == ["far"]
    state = registry.get_state("far")
    assert state is not None
    assert state.checked_at is not None


@pytest.mark.asyncio
async def test_a_bundle_of_no_source_has_nothing_to_update(tmp_path: Path) -> None:
    whole = await check_bundle_status(Bundle("alone"), tmp_path)
    assert (whole.sources, whole.summary) == ([], "All 0 source(s) up to date")
