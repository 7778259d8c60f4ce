from __future__ import annotations

from pathlib import Path

import pytest

from amplihack.errors import DocumentError, NotFound
from amplihack.recipes.agent_port import AgentFailed, AgentRequest
from amplihack.system.agent_tools.scripted import Scripted, load_script

SCRIPT = r"""
- match: release notes
  reply: |
    Two bugs fixed.
    One feature.
- match: /summari[sz]e (\w+)/
  reply: "Summary of \\1."
- agent: foundation:reviewer
  reply: {verdict: approve, score: 1}
  times: 1
- agent: foundation:reviewer
  match: again
  reply: twice
- error: HTTP 429, retry after 3
  match: busy
- reply: done
  match: ""
"""


def script(folder: Path, text: str = SCRIPT) -> Scripted:
    path = folder / "answers.yaml"
    path.write_text(text)
    return load_script(path)


async def answer(agent: Scripted, prompt: str, name: str | None = None) -> str:
    return (await agent.ask(AgentRequest(prompt=prompt, working_dir="/", agent=name), lambda _: None)).text


@pytest.mark.asyncio
async def test_the_first_answer_that_fits_is_given(tmp_path: Path) -> None:
    agent = script(tmp_path)
    assert await answer(agent, "Write the Release Notes") == "Two bugs fixed.\nOne feature."
    assert await answer(agent, "please summarise chapters") == "Summary of chapters."
    assert await answer(agent, "anything") == "done"


@pytest.mark.asyncio
async def test_an_answer_may_be_for_one_agent_and_for_so_many_times(tmp_path: Path) -> None:
    agent = script(tmp_path)
    assert await answer(agent, "look", "foundation:reviewer") == '{"verdict":"approve","score":1}'
    assert await answer(agent, "look again", "foundation:reviewer") == "twice"
    assert await answer(agent, "look", "foundation:reviewer") == "done"
    assert await answer(agent, "look again", "foundation:builder") == "done"


@pytest.mark.asyncio
async def test_an_error_fails_as_a_tool_with_these_words_would(tmp_path: Path) -> None:
    with pytest.raises(AgentFailed, match="HTTP 429") as caught:
        await answer(script(tmp_path), "busy")
    assert (caught.value.rate_limited, caught.value.retry_after) == (True, 3.0)


@pytest.mark.asyncio
async def test_the_lines_of_an_answer_are_heard(tmp_path: Path) -> None:
    lines: list[str] = []
    await script(tmp_path).ask(AgentRequest(prompt="release notes", working_dir="/"), lines.append)
    assert lines == ["Two bugs fixed.", "One feature."]


@pytest.mark.asyncio
async def test_a_prompt_without_an_answer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AgentFailed, match='no scripted answer fits the prompt of a:b: "hello"'):
        await answer(script(tmp_path, "[]"), "hello", "a:b")


@pytest.mark.asyncio
async def test_json_is_as_good_as_yaml(tmp_path: Path) -> None:
    assert await answer(script(tmp_path, '{"answers": [{"reply": "yes"}]}'), "x") == "yes"


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("hello", "must be a list", 1),
        ("- hello", "must be a mapping", 1),
        ("- reply: a\n- replay: b", 'unknown field "replay"', 2),
        ("- match: a", "either a `reply` or an `error`", 1),
        ("- {reply: a, error: b}", "either a `reply` or an `error`", 1),
        ("- {reply: a, match: /(/}", "not a regular expression", 1),
        ("- reply: a\n  times: often", "`times` must be a number", 2),
        ("- reply: a\n  delay: -1", "`delay` must be a number", 2),
    ],
)
def test_a_mistake_in_the_file_is_pointed_at(tmp_path: Path, text: str, words: str, line: int) -> None:
    with pytest.raises(DocumentError, match=words) as caught:
        script(tmp_path, text)
    assert caught.value.where is not None
    assert caught.value.where.line == line


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="No such file"):
        load_script(tmp_path / "missing.yaml")
