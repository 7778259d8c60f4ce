"""A share of `make crash`: commands that are killed anywhere end as if nothing had happened."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.crash_points import Place
from tests.support.crash_stories import STORIES, Story, tell

# The threads of the test runner hold nothing that a life needs.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
ROOT = Path(__file__).parents[2]
SHARE = 3  # points of the first life of each story


@pytest.mark.parametrize(
    "make", [each for each in STORIES if each.opens_sessions], ids=lambda make: make.__name__
)
def test_a_session_that_was_killed_changes_nothing_about_the_end(make: type[Story]) -> None:
    """Threads of the kernel, which other tests have started here, do not live on in a fork."""
    words = ("-m", "tests.crash", "--story", make.name, "--kills", str(2 * SHARE), "--jobs", "1")
    told = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "all ended as if nothing had happened" in told.stdout


@pytest.mark.parametrize(
    "make", [each for each in STORIES if not each.opens_sessions], ids=lambda make: make.__name__
)
def test_a_command_that_was_killed_changes_nothing_about_the_end(make: type[Story], tmp_path: Path) -> None:
    story, place = make(), Place(tmp_path / "place")
    story.begin(place)
    place.save()
    expected = tell(story, place, [])
    assert expected.points > 3 * SHARE
    for number in range(SHARE):
        point = 2 + number * (expected.points - 2) // SHARE
        assert tell(story, place, [point], expected).kills == 1
    assert tell(story, place, [expected.points // 2, 8, 5], expected).kills == 3
