"""One wiring: what any listener and any caller gets from a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplihack.app import run_listeners
from amplihack.app.run import forecast, run
from amplihack.app.run_request import RunRequest
from amplihack.app.workspace import open_recipe, open_workspace
from amplihack.recipes.events import Event, LinesPrinted
from amplihack.system.listeners.listener import Listener

DEPLOY = """\
name: deploy
secrets: [token]
context: {token: s3cr3t-t0ken}
steps:
  - {id: show, command: 'echo "{{token}}"'}
  - {id: call, recipe: inner}
"""
INNER = """\
name: inner
secrets: [key, made]
context: {key: h1dden-k3y}
steps:
  - {id: use, command: 'echo "{{key}} {{token}}"', condition: "key == 'h1dden-k3y'"}
  - {id: make, command: echo m4de-up, output: made}
"""


@pytest.fixture(autouse=True)
def _recipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("deploy.yaml").write_text(DEPLOY)
    Path("inner.yaml").write_text(INNER)


class Lines(Listener):
    name = "the lines"
    wants_lines = True

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.closed = 0

    def hear(self, event: Event) -> None:
        if isinstance(event, LinesPrinted):
            self.heard.extend(event.lines)

    def close(self) -> None:
        self.closed += 1


@pytest.mark.asyncio
async def test_a_new_row_in_the_table_of_listeners_hears_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = Lines()
    monkeypatch.setitem(run_listeners.LISTENERS, "lines", lambda *_: lines)
    workspace = open_workspace()
    result = await run(workspace, open_recipe(workspace, "deploy.yaml"), {}, RunRequest())
    assert result.success
    assert lines.heard == ["***", "*** ***", "***"]
    assert lines.closed == 1


@pytest.mark.asyncio
async def test_listeners_that_were_opened_are_closed_when_a_later_one_cannot_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> Listener:
        raise OSError("no room")

    lines = Lines()
    monkeypatch.setitem(run_listeners.LISTENERS, "lines", lambda *_: lines)
    monkeypatch.setitem(run_listeners.LISTENERS, "broken", broken)
    workspace = open_workspace()
    opened = open_recipe(workspace, "deploy.yaml")
    with pytest.raises(OSError, match="no room"):
        await run(workspace, opened, {}, RunRequest())
    assert (lines.heard, lines.closed) == ([], 1)


@pytest.mark.asyncio
async def test_each_run_has_an_id_of_its_own_unless_it_is_given_one() -> None:
    workspace = open_workspace()
    opened = open_recipe(workspace, "inner.yaml")
    request = RunRequest(dry_run=True)
    ids = [(await run(workspace, opened, {}, request)).run_id for _ in range(2)]
    assert ids[0] != ids[1]
    assert (await run(workspace, opened, {}, RunRequest(dry_run=True, run_id="mine"))).run_id == "mine"


def test_a_forecast_shows_no_secrets_of_the_recipe_or_of_those_it_calls() -> None:
    workspace = open_workspace()
    steps = forecast(workspace, open_recipe(workspace, "deploy.yaml"), {}, RunRequest(dry_run=True))
    assert [step.step_id for step in steps] == ["show", "call", "use", "make"]
    shown = " ".join(f"{step.text} {step.why}" for step in steps)
    assert "***" in shown
    assert "s3cr3t-t0ken" not in shown
    assert "h1dden-k3y" not in shown
