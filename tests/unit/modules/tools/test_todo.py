from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.tool_stage import mounted

pytestmark = pytest.mark.asyncio

WORK = [
    {"content": "Read", "activeForm": "Reading", "status": "completed"},
    {"content": "Write", "activeForm": "Writing", "status": "in_progress"},
    {"content": "Test", "status": "pending"},
]


async def test_a_list_is_made_changed_and_shown(tmp_path: Path) -> None:
    async with mounted("tool-todo", tmp_path) as tools:
        assert (await tools.call("todo", action="list"))["count"] == 0
        made = await tools.call("todo", action="create", todos=WORK)
        assert (made["count"], made["pending"], made["in_progress"], made["completed"]) == (3, 1, 1, 1)
        assert (await tools.call("todo", action="list"))["todos"][2]["content"] == "Test"
        assert tools.coordinator.session_state["todos"][0]["content"] == "Read"
        assert (await tools.call("todo", action="update", todos=WORK[:1]))["count"] == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"action": "forget"}, "must be one of create, update, list"),
        ({"action": "create"}, "needs `todos`"),
        ({"action": "create", "todos": ["Read"]}, "item 1 is no mapping"),
        ({"action": "create", "todos": [{"content": "x", "status": "done"}]}, "item 1 lacks"),
        ({"action": "create", "todos": [{**WORK[0], "due": "now"}]}, "item 1 has due"),
        ({"action": "create", "todos": [WORK[1], WORK[1]]}, "more than one item is in progress"),
        ({"action": "create", "todos": WORK * 50}, "150 items are more than 100"),
    ],
)
async def test_a_wrong_list_changes_nothing(tmp_path: Path, given: dict[str, Any], said: str) -> None:
    async with mounted("tool-todo", tmp_path) as tools:
        assert said in await tools.fails("todo", **given)
        assert "todos" not in tools.coordinator.session_state
