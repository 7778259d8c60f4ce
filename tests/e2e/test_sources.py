"""Repositories fetched by the real git from real servers, also by several processes at once."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import pytest
from tests.support.git_server import Repository, WebServer, first, git_backend, say, serving
from tests.support.marked import marked
from tests.support.source_place import QUICK, Place, clean_place, until

from amplihack.errors import NothingToUse
from amplihack.system.sources import FetchLimits, Sources
from amplihack.system.sources.errors import (
    GitCloneTimeoutError,
    SourceNotFound,
    SourceOffline,
    SourceRefused,
    SourceUnavailable,
)
from amplihack.system.sources.metadata import METADATA

pytestmark = pytest.mark.asyncio


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with clean_place(tmp_path) as place:
        yield place


@pytest.fixture
def demo(place: Place) -> Repository:
    repository = place.repository()
    repository.commit({"bundle.md": "one", "behaviors/x.yaml": "x: 1"})
    return repository


@pytest.fixture
def server(place: Place) -> Iterator[WebServer]:
    backend = git_backend(place.folder / "repositories")
    with serving(WebServer(otherwise=backend)) as server:
        yield server


def over_http(server: WebServer, rest: str = "") -> str:
    return f"git+{server.url}/demo/.git{rest}"


def fetches(server: WebServer) -> int:
    return sum("git-upload-pack" in line and line.startswith("GET") for line in server.asked)


async def test_branches_tags_and_commits_are_what_they_name(
    place: Place, demo: Repository, server: WebServer
) -> None:
    start = demo.git("rev-parse", "HEAD")
    demo.git("branch", "feature/new")
    demo.git("tag", "light")
    demo.git("tag", "-a", "v1.0", "-m", "annotated")
    tip = demo.commit({"bundle.md": "two"})
    wanted = {
        "": tip,
        "@main": tip,
        "@HEAD": tip,
        "@feature/new": start,
        "@light": start,
        "@v1.0": start,
        f"@{start}": start,
    }
    async with place.sources() as sources:
        found = await asyncio.gather(*(sources.resolve(over_http(server, ref)) for ref in wanted))
    assert [one.commit for one in found] == list(wanted.values())
    texts = [(one.active_path / "bundle.md").read_text() for one in found]
    assert texts == ["two" if commit == tip else "one" for commit in wanted.values()]
    assert found[0] == found[1]


async def test_a_branch_wins_over_a_tag_of_the_same_name(place: Place, demo: Repository) -> None:
    demo.git("tag", "both")
    demo.git("checkout", "--quiet", "-b", "both")
    tip = demo.commit({"bundle.md": "branch"})
    uri = f"git+file://{demo.path}@both"
    async with place.sources() as sources:
        assert (await sources.resolve(uri)).commit == tip
        assert (await sources.status([uri]))[0].has_update is False


async def test_the_second_time_needs_no_server(place: Place, demo: Repository, server: WebServer) -> None:
    uri = over_http(server, "#subdirectory=behaviors/x.yaml")
    async with place.sources() as sources:
        first_time = await sources.resolve(uri)
    asked = len(server.asked)
    async with place.sources() as sources:
        assert await sources.resolve(uri) == first_time
    assert len(server.asked) == asked
    assert first_time.active_path.read_text() == "x: 1"
    assert first_time.is_subdirectory
    assert (first_time.source_root / "bundle.md").exists()


async def test_many_who_ask_at_once_cause_one_clone(
    place: Place, demo: Repository, server: WebServer
) -> None:
    uris = [over_http(server), over_http(server, "#subdirectory=behaviors"), over_http(server, "@main")]
    async with place.sources() as sources:
        found = await asyncio.gather(*map(sources.resolve, uris * 5))
    assert len({one.source_root for one in found}) == 1
    assert fetches(server) == 1


async def test_a_missing_subdirectory_is_reported_and_not_cloned_again(
    place: Place, demo: Repository, server: WebServer
) -> None:
    async with place.sources() as sources:
        for _ in range(2):
            with pytest.raises(SourceNotFound, match="there is no nope in it"):
                await sources.resolve(over_http(server, "#subdirectory=nope"))
        assert (await sources.resolve(over_http(server))).commit
    assert fetches(server) == 1


async def test_a_repository_without_anything_to_use_is_reported_once_cloned(
    place: Place, server: WebServer
) -> None:
    place.repository().commit({"docs/x.md": "x"})
    async with place.sources() as sources:
        for _ in range(2):
            with pytest.raises(SourceNotFound, match=r"there is no bundle\.md at its top"):
                await sources.resolve(over_http(server))
        found = await sources.resolve(over_http(server, "#subdirectory=docs"))
    assert (found.active_path / "x.md").exists()
    assert fetches(server) == 1


@pytest.mark.parametrize("subpath", ["../other", "a/../../b", "/../x"])
async def test_a_subdirectory_never_leads_out(
    place: Place, demo: Repository, server: WebServer, subpath: str
) -> None:
    async with place.sources() as sources:
        with pytest.raises(SourceRefused, match="leads out"):
            await sources.resolve(over_http(server, f"#subdirectory={subpath}"))
    assert server.asked == []


async def test_a_link_in_a_repository_never_leads_out(place: Place, demo: Repository) -> None:
    (demo.path / "way-out").symlink_to("/etc")
    demo.commit({})
    async with place.sources() as sources:
        with pytest.raises(SourceRefused, match="leads out"):
            await sources.resolve(f"git+file://{demo.path}#subdirectory=way-out")


async def test_submodules_and_hooks_stay_out(place: Place, demo: Repository) -> None:
    inner = place.repository("inner")
    inner.commit({"bundle.md": "inner"})
    demo.git("submodule", "--quiet", "add", f"file://{inner.path}", "inner")
    demo.commit({})
    templates = place.home / "templates" / "hooks"
    templates.mkdir(parents=True)
    hook = templates / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {place.home}/ran\n")
    hook.chmod(0o755)
    (place.home / ".gitconfig").write_text(
        f"[init]\n\ttemplateDir = {templates.parent}\n[submodule]\n\trecurse = true\n"
        f"[core]\n\thooksPath = {templates}\n"
    )
    async with place.sources() as sources:
        found = await sources.resolve(f"git+file://{demo.path}")
    assert list((found.active_path / "inner").iterdir()) == []
    assert not (place.home / "ran").exists()
    assert not (found.active_path / ".git" / "hooks").exists()


async def test_a_commit_that_no_branch_holds_any_more_is_found_or_refused(
    place: Place, demo: Repository, server: WebServer
) -> None:
    lost = demo.commit({"bundle.md": "lost"})
    demo.git("reset", "--quiet", "--hard", "HEAD^")
    absent = "0123456789" * 4
    async with place.sources() as sources:
        assert (await sources.resolve(over_http(server, f"@{lost}"))).commit == lost
        with pytest.raises(SourceNotFound, match=f"Failed to clone .*{absent}"):
            await sources.resolve(over_http(server, f"@{absent}"))
        assert len(place.kept()) == 1
        with pytest.raises(SourceNotFound):  # nothing was left that could be served instead
            await sources.resolve(over_http(server, f"@{absent}"))


async def test_a_server_that_gives_out_no_single_commit_is_cloned_whole(
    place: Place, demo: Repository
) -> None:
    old = demo.git("rev-parse", "HEAD")
    demo.commit({"bundle.md": "two"})
    dumb = WebServer(otherwise=lambda handler: _static(demo.path / ".git", handler))
    with serving(dumb) as server:
        async with place.sources() as sources:
            pinned = await sources.resolve(f"git+{server.url}/demo@{old}")
            branch = await sources.resolve(f"git+{server.url}/demo@main")
    assert (pinned.active_path / "bundle.md").read_text() == "one"
    assert (branch.active_path / "bundle.md").read_text() == "two"


def _static(directory: Path, handler: Any) -> None:
    file = directory / handler.path.partition("?")[0].removeprefix("/demo/")
    (say(200, file.read_bytes()) if file.is_file() else say(404))(handler)


async def test_a_lock_on_a_commit_beats_the_branch(place: Place, demo: Repository) -> None:
    old = demo.git("rev-parse", "HEAD")
    demo.commit({"bundle.md": "two"})
    async with place.sources() as sources:
        found = await sources.resolve(f"git+file://{demo.path}@main#commit={old}")
        assert (found.active_path / "bundle.md").read_text() == "one"
        assert (await sources.resolve(f"git+file://{demo.path}@main")).commit != old


async def test_a_cached_pin_whose_head_has_moved_is_fetched_again(place: Place, demo: Repository) -> None:
    old = demo.git("rev-parse", "HEAD")
    uri = f"git+file://{demo.path}@{old}"
    async with place.sources() as sources:
        found = await sources.resolve(uri)
        (found.source_root / ".git" / "HEAD").write_text("0" * 40 + "\n")
        (found.source_root / "bundle.md").write_text("changed")
        again = await sources.resolve(uri)
    assert (again.active_path / "bundle.md").read_text() == "one"
    assert again == found


async def test_a_half_finished_entry_is_not_trusted(place: Place, demo: Repository) -> None:
    uri = f"git+file://{demo.path}"
    async with place.sources() as sources:
        found = await sources.resolve(uri)
    (found.source_root / METADATA).unlink()
    (found.source_root / "bundle.md").unlink()
    async with place.sources() as sources:
        assert ((await sources.resolve(uri)).active_path / "bundle.md").read_text() == "one"


async def test_an_update_follows_a_branch_that_was_moved(
    place: Place, demo: Repository, server: WebServer
) -> None:
    before = demo.git("rev-parse", "HEAD")
    async with place.sources() as sources:
        found = await sources.resolve(over_http(server))
        assert (await sources.update(over_http(server))).outcome == "unchanged"
        demo.git("commit", "--quiet", "--amend", "--message", "rewritten")
        after = demo.commit({"bundle.md": "two"})
        status = (await sources.status([over_http(server)]))[0]
        assert (status.has_update, status.cached_commit, status.remote_commit) == (True, before, after)
        assert before[:8] in status.summary
        assert after[:8] in status.summary
        assert (found.active_path / "bundle.md").read_text() == "one"  # asking changes nothing
        report = await sources.update(over_http(server))
        assert (report.outcome, report.before, report.after) == ("updated", before, after)
        updated = await sources.resolve(over_http(server))
        assert (updated.active_path / "bundle.md").read_text() == "two"
    assert (found.active_path / "bundle.md").read_text() == "one"  # what was given out never changes


async def test_a_failed_update_keeps_what_was_there(
    place: Place, demo: Repository, server: WebServer
) -> None:
    uri = over_http(server)
    async with place.sources() as sources:
        found = await sources.resolve(uri)
        demo.commit({"bundle.md": "two"})
        backend = server.otherwise
        server.otherwise = first(2, backend, say(500))  # it says that there is news, and fails to give them
        report = await sources.update(uri)
        assert report.outcome == "failed"
        assert isinstance(report.error, SourceUnavailable)
        assert await sources.resolve(uri) == found
        assert (found.active_path / "bundle.md").read_text() == "one"
        server.otherwise = backend
        assert (await sources.update(uri)).outcome == "updated"


async def test_a_deleted_tag_is_unknown_and_stays_cached(place: Place, demo: Repository) -> None:
    demo.git("tag", "nightly")
    uri = f"git+file://{demo.path}@nightly"
    async with place.sources() as sources:
        found = await sources.resolve(uri)
        demo.git("tag", "--delete", "nightly")
        status = (await sources.status([uri]))[0]
        assert (status.has_update, status.is_cached) == (None, True)
        assert "no nightly any more" in str(status.error)
        assert (await sources.update(uri)).outcome == "failed"
        assert await sources.resolve(uri) == found


async def test_status_of_many_is_in_order_and_a_failure_is_an_answer(
    place: Place, demo: Repository, server: WebServer
) -> None:
    commit = demo.git("rev-parse", "HEAD")
    uris = [
        over_http(server),
        over_http(server, "@v1.0"),
        over_http(server, f"@{commit}"),
        "git+http://127.0.0.1:1/none",
        str(demo.path),
        "git+http://[bad/x",
    ]
    async with place.sources() as sources:
        found = await sources.status(uris)
    assert [one.has_update for one in found] == [True, False, False, None, None, None]
    assert [one.is_pinned for one in found[:3]] == [False, True, True]
    assert "Failed to" in str(found[3].error)
    assert found[4].summary == "not supported"
    assert place.kept() == []


async def test_offline_uses_the_cache_and_lists_what_is_missing(
    place: Place, demo: Repository, server: WebServer
) -> None:
    async with place.sources() as sources:
        found = await sources.resolve(over_http(server))
    asked = len(server.asked)
    missing = [over_http(server, "@other"), "https://example.org/a.md", "zip+https://example.org/b.zip"]
    for options in ({"offline": True}, {"more": {"AMPLIFIER_OFFLINE": "1"}}):
        async with place.sources(**options) as sources:
            assert await sources.resolve(over_http(server)) == found
            wanted = [over_http(server), *missing, f"git+file://{demo.path}"]
            assert await sources.missing(wanted) == tuple(missing)
            with pytest.raises(SourceOffline) as caught:
                await sources.resolve(missing[0])
            assert missing[0] in caught.value.what
            assert (await sources.resolve(f"git+file://{demo.path}")).commit == found.commit
            assert (await sources.update(over_http(server))).outcome == "failed"
            assert (await sources.status([over_http(server)]))[0].error == "offline"
    assert len(server.asked) == asked


async def test_a_server_error_is_tried_again(place: Place, demo: Repository, server: WebServer) -> None:
    server.otherwise = first(2, say(500), server.otherwise)
    async with place.sources() as sources:
        assert (await sources.resolve(over_http(server))).commit
    assert fetches(server) == 3


async def test_after_three_attempts_it_is_given_up(place: Place, demo: Repository, server: WebServer) -> None:
    server.otherwise = say(500)
    async with place.sources() as sources:
        with pytest.raises(SourceUnavailable, match="Failed to clone"):
            await sources.resolve(over_http(server))
    assert fetches(server) == 3
    assert place.kept() == []


@pytest.mark.parametrize(
    ("status", "error"), [(404, SourceNotFound), (401, SourceUnavailable), (403, SourceUnavailable)]
)
async def test_what_cannot_change_is_not_tried_again(
    place: Place, status: int, error: type[Exception]
) -> None:
    with serving(WebServer(otherwise=say(status))) as server:
        async with place.sources() as sources:
            with pytest.raises(error, match="Failed to clone"):
                await sources.resolve(over_http(server))
        assert fetches(server) == 1


async def test_a_branch_that_does_not_exist_is_not_tried_again(
    place: Place, demo: Repository, server: WebServer
) -> None:
    async with place.sources() as sources:
        with pytest.raises(SourceNotFound, match="Remote branch abc1234 not found") as caught:
            await sources.resolve(over_http(server, "@abc1234"))
    assert "40 digits" in caught.value.fix
    assert fetches(server) == 1


async def test_a_host_without_an_address_is_looked_up_once(place: Place) -> None:
    uris = [f"git+https://nowhere.invalid/org/repo-{number}" for number in range(20)]
    async with place.sources(limits=FetchLimits(pauses=(600.0,))) as sources:
        found = await asyncio.gather(*map(sources.resolve, uris), return_exceptions=True)
    assert all(isinstance(one, SourceUnavailable) for one in found)
    assert all("Could not resolve host nowhere.invalid" in str(one) for one in found)
    assert place.kept() == []


async def test_a_host_that_refuses_is_given_up_for_the_whole_load(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with place.sources() as sources:
        with pytest.raises(SourceUnavailable, match="Failed to clone"):
            await sources.resolve(f"git+http://127.0.0.1:{port}/one")
        with pytest.raises(SourceUnavailable, match="failed before in this load"):
            await sources.resolve(f"git+http://127.0.0.1:{port}/two")


async def test_a_server_that_never_answers_is_given_up_on_without_another_attempt(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"git+http://127.0.0.1:{silent.getsockname()[1]}/x"
        async with place.sources(more={"AMPLIFIER_GIT_CLONE_TIMEOUT_S": "0.5"}) as sources:
            with pytest.raises(GitCloneTimeoutError, match=r"did not finish within 0\.5 seconds") as caught:
                await sources.resolve(uri)
    assert caught.value.timeout_s == 0.5
    assert caught.value.git_args[0] == "clone"


async def test_a_timeout_that_is_no_number_is_reported_and_not_used(place: Place, demo: Repository) -> None:
    async with place.sources(more={"AMPLIFIER_GIT_CLONE_TIMEOUT_S": "soon"}) as sources:
        assert (await sources.resolve(f"git+file://{demo.path}")).commit
    assert place.warnings == ["AMPLIFIER_GIT_CLONE_TIMEOUT_S='soon' is not a number of seconds; using 300"]


async def test_one_who_gives_up_does_not_spoil_it_for_the_others(
    place: Place, demo: Repository, server: WebServer
) -> None:
    async with place.sources() as sources:
        impatient = asyncio.create_task(sources.resolve(over_http(server)))
        patient = asyncio.create_task(sources.resolve(over_http(server)))
        await until(lambda: server.asked)
        impatient.cancel()
        assert (await patient).commit
        with pytest.raises(asyncio.CancelledError):
            await impatient
    assert fetches(server) == 1


async def test_when_all_give_up_git_is_ended_and_nothing_is_left(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with place.sources() as sources:
            waiting = asyncio.create_task(
                sources.resolve(f"git+http://127.0.0.1:{silent.getsockname()[1]}/x")
            )
            await until(place.incoming)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert place.alive() == []
            assert place.incoming() == []


async def test_secrets_reach_the_server_and_nothing_else(place: Place, demo: Repository) -> None:
    backend = git_backend(place.folder / "repositories", login="ann:pa55-one")
    with serving(WebServer(otherwise=backend)) as server:
        uri = f"git+http://ann:pa55-one@127.0.0.1:{server.port}/demo/.git"
        async with place.sources() as sources:
            found = await sources.resolve(uri)
            assert (await sources.status([uri]))[0].has_update is False
            wrong = uri.replace("pa55-one", "pa55-two")
            with pytest.raises(SourceUnavailable) as caught:
                await sources.resolve(wrong + "@other")
            shown = f"{found} {sources.entries()} {caught.value.what} {caught.value.fix} {caught.value.uri}"
    assert "pa55" not in shown
    assert b"pa55" not in place.bytes_on_disk()
    assert (await _without_login(place, uri)).commit == found.commit  # the same entry, whoever asks


async def _without_login(place: Place, uri: str) -> Any:
    async with place.sources(offline=True) as sources:
        return await sources.resolve(uri.replace("ann:pa55-one@", ""))


@pytest.mark.skipif(sys.platform != "linux", reason="command lines are read from /proc")
async def test_a_secret_is_never_on_our_command_line(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"git+http://ann:pa55-one@127.0.0.1:{silent.getsockname()[1]}/x"
        async with place.sources() as sources:
            waiting = asyncio.create_task(sources.resolve(uri))
            await until(lambda: [line for line in place.alive() if "remote-http" in line])
            lines = place.alive()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
    assert "pa55" not in " ".join(lines)


async def test_the_users_own_credential_helper_opens_a_door(place: Place, demo: Repository) -> None:
    (place.home / ".gitconfig").write_text(
        '[credential]\n\thelper = "!f() { echo username=ann; echo password=open; }; f"\n'
        "[core]\n\tsshCommand = false\n"
    )
    backend = git_backend(place.folder / "repositories", login="ann:open")
    with serving(WebServer(otherwise=backend)) as server:
        async with place.sources() as sources:
            assert (await sources.resolve(over_http(server))).commit


@pytest.mark.parametrize("by", ["the user", "the machine", "an included file", "the environment"])
async def test_what_git_puts_in_place_of_a_host_is_asked_instead_of_it(
    place: Place, demo: Repository, server: WebServer, by: str
) -> None:
    configuration = place.home / (".gitconfig" if by == "the user" else "other")
    if by != "the environment":
        configuration.write_text(f'[url "{server.url}/"]\n\tinsteadOf = https://nowhere.invalid/\n')
    if by == "an included file":
        (place.home / ".gitconfig").write_text("[include]\n\tpath = other\n")
    more = {
        "the machine": {"GIT_CONFIG_NOSYSTEM": "0", "GIT_CONFIG_SYSTEM": str(configuration)},
        "the environment": {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{server.url}/.insteadOf",
            "GIT_CONFIG_VALUE_0": "https://nowhere.invalid/",
        },
    }.get(by, {})
    uri = "git+https://nowhere.invalid/demo/.git"
    async with place.sources(more=more) as sources:
        assert (await sources.resolve(uri)).commit == demo.git("rev-parse", "HEAD")
        assert (await sources.status([uri]))[0].has_update is False
        with pytest.raises(SourceUnavailable, match=r"Could not resolve host other\.invalid"):
            await sources.resolve("git+https://other.invalid/demo/.git")


@pytest.mark.parametrize("base", ["file://{}/", "{}/"])
async def test_a_copy_on_this_disk_can_stand_for_a_host(place: Place, demo: Repository, base: str) -> None:
    mirror = base.format(place.folder / "repositories")
    (place.home / ".gitconfig").write_text(f'[url "{mirror}"]\n\tinsteadOf = https://nowhere.invalid/org/\n')
    async with place.sources() as sources:
        found = await sources.resolve("git+https://nowhere.invalid/org/demo")
        assert found.commit == demo.git("rev-parse", "HEAD")
        with pytest.raises(SourceUnavailable, match=r"Could not resolve host nowhere\.invalid"):
            await sources.resolve("git+https://nowhere.invalid/elsewhere/demo")


@pytest.mark.parametrize(
    "base", ["ext::touch {}/ran ", "ext://touch {}/ran ", "http://h:port/", "http://[h/"]
)
async def test_what_stands_for_a_host_is_never_run_and_may_be_nonsense(
    place: Place, demo: Repository, base: str
) -> None:
    (place.home / ".gitconfig").write_text(
        f'[url "{base.format(place.home)}"]\n\tinsteadOf = https://nowhere.invalid/\n'
    )
    async with place.sources() as sources:
        with pytest.raises((SourceUnavailable, SourceRefused), match="Failed to clone"):
            await sources.resolve("git+https://nowhere.invalid/demo")
    assert not (place.home / "ran").exists()


async def test_a_host_that_stands_for_another_is_the_one_that_is_given_up(
    place: Place, demo: Repository, server: WebServer
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    (place.home / ".gitconfig").write_text(
        f'[url "http://127.0.0.1:{port}/"]\n\tinsteadOf = {server.url}/mirrored/\n'
    )
    async with place.sources() as sources:
        with pytest.raises(SourceUnavailable, match="Failed to clone"):
            await sources.resolve(f"git+{server.url}/mirrored/one")
        with pytest.raises(SourceUnavailable, match="failed before in this load"):
            await sources.resolve(f"git+{server.url}/mirrored/two")
        assert (await sources.resolve(over_http(server))).commit


@pytest.mark.parametrize("key", ["http", 'http "http://nowhere.invalid"'])
async def test_the_proxy_of_gits_own_settings_is_used_and_looks_the_host_up(
    place: Place, demo: Repository, key: str
) -> None:
    backend, asked = git_backend(place.folder / "repositories"), list[str]()

    def proxy(handler: Any) -> None:
        asked.append(handler.path)
        handler.path = handler.path.removeprefix("http://nowhere.invalid")
        backend(handler)

    with serving(WebServer(otherwise=proxy)) as server:
        (place.home / ".gitconfig").write_text(f"[{key}]\n\tproxy = {server.url}\n")
        async with place.sources(allow_http=True) as sources:
            found = await sources.resolve("git+http://nowhere.invalid/demo/.git")
    assert found.commit == demo.git("rev-parse", "HEAD")
    assert all(path.startswith("http://nowhere.invalid/") for path in asked)


@pytest.mark.parametrize("by", ["GIT_SSH_COMMAND", "GIT_SSH", "core.sshCommand"])
async def test_ssh_is_asked_without_questions(place: Place, demo: Repository, by: str) -> None:
    ssh = place.home / "my ssh"
    ssh.write_text(
        f'#!/bin/sh\necho "$@" >> {place.home}/asked\nwhile [ "$1" != -- ]; do\n'
        'case "$1" in git-upload-pack*) exec sh -c "$1";; esac\nshift\ndone\n'
    )
    ssh.chmod(0o755)
    more = {"GIT_SSH_COMMAND": f"'{ssh}'"} if by == "GIT_SSH_COMMAND" else {"GIT_SSH": str(ssh)}
    if by == "core.sshCommand":
        (place.home / ".gitconfig").write_text(f"[core]\n\tsshCommand = '{ssh}'\n")
        more = {"GIT_SSH": "false"}
    async with place.sources(more=more) as sources:
        found = await sources.resolve(f"git+ssh://git@host.invalid{demo.path}@main")
    assert (found.active_path / "bundle.md").read_text() == "one"
    assert "-oBatchMode=yes" in (place.home / "asked").read_text()


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("git+http://example.org/x", "http is not protected"),
        ("git+https:///x", "names no host"),
        ("git+file://host/x", "names no host"),
        ("git+https://-oProxyCommand=x/y", "none may hold"),
        ("git+https://h/x@--upload-pack=touch", "is not the name of"),
        ("git+https://h/x@a..b", "is not the name of"),
        ("git+https://h/x#commit=abc", "all 40 digits"),
        ("git+https://h/x y", "none may hold"),
        ("git+ext://sh -c x", "no way to fetch"),
        ("git+git://h/x", "no way to fetch"),
    ],
)
async def test_addresses_that_git_could_misread_are_refused(place: Place, uri: str, message: str) -> None:
    async with place.sources() as sources:
        with pytest.raises((SourceRefused, SourceNotFound), match=message):
            await sources.resolve(uri)
    assert place.kept() == []


async def test_without_git_there_is_nothing_to_use(place: Place, demo: Repository) -> None:
    async with place.sources(more={"PATH": str(place.home)}) as sources:
        with pytest.raises(NothingToUse, match="git is not installed"):
            await sources.resolve(f"git+file://{demo.path}")


def _fetch_in_process(cache: str, environment: dict[str, str], uri: str, answers: Queue[str]) -> None:
    async def fetch() -> str:
        async with Sources(Path(cache), environment=environment, limits=QUICK) as sources:
            found = await sources.resolve(uri)
            return f"{found.commit} {(found.active_path / 'bundle.md').read_text()}"

    answers.put(asyncio.run(fetch()))


async def test_processes_that_fetch_the_same_clone_it_once(
    place: Place, demo: Repository, server: WebServer
) -> None:
    context = multiprocessing.get_context("spawn")
    answers: Queue[str] = context.Queue()
    given = (str(place.cache), place.environment, over_http(server), answers)
    processes = [context.Process(target=_fetch_in_process, args=given) for _ in range(3)]
    for process in processes:
        process.start()
    found = await asyncio.to_thread(lambda: [answers.get(timeout=60) for _ in processes])
    for process in processes:
        await asyncio.to_thread(process.join, 60)
    answers.close()
    await asyncio.to_thread(answers.join_thread)
    assert found == [f"{demo.git('rev-parse', 'HEAD')} one"] * 3
    assert [process.exitcode for process in processes] == [0] * 3
    assert fetches(server) == 1


SCRIPT = """
import asyncio, sys
from pathlib import Path
from amplihack.system.sources import Sources

