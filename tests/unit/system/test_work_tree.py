"""Staging with real git: what changed during a step is staged, and what was there before stays as it was."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from amplihack.errors import AmplihackError
from amplihack.recipes.ports import Staging, TreeMarks
from amplihack.records import replace
from amplihack.system.work_tree import GitWorkTree
from amplihack.system.work_tree_changes import GONE, REMOVED, STAGED


class Repository:
    def __init__(self, path: Path, home: Path) -> None:
        self.path = path
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home)}
        for name in ("AUTHOR", "COMMITTER"):
            self.env |= {f"GIT_{name}_NAME": "Ann", f"GIT_{name}_EMAIL": "ann@example.org"}
        self.tree = GitWorkTree(self.env)

    def git(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(["git", *words], cwd=self.path, env=self.env, check=check, capture_output=True)
        return os.fsdecode(done.stdout)

    def write(self, name: str, text: str) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, **files: str) -> None:
        for name, text in files.items():
            self.write(name.replace("_", "."), text)
        self.git("add", "-A")
        self.git("commit", "-qm", "c", "--allow-empty")

    def step(self, work: Callable[[], object], at: str = "", earlier: Sequence[TreeMarks] = ()) -> Staging:
        """An agent step that does this work."""

        async def run() -> Staging:
            watched = await self.tree.watch(str(self.path / at), earlier)
            assert watched is not None
            work()
            return await watched.stage()

        return asyncio.run(run())

    def failed_step(self, work: Callable[[], object]) -> Staging:
        """An agent step that does this work and fails."""

        async def run() -> Staging:
            watched = await self.tree.watch(str(self.path))
            assert watched is not None
            work()
            return await watched.leave("the step failed")

        return asyncio.run(run())

    @property
    def staged(self) -> list[str]:
        return self.git("diff", "--cached", "--name-only", "-z", "--no-renames").split("\0")[:-1]

    def index(self, name: str) -> str:
        return self.git("show", f":{name}")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    (tmp_path / "home").mkdir()
    (tmp_path / "repo").mkdir()
    made = Repository(tmp_path / "repo", tmp_path / "home")
    made.git("init", "-q")
    return made


def left(staging: Staging) -> dict[str, str]:
    return {each.path: each.why for each in staging.left}


def test_only_what_changed_during_the_step_is_staged(repository: Repository) -> None:
    repository.commit(a_py="1", b_py="1", gone_py="1", mine_py="1", kept_py="1")
    repository.write("mine.py", "2")
    repository.write("kept.py", "2")
    repository.git("add", "kept.py")
    repository.write(".env", "KEY=1")

    def work() -> None:
        repository.write("a.py", "2")
        repository.write("new/deep/file.txt", "x")
        (repository.path / "gone.py").unlink()

    staging = repository.step(work)
    assert sorted(staging.staged) == ["a.py", "gone.py", "new/deep/file.txt"]
    assert staging.left == ()
    assert repository.staged == ["a.py", "gone.py", "kept.py", "new/deep/file.txt"]
    assert repository.git("status", "--porcelain", "mine.py", ".env") == " M mine.py\n?? .env\n"


def test_a_file_with_changes_from_before_is_left_and_told(repository: Repository) -> None:
    repository.commit(edited_py="1", staged_py="1", removed_py="1", same_py="1")
    for name in ("edited.py", "staged.py", "notes.md", "same.py"):
        repository.write(name, "mine")
    repository.git("add", "staged.py")

    def work() -> None:
        for name in ("edited.py", "staged.py", "notes.md"):
            repository.write(name, "changed again")
        repository.write("same.py", "mine")  # written, and as it was

    staging = repository.step(work)
    assert staging.staged == ()
    assert left(staging) == dict.fromkeys(
        ("edited.py", "notes.md", "staged.py"), "it had changes before the step"
    )
    assert repository.index("staged.py") == "mine"
    assert repository.staged == ["staged.py"]


def test_later_steps_go_on_with_what_this_run_staged(repository: Repository) -> None:
    repository.step(lambda: repository.write("a.py", "1"))
    assert repository.step(lambda: repository.write("a.py", "2")).staged == ("a.py",)
    assert repository.index("a.py") == "2"
    repository.write("a.py", "by a person")
    assert left(repository.step(lambda: repository.write("a.py", "3"))) == {
        "a.py": "it had changes before the step"
    }
    assert repository.index("a.py") == "2"


def test_what_the_agent_staged_or_committed_itself_needs_nothing(repository: Repository) -> None:
    def work() -> None:
        repository.write("a.py", "1")
        repository.git("add", "a.py")
        repository.git("commit", "-qm", "mine")
        repository.write("b.py", "1")
        repository.git("add", "b.py")

    assert repository.step(work) == Staging()
    assert repository.step(lambda: repository.write("b.py", "2")).staged == ("b.py",)


@pytest.mark.parametrize("verb", ["mv", "cp"])
def test_a_file_of_the_user_under_another_name_is_still_theirs(repository: Repository, verb: str) -> None:
    repository.commit()
    repository.write(".env", "KEY=0123456789abcdef0123456789abcdef")
    staging = repository.step(
        lambda: subprocess.run([verb, ".env", "copy.txt"], cwd=repository.path, check=True)
    )
    assert (staging.staged, left(staging)) == ((), {"copy.txt": "it is what .env was before the step"})


def test_a_change_of_the_user_that_git_moved_is_not_staged_with_its_new_name(repository: Repository) -> None:
    repository.commit(a="committed\n")
    repository.write("a", "committed\nmine\n")
    staging = repository.step(lambda: repository.git("mv", "a", "b"))
    assert repository.index("b") == "committed\n"
    assert [(each.path, each.why) for each in staging.left] == [("b", "it is what a was before the step")]


def test_what_git_ignored_is_not_staged_when_it_no_longer_is(repository: Repository) -> None:
    repository.commit(_gitignore=".env\nbuild/\n")
    repository.write(".env", "KEY=1")
    repository.write("build/out", "x")
    staging = repository.step(lambda: repository.write(".gitignore", "# nothing\n"))
    assert staging.staged == (".gitignore",)
    assert set(left(staging)) == {".env", "build/out"}
    assert set(left(staging).values()) == {"git ignored it before the step"}


def test_files_and_directories_may_take_each_others_places(repository: Repository) -> None:
    repository.commit(a="1")
    repository.write("d/inner", "1")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "d")

    def work() -> None:
        (repository.path / "a").unlink()
        repository.write("a/b", "2")
        (repository.path / "d/inner").unlink()
        (repository.path / "d").rmdir()
        repository.write("d", "2")

    repository.step(work)
    assert repository.git("ls-files").split() == ["a/b", "d"]


def test_any_name_can_be_staged(repository: Repository) -> None:
    names = ["with space", "line\nbreak", "*", "a[1]?", ":(top)x", "-n", "ä", "tab\t", '"q"']
    names.append(os.fsdecode(b"\xff"))

    def work() -> None:
        for name in names:
            repository.write(name, "x")

    repository.write("other", "mine")
    assert set(repository.step(work).staged) == set(names)
    assert len(repository.git("ls-files", "-z").split("\0")) == len(names) + 1


def test_links_and_modes_are_changes_and_odd_files_are_none(repository: Repository) -> None:
    repository.commit(run_sh="x")
    repository.write("large", "x" * 3_000_000)

    def work() -> None:
        (repository.path / "run.sh").chmod(0o755)
        (repository.path / "link").symlink_to("nowhere")
        os.mkfifo(repository.path / "pipe")

    assert sorted(repository.step(work).staged) == ["link", "run.sh"]


def test_a_large_file_of_the_user_is_left_too(repository: Repository) -> None:
    repository.write("large", "x" * 3_000_000)
    assert repository.step(lambda: None) == Staging()
    assert left(repository.step(lambda: repository.write("large", "y" * 3_000_000))) == {
        "large": "it had changes before the step"
    }


def test_repositories_inside_are_not_swallowed(repository: Repository) -> None:
    repository.commit()

    def work() -> None:
        for name in ("empty", "full"):
            repository.git("init", "-q", name)
        repository.write("full/x", "x")
        repository.git("-C", "full", "add", "x")
        repository.git("-C", "full", "commit", "-qm", "x")
        repository.write("a.py", "1")

    staging = repository.step(work)
    assert staging.staged == ("a.py",)
    assert left(staging)["full"] == "it is a repository of its own"


def test_a_submodule_is_staged_where_its_commit_changed(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Repository(tmp_path / "other", tmp_path / "home")
    other.git("init", "-q")
    other.commit(x="1")
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.path), "sub")
    repository.git("commit", "-qm", "sub")
    inside = repository.step(lambda: repository.write("sub/x", "2"))
    assert (inside.staged, left(inside)) == ((), {"sub": "the changes are inside a submodule"})
    repository.git("-C", "sub", "checkout", "-q", "x")
    moved = repository.step(lambda: repository.git("-C", "sub", "commit", "-qm", "next", "--allow-empty"))
    assert moved.staged == ("sub",)


def test_conflicts_are_never_marked_as_solved(repository: Repository) -> None:
    repository.commit(a="1", b="1")
    repository.git("checkout", "-qb", "side")
    repository.commit(a="2")
    repository.git("checkout", "-q", "-")
    repository.commit(a="3")
    staging = repository.step(lambda: repository.git("merge", "side", check=False))
    assert (staging.staged, left(staging)) == ((), {"a": "it is in conflict"})

    def work() -> None:
        repository.write("a", "4")
        repository.write("b", "2")

    amid = repository.step(work)
    assert (amid.staged, left(amid)) == (("b",), {"a": "it is in conflict"})
    assert repository.git("ls-files", "-u") != ""


def test_a_work_tree_of_its_own_and_a_directory_inside_are_found(repository: Repository) -> None:
    repository.commit(a="1")
    repository.git("worktree", "add", "-q", "../beside")
    beside = Repository(repository.path.parent / "beside", repository.path.parent / "home")
    beside.write("deep/x", "1")

    def work() -> None:
        beside.write("deep/y", "1")
        beside.write("a", "2")

    assert sorted(beside.step(work, at="deep").staged) == ["a", "deep/y"]
    assert repository.staged == []


def test_there_is_nothing_to_watch_outside_of_a_work_tree(repository: Repository, tmp_path: Path) -> None:
    repository.git("init", "-q", "--bare", str(tmp_path / "bare"))
    for path in (tmp_path / "home", tmp_path / "bare", repository.path / ".git"):
        assert asyncio.run(repository.tree.watch(str(path))) is None


def test_trouble_with_the_repository_is_told(repository: Repository) -> None:
    (repository.path / ".git/index").write_text("no index")
    with pytest.raises(AmplihackError, match=r"git status failed: .*index"):
        asyncio.run(repository.tree.watch(str(repository.path)))


def test_a_git_that_holds_the_index_is_waited_for_and_then_told(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = repository.path / ".git/index.lock"

    async def release(watched_for: float) -> Staging:
        watched = await repository.tree.watch(str(repository.path))
        assert watched is not None
        repository.write(f"a{watched_for}", "1")
        lock.touch()
        asyncio.get_running_loop().call_later(watched_for, lambda: lock.unlink(missing_ok=True))
        return await watched.stage()

    assert len(asyncio.run(release(0.2)).staged) == 1
    monkeypatch.setattr("amplihack.system.work_tree._PATIENCE", (0.01,))
    with pytest.raises(AmplihackError, match=r"index\.lock"):
        asyncio.run(release(30))


def test_steps_at_once_stage_one_after_the_other(repository: Repository) -> None:
    async def agent(name: str) -> Staging:
        watched = await repository.tree.watch(str(repository.path))
        assert watched is not None
        repository.write(name, "1")
        await asyncio.sleep(0)
        return await watched.stage()

    async def several() -> None:
        await asyncio.gather(*(agent(f"f{number}") for number in range(6)))

    repository.write("mine", "x")
    asyncio.run(several())
    assert repository.staged == [f"f{number}" for number in range(6)]


OWN = ("edited.py", "staged.py", ".env")


@pytest.mark.parametrize(
    ("does", "told"),
    [
        (["stash", "-qu"], {"edited.py": GONE, "staged.py": GONE, ".env": REMOVED}),
        (["reset", "-q", "--hard"], {"edited.py": GONE, "staged.py": GONE}),
        (["checkout", "-q", "--", "edited.py"], {"edited.py": GONE}),
        (["clean", "-qf"], {".env": REMOVED}),
        (["add", "-A"], {"edited.py": STAGED, ".env": STAGED}),
        (["commit", "-qam", "all"], {"edited.py": GONE, "staged.py": GONE}),
        (["log"], {}),
    ],
)
def test_what_the_step_did_to_changes_of_the_user_is_told(
    repository: Repository, does: list[str], told: dict[str, str]
) -> None:
    repository.commit(edited_py="1", staged_py="1")
    for name in OWN:
        repository.write(name, "mine")
    repository.git("add", "staged.py")
    staging = repository.step(lambda: repository.git(*does))
    assert {each.path: each.how for each in staging.disturbed} == told


def test_a_file_that_git_ignores_now_is_as_it_was(repository: Repository) -> None:
    repository.commit()
    repository.write(".env", "mine")
    staging = repository.step(lambda: repository.write(".gitignore", ".env\n"))
    assert (staging.staged, staging.disturbed) == ((".gitignore",), ())


def test_what_an_earlier_step_has_staged_is_not_the_users(repository: Repository) -> None:
    repository.commit()
    repository.step(lambda: repository.write("a.py", "1"))
    assert repository.step(lambda: repository.git("commit", "-qm", "made")).disturbed == ()


def test_a_file_that_the_step_took_out_of_the_index_is_not_put_back(repository: Repository) -> None:
    repository.commit(a_py="1")
    staging = repository.step(lambda: repository.git("rm", "-q", "--cached", "a.py"))
    assert (staging.staged, left(staging)) == ((), {"a.py": "it was taken out of git's index"})
    assert repository.git("status", "--porcelain") == "D  a.py\n?? a.py\n"


def test_after_a_failed_step_nothing_is_staged_and_everything_is_told(repository: Repository) -> None:
    repository.commit(edited_py="1", kept_py="1")
    repository.write("edited.py", "mine")
    repository.write(".env", "mine")

    def work() -> None:
        repository.write("new.py", "1")
        repository.write("edited.py", "not mine")
        (repository.path / ".env").unlink()

    staging = repository.failed_step(work)
    assert repository.staged == list(staging.staged) == []
    assert left(staging) == {"new.py": "the step failed", "edited.py": "it had changes before the step"}
    assert {each.path: each.how for each in staging.disturbed} == {".env": REMOVED}


def test_a_repository_without_commits_has_everything_staged_that_is_new(repository: Repository) -> None:
    repository.write(".env", "mine")
    assert repository.step(lambda: repository.write("a.py", "1")).staged == ("a.py",)
    assert repository.staged == ["a.py"]


def test_what_the_step_had_left_is_its_own_until_somebody_touches_it(repository: Repository) -> None:
    repository.commit(a_py="1", gone_py="1", whole_py="1")

    def work() -> None:
        repository.write("a.py", "2")
        repository.write("new.py", "1")
        (repository.path / "gone.py").unlink()

    marks = repository.failed_step(work).marks
    assert set(marks.left) == {"a.py", "new.py", "gone.py"}
    repository.write("new.py", "1")  # the same text, but it was written by somebody else
    assert repository.step(lambda: None, earlier=[marks]).staged == ("a.py", "gone.py")
    assert repository.git("status", "--porcelain").splitlines() == ["M  a.py", "D  gone.py", "?? new.py"]


def test_what_the_run_had_staged_before_it_went_on_is_not_the_users(repository: Repository) -> None:
    repository.commit(a_py="1")
    marks = repository.step(lambda: repository.write("a.py", "2")).marks
    repository.tree = GitWorkTree(repository.env)
    assert repository.step(lambda: repository.write("a.py", "3"), earlier=[marks]).staged == ("a.py",)
    repository.tree = GitWorkTree(repository.env)
    elsewhere = replace(marks, root="/elsewhere")
    assert repository.step(lambda: repository.write("a.py", "4"), earlier=[elsewhere]).staged == ()
