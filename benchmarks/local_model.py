"""The first word of a model in this process: asked through a session, and through its engine alone."""

from __future__ import annotations

import asyncio
import os
import sys
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench
from benchmarks.measure import function
from benchmarks.table import Row

_HOME = Path(__file__).parents[1] / ".models"
_WEIGHTS = _HOME / "models" / "smollm2-135m.gguf"
_WINDOW, _THREADS = 2_048, 1


def first_word(bench: Bench) -> list[Row]:
    """Measure by the clock, with the model loaded: each question is new, so that all of it is read."""
    if find_spec("xllamacpp") is None or not _WEIGHTS.exists():
        print("the local model is not here: `make test-local` fetches it", file=sys.stderr)
        return []
    os.environ["AMPLIHACK_HOME"] = str(_HOME)
    runner, numbers = asyncio.Runner(), count()
    alone = _engine()

    def question() -> str:
        return f"Question {next(numbers)}: which animals live in the sea, and which live on land?"

    def ask_alone() -> None:
        said = {"role": "user", "content": question()}
        body = {"messages": [said], "max_tokens": 1, "temperature": 0, "stream": True}
        alone.handle_chat_completions(body, lambda _: False)

    works = {
        "alone": function(ask_alone),
        "session": function(lambda: runner.run(_ask(bench.folder, question()))),
    }
    found = bench.measure(works, 8, least=True)
    runner.close()
    ratio = found["session"].wall / found["alone"].wall
    return [Row("first word of a local model, in a new session", "xllamacpp alone", ratio, 1.5)]


def _engine() -> Any:
    from amplihack.modules.providers.local.engine import _server
    from amplihack.system.local_models.weights import LoadedFile

    return _server(LoadedFile(name="smollm2-135m", path=_WEIGHTS, memory=0), _WINDOW, _THREADS)


async def _ask(work: Path, prompt: str) -> None:
    """Open a session, get one word, and close it."""
    from amplihack.system.kernel.opening import OpenRequest, open_live

    config = {
        "model": "smollm2-135m",
        "context_window": _WINDOW,
        "threads": _THREADS,
        "max_tokens": 1,
    }
    plan = {
        "session": {"orchestrator": {"module": "loop-streaming"}, "context": {"module": "context-simple"}},
        "providers": [{"module": "provider-local", "config": config}],
        "tools": [],
        "hooks": [],
    }
    async with await open_live(OpenRequest(plan=plan, working_dir=work)) as session:
        await session.execute(prompt)
