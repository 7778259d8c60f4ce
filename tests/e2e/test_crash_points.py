"""A share of `make crash`: runs that are killed at points of every kind end as if nothing had happened."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.crash_points import Ended, Place, check, run_to_its_end

# The threads of the test runner hold nothing that a life needs.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
NEVER = 0
SCHEDULES = [
    *([point] for point in range(2, 70, 8)),
    *([NEVER, point] for point in (1, 2, 4)),  # while the gate is answered
    *([NEVER, NEVER, point] for point in range(1, 20, 6)),  # after the gate
    [30, 20, 10],
]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    ended = run_to_its_end(Place(tmp_path_factory.mktemp("whole")), [])
    assert ended.points > 70
    assert ended.effects["flaky"] == 2
    return ended


@pytest.mark.parametrize("kills", SCHEDULES, ids=str)
def test_a_run_that_was_killed_ends_as_if_nothing_had_happened(
    kills: list[int], undisturbed: Ended, tmp_path: Path
) -> None:
    ended = run_to_its_end(Place(tmp_path), kills)
    assert ended.kills > 0
    check(ended, undisturbed, kills)
