from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from amplifier_core import ChatRequest, LLMError, Message, ResponseFormatJsonSchema, ToolSpec
from hypothesis import given
from hypothesis import strategies as st

from amplihack.modules.providers.local.protocol import FinalText, Protocol, plain_messages, tool_or_final

TOOL = ToolSpec(
    name="bash",
    description="Runs.",
    parameters={"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
)
SCHEMA = {
    "type": "object",
    "properties": {"n": {"$ref": "#/$defs/number"}},
    "$defs": {"number": {"type": "integer"}},
}


def request(**more: Any) -> Any:
    return ChatRequest(messages=[Message(role="user", content="go")], **more)


def test_a_tool_call_and_a_final_answer_are_read() -> None:
    protocol = Protocol.of(request(tools=[TOOL]))
    call = protocol.read('{"tool": "bash", "arguments": {"command": "ls"}}', cut=False)
    assert (call.tool, call.arguments) == ("bash", {"command": "ls"})
    assert protocol.read('{"final": "Done."}', cut=False).text == "Done."
    assert "bash: Runs." in protocol.messages[0]["content"]


def test_a_schema_is_wanted_of_the_whole_answer_or_of_the_final_one() -> None:
    wanted = ResponseFormatJsonSchema(json_schema=SCHEMA)
    assert Protocol.of(request(response_format=wanted)).schema == SCHEMA
    both = Protocol.of(request(response_format=wanted, tools=[TOOL]))
    assert both.schema is not None
    assert both.schema["anyOf"][-1]["properties"]["final"]["properties"] == {
        "n": {"$ref": "#/$defs/final.number"}
    }
    assert both.schema["$defs"] == {"final.number": {"type": "integer"}}
    assert json.loads(both.read('{"final": {"n": 3}}', cut=False).text) == {"n": 3}


def test_a_call_can_be_required_or_forbidden() -> None:
    required = Protocol.of(request(tools=[TOOL], tool_choice="required"))
    assert required.schema is not None
    assert [list(each["properties"]) for each in required.schema["anyOf"]] == [["tool", "arguments"]]
    assert not Protocol.of(request(tools=[TOOL], tool_choice="none")).tools


def test_definitions_of_two_tools_do_not_meet() -> None:
    second = ToolSpec(name="other", parameters={**SCHEMA, "$defs": {"number": {"type": "number"}}})
    first = ToolSpec(name="one", parameters=SCHEMA)
    assert tool_or_final([first, second], None)["$defs"] == {
        "one.number": {"type": "integer"},
        "other.number": {"type": "number"},
    }


def test_an_answer_that_was_cut_is_used_as_far_as_it_goes_or_refused() -> None:
    protocol = Protocol.of(request(tools=[TOOL]))
    cut = protocol.read('{"final": "As far as', cut=True)
    assert (cut.text, cut.cut) == ("As far as", True)
    for text in ('{"tool": "bash", "argu', "", '{"final": "'):
        with pytest.raises(LLMError, match="cut at its limit"):
            protocol.read(text, cut=True)
    with pytest.raises(LLMError, match="cut at its limit"):
        Protocol.of(request(response_format=ResponseFormatJsonSchema(json_schema=SCHEMA))).read(
            '{"n"', cut=True
        )


@given(st.text(), st.lists(st.integers(0, 200), max_size=8), st.booleans())
def test_the_text_streams_as_it_will_be_read_in_whatever_pieces_it_comes(
    text: str, cuts: list[int], ascii_only: bool
) -> None:
    text = text.encode("utf-16", "ignore").decode("utf-16", "ignore")
    whole = json.dumps({"final": text}, ensure_ascii=ascii_only)
    places = sorted({min(cut, len(whole)) for cut in cuts} | {0, len(whole)})
    reader = FinalText(wrapped=True)
    shown = "".join(reader.feed(whole[a:b]) for a, b in pairwise(places))
    assert shown == text


def test_a_tool_call_streams_no_text() -> None:
    assert FinalText(wrapped=True).feed('{"tool": "bash", "arguments": {"command": "final"}}') == ""


def test_a_conversation_becomes_turns_of_user_and_assistant() -> None:
    talk: list[dict[str, Any]] = [
        {"role": "system", "content": "one"},
        {"role": "user", "content": "go"},
        {"role": "user", "content": "on"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Looking."}],
            "tool_calls": [{"id": "1", "tool": "bash", "arguments": {"command": "ls"}}],
        },
        {"role": "tool", "tool_call_id": "1", "name": "bash", "content": "a.txt"},
        {"role": "system", "content": "two"},
    ]
    assert plain_messages(talk) == [
        {"role": "system", "content": "one\n\ntwo"},
        {"role": "user", "content": "go\n\non"},
        {"role": "assistant", "content": 'Looking.\n\n{"tool": "bash", "arguments": {"command": "ls"}}'},
        {"role": "user", "content": "Result of bash:\na.txt"},
    ]
