from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from amplihack import (
    ExecutionListener,
    NotFound,
    NothingToUse,
    RecipeError,
    RecipeParser,
    RecipeRunner,
    RunResult,
    RunStore,
    StepResult,
    UsageError,
    find_recipe,
    load_recipe,
    parse_recipe,
    run_file,
    run_file_async,
    run_recipe,
    run_recipe_by_name,
    validate_recipe,
)

HELLO = 'name: hello\ncontext: {who: "O\'Brien"}\nsteps:\n  - {id: greet, command: "echo \'hi {{who}}\'"}\n'


@dataclass
class RealBash:
    """Runs commands with the variables it is given; agents answer with what they were asked."""

    available: bool = True
    agents: list[dict[str, object]] = field(default_factory=list)
    name: str = "real-bash"

    def is_available(self) -> bool:
        return self.available

    def execute_bash_step(
        self, command: str, working_dir: str, timeout: float | None, extra_env: Mapping[str, str]
    ) -> str:
        done = subprocess.run(
            ["/bin/bash", "-c", command],
            env=dict(extra_env),
            cwd=working_dir,
            timeout=timeout,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"Command failed (exit {done.returncode})")
        return done.stdout.decode()

    def execute_agent_step(self, prompt: str, **details: object) -> str:
        self.agents.append({"prompt": prompt, **details})
        return f"you said {prompt}"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_recipe_runs_on_this_machine_without_an_adapter() -> None:
    result = run_recipe(HELLO)
    assert (result.success, result.context["greet"]) == (True, "hi O'Brien")


def test_an_adapter_gets_a_command_without_values_and_the_values_beside_it() -> None:
    result = run_recipe(HELLO, RealBash(), {"who": "$(touch pwned)"})
    assert result.context["greet"] == "hi $(touch pwned)"
    assert not Path("pwned").exists()


def test_an_adapter_that_raises_fails_the_step_with_its_words() -> None:
    result = run_recipe("name: n\nsteps: [{id: a, command: exit 4}]", RealBash())
    assert not result.success
    assert result.step_results[0].error == "Step 'a' failed: bash step failed: Command failed (exit 4)"


def test_agent_steps_reach_the_adapter_with_model_and_mode() -> None:
    adapter = RealBash()
    result = run_recipe("name: n\nsteps: [{id: a, prompt: plan it, model: m, mode: PLAN}]", adapter)
    assert result.context["a"] == "you said plan it"
    assert (adapter.agents[0]["model"], adapter.agents[0]["mode"]) == ("m", "PLAN")


def test_an_adapter_that_is_not_available_runs_nothing() -> None:
    with pytest.raises(NothingToUse, match="real-bash"):
        run_recipe(HELLO, RealBash(available=False))


def test_a_dry_run_calls_no_adapter() -> None:
    result = run_recipe(HELLO, RealBash(available=False), dry_run=True)
    assert [step.status for step in result.step_results] == ["skipped"]


def test_a_recipe_by_name_is_found_in_the_given_folders_with_what_it_extends() -> None:
    Path("base.yaml").write_text("name: base\nsteps: [{id: one, command: echo 1}]\n")
    Path("leaf.yaml").write_text("name: leaf\nextends: base\nsteps: [{id: two, command: echo 2}]\n")
    result = run_recipe_by_name("leaf", dirs=["."])
    assert [step.step_id for step in result.step_results] == ["one", "two"]
    with pytest.raises(NotFound, match="not found"):
        run_recipe_by_name("nowhere", dirs=["."])


