from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.support.kernel_sessions import opened, plan
from tests.support.tool_stage import MountedTools, mounted

pytestmark = pytest.mark.asyncio


def lives(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


def written(file: Path) -> str:
    return file.read_text().strip() if file.exists() else ""


async def printed(tools: MountedTools, job: int) -> Any:
    """Return what a job shows once it has printed something."""
    async with asyncio.timeout(20):
        while True:
            seen = await tools.call("bash", job=job)
            if seen["output"]:
                return seen
            await asyncio.sleep(0.02)


async def test_a_command_gives_its_output_and_its_code(tmp_path: Path) -> None:
    (tmp_path / "here.txt").touch()
    async with mounted("tool-bash", tmp_path) as tools:
        assert await tools.call("bash", command="ls; echo e >&2") == {
            "stdout": "here.txt\n", "stderr": "e\n", "returncode": 0,
        }  # fmt: skip
        result = await tools.coordinator.get("tools")["bash"].execute({"command": "echo no; exit 3"})
        assert (result.success, result.output["returncode"], result.output["stdout"]) == (False, 3, "no\n")


async def test_a_command_that_takes_too_long_ends_with_all_it_started(tmp_path: Path) -> None:
    async with mounted("tool-bash", tmp_path) as tools:
        command = "sleep 3600 & echo $! > child; echo before; wait"
        result = await tools.coordinator.get("tools")["bash"].execute({"command": command, "timeout": 0.5})
        assert not result.success
        assert result.output["stdout"] == "before\n"
        assert "ended after 0.5 seconds" in result.output["note"]
        assert not lives(int((tmp_path / "child").read_text()))


async def test_what_a_command_leaves_running_is_ended_with_it(tmp_path: Path) -> None:
    async with mounted("tool-bash", tmp_path) as tools:
        done = await tools.call("bash", command="sleep 3600 & echo $!")
        assert not lives(int(done["stdout"]))


@pytest.mark.parametrize(
    "command",
    [
        "nohup sleep 3600 >/dev/null 2>&1 & echo $! >child; disown",
        "(setsid sh -c 'echo $$ >child; exec sleep 3600' >/dev/null 2>&1 &)\n"
        "until [ -s child ]; do sleep 0.02; done",
    ],
)
async def test_what_a_command_leaves_running_unheard_is_ended_with_it_and_told(
    tmp_path: Path, command: str
) -> None:
    async with mounted("tool-bash", tmp_path) as tools:
        done = await tools.call("bash", command=command)
        assert not lives(int((tmp_path / "child").read_text()))
        assert "run_in_background" in done["note"]


async def test_a_flood_of_output_is_cut_and_told(tmp_path: Path) -> None:
    async with mounted("tool-bash", tmp_path, config={"max_output_bytes": 1_000}) as tools:
        out = (await tools.call("bash", command="echo first; seq 1 200000; echo last"))["stdout"]
        assert out.startswith("first\n")
        assert out.endswith("last\n")
        assert "bytes left out" in out
        assert len(out) < 1_200


async def test_the_keys_of_the_models_are_not_in_the_environment_of_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_MODEL_KEY", "sk-secret")
    monkeypatch.setenv("MY_TOKEN", "t-secret")
    monkeypatch.setenv("PLAIN", "plain")

    class Provider:
        def get_info(self) -> Any:
            class Info:
                credential_env_vars = ("SOME_MODEL_KEY",)

            return Info

    async with mounted("tool-bash", tmp_path, config={"hide_env": ["*_TOKEN"]}) as tools:
        await tools.coordinator.mount("providers", Provider(), name="some")
        out = (await tools.call("bash", command="env"))["stdout"]
        assert "secret" not in out
        assert "PLAIN=plain" in out


async def test_keys_of_other_models_are_not_passed_on_either_unless_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    async with mounted("tool-bash", tmp_path) as tools:
        assert "secret" not in (await tools.call("bash", command="env"))["stdout"]
    async with mounted("tool-bash", tmp_path, config={"show_env": ["OPENAI_*"]}) as tools:
        out = (await tools.call("bash", command="env"))["stdout"]
        assert "OPENAI_API_KEY=sk-secret" in out
        assert "ANTHROPIC_API_KEY" not in out


async def test_a_job_in_the_background_is_looked_at_and_stopped(tmp_path: Path) -> None:
    async with mounted("tool-bash", tmp_path, config={"max_background_jobs": 1}) as tools:
        job = (await tools.call("bash", command="echo $$; sleep 3600", run_in_background=True))["job"]
        seen = await printed(tools, job)
        assert seen["state"] == "running"
        assert "1 jobs are running" in await tools.fails("bash", command="true", run_in_background=True)
        assert (await tools.call("bash", job=job, stop=True))["state"] == "stopped"
        assert not lives(int(seen["output"]))
        assert "there is no job 9" in await tools.fails("bash", job=9)


async def test_jobs_end_with_the_session(tmp_path: Path) -> None:
    async with mounted("tool-bash", tmp_path) as tools:
        job = (await tools.call("bash", command="echo $$; exec sleep 3600", run_in_background=True))["job"]
        seen = await printed(tools, job)
    assert not lives(int(seen["output"]))


@pytest.mark.parametrize("given", [{}, {"command": "  "}, {"command": "a\0b"}, {"job": 1}])
async def test_wrong_arguments_are_a_result(tmp_path: Path, given: dict[str, Any]) -> None:
    async with mounted("tool-bash", tmp_path) as tools:
        assert await tools.fails("bash", **given)


async def test_an_interrupted_turn_leaves_no_process(tmp_path: Path) -> None:
    steps = [{"tools": [{"name": "bash", "input": {"command": "echo $$ > pid; sleep 3600", "timeout": 600}}]}]
    given = plan(steps=[*steps, {"text": "Next turn works."}], tools=[{"module": "tool-bash"}])
    async with opened(given, working_dir=tmp_path) as stage:
        turn = asyncio.ensure_future(stage.say("go"))
        pid = tmp_path / "pid"
        async with asyncio.timeout(20):
            while not written(pid):
                await asyncio.sleep(0.02)
        stage.cancellation.request_immediate()
        assert await turn == ""
        assert not lives(int(written(pid)))
        stage.cancellation.reset()
        assert await stage.say("again") == "Next turn works."