async def main(action, cache, uri, environment):
    async with Sources(Path(cache), environment=environment) as sources:
        print(await getattr(sources, action)(uri), flush=True)
        await asyncio.sleep(600)

asyncio.run(main(*sys.argv[1:4], dict(pair.split("=", 1) for pair in sys.argv[4:])))
"""


def start(place: Place, uri: str, action: str = "resolve") -> subprocess.Popen[bytes]:
    pairs = [f"{name}={value}" for name, value in place.environment.items()]
    command = [sys.executable, "-c", SCRIPT, action, str(place.cache), uri, *pairs]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env={"PYTHONPATH": os.pathsep.join(sys.path)})


@contextmanager
def killed(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """It sleeps when its work is done, and would do so for as long as we wait for it."""
    try:
        yield
    finally:
        process.kill()


@pytest.mark.parametrize("answered", [0, 1, 2])  # requests that the server answers before it falls silent
async def test_a_process_killed_while_fetching_leaves_a_usable_cache(
    place: Place, demo: Repository, answered: int
) -> None:
    stuck, backend = threading.Event(), git_backend(place.folder / "repositories")

    def hang(handler: Any) -> None:
        stuck.set()
        while handler.rfile.read(65536):  # until the client is gone
            pass

    with serving(WebServer(otherwise=first(answered, backend, first(1, hang, backend)))) as server:
        with start(place, over_http(server)) as process:
            await asyncio.to_thread(stuck.wait, 60)
            process.send_signal(signal.SIGKILL)
        await _end_orphans(place)
        assert place.incoming() != []
        assert place.kept() == []
        async with place.sources() as sources:
            assert (await sources.resolve(over_http(server))).commit
            assert place.incoming() == []


async def test_a_process_killed_while_updating_leaves_the_old_version(place: Place, demo: Repository) -> None:
    stuck, backend = threading.Event(), git_backend(place.folder / "repositories")

    def hang(handler: Any) -> None:
        stuck.set()
        while handler.rfile.read(65536):
            pass

    with serving(WebServer(otherwise=backend)) as server:
        uri = over_http(server)
        async with place.sources() as sources:
            found = await sources.resolve(uri)
        demo.commit({"bundle.md": "two"})
        server.otherwise = first(4, backend, hang)
        with start(place, uri, "update") as process:
            await asyncio.to_thread(stuck.wait, 60)
            process.send_signal(signal.SIGKILL)
        await _end_orphans(place)
        server.otherwise = backend
        async with place.sources() as sources:
            assert await sources.resolve(uri) == found
            assert (found.active_path / "bundle.md").read_text() == "one"
            assert (await sources.update(uri)).outcome == "updated"
            assert place.incoming() == []


async def test_what_is_removed_by_hand_is_fetched_again(place: Place, demo: Repository) -> None:
    uri = f"git+file://{demo.path}"
    async with place.sources() as sources:
        found = await sources.resolve(uri)
        for victim in (found.source_root, place.cache):
            await asyncio.to_thread(shutil.rmtree, victim)
            assert await sources.resolve(uri) == found
            assert (found.active_path / "bundle.md").read_text() == "one"
            assert [entry.in_use for entry in sources.entries()] == [True]


async def _end_orphans(place: Place) -> None:
    """Git outlives a parent that was killed without warning; all that it holds is its own directory."""
    for process in await asyncio.to_thread(marked, place.mark):
        os.kill(process, signal.SIGKILL)
    await until(lambda: not place.alive())


async def test_what_another_process_uses_is_neither_cleaned_nor_changed(
    place: Place, demo: Repository
) -> None:
    uri = f"git+file://{demo.path}"
    with start(place, uri) as process, killed(process):
        assert process.stdout is not None
        await asyncio.to_thread(process.stdout.readline)
        demo.commit({"bundle.md": "two"})
        async with place.sources() as sources:
            assert [entry.in_use for entry in sources.entries()] == [True]
            assert sources.clean().removed == ()
            kept = place.cache / place.kept()[0]
            assert (await sources.update(uri)).outcome == "updated"
            assert ((await sources.resolve(uri)).active_path / "bundle.md").read_text() == "two"
            assert sources.clean().removed == ()
            assert (kept / "bundle.md").read_text() == "one"
        process.kill()
        await asyncio.to_thread(process.wait)
        async with place.sources() as sources:
            assert [entry.path for entry in sources.clean(keep=[uri]).removed] == [kept]
            assert ((await sources.resolve(uri)).active_path / "bundle.md").read_text() == "two"


async def test_cleaning_removes_what_nobody_uses(place: Place, demo: Repository) -> None:
    other = place.repository("other")
    other.commit({"bundle.md": "other"})
    demo.git("branch", "old")
    demo.commit({"bundle.md": "two"})
    uris = [f"git+file://{demo.path}", f"git+file://{other.path}", f"git+file://{demo.path}@old"]
    async with place.sources() as sources:
        for uri in uris:
            await sources.resolve(uri)
        assert sources.clean().removed == ()  # all in use, by ourselves
    foreign = place.cache / "settings.json"
    foreign.write_text("{}")
    async with place.sources() as sources:
        await sources.resolve(uris[0])
        would = sources.clean(keep=[uris[1]], dry_run=True)
        assert len(place.kept()) == 4
        done = sources.clean(keep=[uris[1]])
    assert would == done
    assert [entry.ref for entry in done.removed] == ["old"]
    assert done.freed > 0
    assert len(place.kept()) == 3
    assert foreign.exists()


async def test_an_entry_that_is_being_fetched_is_not_cleaned(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with place.sources() as sources, place.sources() as other:
            waiting = asyncio.create_task(
                sources.resolve(f"git+http://127.0.0.1:{silent.getsockname()[1]}/x")
            )
            await until(place.incoming)
            report = await asyncio.to_thread(other.clean)
            assert (report.removed, [entry.complete for entry in report.kept]) == ((), [False])
            assert place.incoming() != []
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting


async def test_a_cache_that_cannot_be_written_is_explained(place: Place, demo: Repository) -> None:
    place.cache.write_text("a file, not a directory")
    async with place.sources() as sources:
        with pytest.raises(SourceUnavailable, match="cannot make the lock"):
            await sources.resolve(f"git+file://{demo.path}")


async def test_a_login_in_an_address_is_not_told_to_the_users_helpers(place: Place, demo: Repository) -> None:
    (place.home / ".gitconfig").write_text(
        f'[credential]\n\thelper = "!f() {{ cat >> {place.home}/heard; }}; f"\n'
    )
    backend = git_backend(place.folder / "repositories", login="pa55-token:")
    with serving(WebServer(otherwise=backend)) as server:
        async with place.sources() as sources:
            found = await sources.resolve(f"git+http://pa55-token@127.0.0.1:{server.port}/demo/.git")
    assert found.uri == f"git+http://***@127.0.0.1:{server.port}/demo/.git@main"
    assert not (place.home / "heard").exists()


async def test_nothing_holds_up_the_event_loop(place: Place, demo: Repository, server: WebServer) -> None:
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    release = threading.Event()
    backend = server.otherwise

    def slowly(handler: Any) -> None:
        release.wait(60)
        backend(handler)

    server.otherwise = slowly
    spinning = asyncio.create_task(turn())
    async with place.sources() as sources:
        waiting = asyncio.create_task(sources.resolve(over_http(server)))
        await until(lambda: server.asked)
        before = turns
        await until(lambda: turns > before + 100)  # never, if a fetch kept the loop to itself
        release.set()
        assert (await waiting).commit
    spinning.cancel()


async def test_no_more_than_the_limit_are_fetched_at_once(place: Place) -> None:
    busy, most, lock = 0, 0, threading.Lock()

    def watched(handler: Any) -> None:
        nonlocal busy, most
        with lock:
            busy, most = busy + 1, max(most, busy + 1)
        time.sleep(0.02)
        with lock:
            busy -= 1
        say(404)(handler)

    with serving(WebServer(otherwise=watched)) as server:
        async with place.sources(limits=FetchLimits(concurrent=2, pauses=())) as sources:
            uris = [f"git+{server.url}/repo-{number}" for number in range(6)]
            found = await asyncio.gather(*map(sources.resolve, uris), return_exceptions=True)
    assert [type(one) for one in found] == [SourceNotFound] * 6
    assert 1 <= most <= 2