def test_a_listener_hears_each_step_once_and_every_line() -> None:
    class Ears(ExecutionListener):
        def __init__(self) -> None:
            self.heard: list[tuple[str, ...]] = []

        def on_step_start(self, step_id: str, step_type: str) -> None:
            self.heard.append(("start", step_id, step_type))

        def on_step_complete(self, result: StepResult) -> None:
            self.heard.append(("end", result.step_id, result.status))

        def on_output(self, step_id: str, line: str) -> None:
            self.heard.append(("line", step_id, line))

    ears = Ears()
    RecipeRunner(listener=ears, audit_dir="audit").execute(parse_recipe(HELLO))
    expected = [("start", "greet", "bash"), ("line", "greet", "hi O'Brien"), ("end", "greet", "completed")]
    assert ears.heard == expected
    (log,) = Path("audit").iterdir()
    assert json.loads(log.read_text())["status"] == "Completed"


# Masking and listeners --------------------------------------------------------------------------------------

SECRET = "s3cr3t-t0ken"  # noqa: S105 - made up
DEPLOY = """\
name: deploy
secrets: [token]
steps:
  - {id: show, command: 'echo "the token is {{token}}"'}
  - {id: fail, command: 'echo {{token}} >&2; exit 3', on_error: continue}
"""


@pytest.mark.parametrize("adapter", [None, RealBash()], ids=["this machine", "an adapter"])
def test_a_declared_secret_leaves_a_run_only_masked(adapter: RealBash | None) -> None:
    class Ears(ExecutionListener):
        def __init__(self) -> None:
            self.heard: list[str] = []

        def on_step_complete(self, result: StepResult) -> None:
            self.heard.append(str(result))

        def on_output(self, step_id: str, line: str) -> None:
            assert step_id in ("show", "fail")
            self.heard.append(line)

        def on_run_complete(self, result: RunResult) -> None:
            self.heard.append(str(result))

    ears = Ears()
    runner = RecipeRunner(adapter=adapter, listener=ears, audit_dir="audit", events="events.jsonl")
    result = runner.execute(parse_recipe(DEPLOY), {"token": SECRET})
    assert result.success
    assert result.context["show"] == "the token is ***"
    told = [str(result), *ears.heard, Path("events.jsonl").read_text()]
    told += [log.read_text() for log in Path("audit").iterdir()]
    assert "the token is ***" in ears.heard
    assert [each for each in told if SECRET in each] == []


@pytest.mark.parametrize("method", ["on_step_start", "on_step_complete", "on_output", "on_run_complete"])
def test_a_listener_that_raises_is_dropped_and_the_run_goes_on(method: str) -> None:
    class Broken(ExecutionListener):
        pass

    def fail(*_: object) -> None:
        calls.append(method)
        raise LookupError("no such thing")

    calls: list[str] = []
    setattr(Broken, method, fail)
    recipe = parse_recipe("name: n\nsteps: [{id: a, command: echo 1}, {id: b, command: echo 2}]")
    result = RecipeRunner(listener=Broken(), audit_dir="audit").execute(recipe)
    assert result.success
    assert result.warnings == ("the listener stopped: LookupError: no such thing",)
    assert calls == [method]
    (log,) = Path("audit").iterdir()
    assert len(log.read_text().splitlines()) == 2


def test_a_listener_hears_the_result_that_the_caller_gets() -> None:
    class Ears(ExecutionListener):
        result: RunResult | None = None

        def on_run_complete(self, result: RunResult) -> None:
            self.result = result

    ears = Ears()
    assert RecipeRunner(listener=ears).execute(parse_recipe(HELLO)) == ears.result


def test_an_audit_folder_that_cannot_be_written_stops_the_run_before_it_begins() -> None:
    Path("audit").write_text("a file")
    with pytest.raises(UsageError, match="cannot write an audit log"):
        RecipeRunner(audit_dir="audit").execute(parse_recipe("name: n\nsteps: [{id: a, command: touch ran}]"))
    assert not Path("ran").exists()


def test_strict_flags_are_kept() -> None:
    Path("typo.yaml").write_text("name: typo\nsteps: [{id: a, command: touch ran, tmeout: 5}]\n")
    with pytest.raises(RecipeError, match="tmeout"):
        RecipeRunner(strict=True).execute(Path("typo.yaml"))
    with pytest.raises(RecipeError, match="nowhere"):
        unknown = parse_recipe("name: n\nsteps: [{id: a, command: 'touch ran {{nowhere}}'}]")
        RecipeRunner(strict_vars=True).execute(unknown)
    assert not Path("ran").exists()
    agent = parse_recipe("name: n\nsteps: [{id: a, agent: no:body, prompt: hi}]")
    assert run_recipe("name: n\nsteps: [{id: a, agent: no:body, prompt: hi}]", RealBash()).success
    assert not RecipeRunner(adapter=RealBash(), strict_agents=True).execute(agent).success


# Files ------------------------------------------------------------------------------------------------------


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """A recipe that calls one beside it, which extends another beside it."""
    folder = tmp_path / "family"
    folder.mkdir()
    (folder / "parent.yaml").write_text("name: parent\nsteps: [{id: call, recipe: child}]\n")
    (folder / "child.yaml").write_text("name: child\nextends: base\nsteps: [{id: two, command: echo 2}]\n")
    (folder / "base.yaml").write_text("name: base\nsteps: [{id: one, command: 'echo {{n}}'}]\n")
    return folder / "parent.yaml"


def test_a_file_runs_by_its_path_with_the_recipes_beside_it(
    family: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run_file("family/parent.yaml", context={"n": 1})
    assert (result.success, result.context["one"], result.context["two"]) == (True, 1, 2)
    (family.parents[1] / "elsewhere").mkdir()
    monkeypatch.chdir(family.parents[1] / "elsewhere")
    assert run_file(family).success
    assert run_file(family, RealBash()).success


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(NotFound, match=r"nowhere\.yaml"):
        run_file("nowhere.yaml")


def test_a_parsed_file_remembers_where_it_came_from(family: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parser = RecipeParser()
    recipe, child = parser.parse_file("family/parent.yaml"), parser.parse_file("family/child.yaml")
    (family.parents[1] / "elsewhere").mkdir()
    monkeypatch.chdir(family.parents[1] / "elsewhere")
    assert RecipeRunner().execute(recipe).success
    assert [step.id for step in parser.resolve_extends(child).steps] == ["one", "two"]


# Event loops ------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_the_synchronous_calls_work_inside_a_running_event_loop(family: Path) -> None:
    results = [
        run_file(family),
        run_recipe(HELLO),
        run_recipe_by_name("parent", dirs=[str(family.parent)]),
        RecipeRunner().execute(parse_recipe(HELLO)),
    ]
    assert [result.success for result in results] == [True] * 4
    with pytest.raises(NotFound, match="nowhere"):
        run_file("nowhere.yaml")


@pytest.mark.asyncio
async def test_a_task_that_was_cancelled_can_still_clean_up_with_a_recipe(family: Path) -> None:
    async def work() -> bool:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return run_file(family).success
        return False

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    assert await task


@pytest.mark.asyncio
async def test_files_run_side_by_side_in_the_event_loop_of_the_caller(family: Path) -> None:
    one, two = await asyncio.gather(
        run_file_async(family, context={"n": 1}), run_file_async(family, context={"n": 2})
    )
    assert (one.context["one"], two.context["one"]) == (1, 2)


class Stay:
    """A recipe file whose step stays until it is ended, and what is known of its process."""

    def __init__(self, folder: Path) -> None:
        self.file, self._pid = folder / "stay.yaml", folder / "pid"
        self.file.write_text(f"name: stay\nsteps: [{{id: a, command: 'echo $$ > {self._pid}; sleep 300'}}]\n")

    @property
    def began(self) -> bool:
        return self._pid.exists() and self._pid.read_text().endswith("\n")

    @property
    def group(self) -> int:
        return int(self._pid.read_text())


@pytest.fixture
def stay(tmp_path: Path) -> Stay:
    return Stay(tmp_path)


@pytest.mark.asyncio
async def test_a_cancelled_call_ends_its_processes(stay: Stay) -> None:
    call = asyncio.create_task(run_file_async(stay.file))
    while not stay.began:
        assert not call.done()
        await asyncio.sleep(0.01)
    os.killpg(stay.group, 0)  # it is there
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    with pytest.raises(ProcessLookupError):
        os.killpg(stay.group, 0)


@pytest.mark.asyncio
async def test_a_call_that_takes_too_long_can_be_given_up(stay: Stay) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await run_file_async(stay.file)
    if stay.began:
        with pytest.raises(ProcessLookupError):
            os.killpg(stay.group, 0)


def test_variables_in_the_place_of_the_adapter_are_refused() -> None:
    with pytest.raises(UsageError, match="the adapter is a mapping") as refused:
        run_recipe("name: x\nsteps: [{id: a, command: ls}]\n", {"who": "ada"})  # type: ignore[arg-type]  # the point
    assert "context=" in refused.value.fix


ONE = "name: x\nsteps: [{id: a, command: 'echo {{v}}', when_tags: [t]}]\n"


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"v": {1, 2}}, "context: v is of the type set"),
        ({"v": [b"x"]}, "context: v[0] is of the type bytes"),
        ({"v": {"k": object()}}, "context: v.k is of the type object"),
        ({"v": float("nan")}, "context: v is nan"),
        ({"v": 10**5_000}, "context: v is a number of more than"),
        ({1: "x"}, "context has the key 1"),
        ([1], "context is of the type list"),
    ],
)
def test_what_is_no_value_of_a_recipe_is_refused_before_the_first_step(given: object, what: str) -> None:
    with pytest.raises(UsageError) as refused:
        run_recipe(ONE, context=given)  # type: ignore[arg-type]  # the point
    assert (what in refused.value.what, bool(refused.value.fix)) == (True, True)


@pytest.mark.parametrize("given", [None, 3, Path("hello.yaml"), "hello.yaml", "./my recipes/hello.yml"])
@pytest.mark.parametrize("read", [run_recipe, parse_recipe, RecipeParser().parse, validate_recipe])
def test_what_is_no_text_of_a_recipe_is_refused_with_who_reads_files(
    read: Callable[[object], object], given: object
) -> None:
    with pytest.raises(UsageError) as refused:
        read(given)
    assert "run_file(path)" in refused.value.fix


@pytest.mark.parametrize("find", [find_recipe, load_recipe, run_recipe_by_name])
def test_one_directory_in_place_of_a_list_is_refused(find: Callable[..., object]) -> None:
    with pytest.raises(UsageError) as refused:
        find("hello", dirs="shelf")
    assert refused.value.fix == "write dirs=['shelf']"


def test_paths_and_tuples_are_values() -> None:
    assert run_recipe(ONE, context={"v": Path("a b")}).context["a"] == "a b"  # type: ignore[dict-item]  # the point
    assert run_recipe(ONE, context={"v": (1, "x")}).context["a"] == [1, "x"]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("adapter", "claude"),
        ("store", "kept"),
        ("store", Path("kept")),
        ("store", RunStore("kept")),  # type: ignore[arg-type]  # the point
        ("include_tags", "t"),
        ("include_tags", frozenset(("nope",))),
        ("recipe_dirs", "shelf"),
        ("recipe_dirs", Path("shelf")),
        ("max_parallel", 0),
        ("step_timeout", "5m"),
        ("step_timeout", float("nan")),
    ],
)
def test_a_setting_that_no_run_could_have_is_refused_with_a_fix(setting: str, value: object) -> None:
    with pytest.raises(UsageError) as refused:
        RecipeRunner(**{setting: value}).execute(parse_recipe(ONE))  # type: ignore[arg-type]  # the point
    assert refused.value.fix


def test_a_runner_takes_a_path_as_a_text_and_refuses_what_is_no_recipe(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(ONE)
    assert RecipeRunner().execute(str(tmp_path / "x.yaml")).success
    with pytest.raises(UsageError, match="is no recipe"):
        RecipeRunner().execute(None)  # type: ignore[arg-type]  # the point
