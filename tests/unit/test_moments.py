"""Moments that no calendar has are told, wherever they come from."""

from __future__ import annotations

import math
import time

import pytest

from amplihack.moments import UNKNOWN, calendar_moment, local_time
from amplihack.recipes.run_history import moment


@pytest.mark.parametrize("seconds", [-1e300, -1.0, 1e12, 1e300, math.inf, -math.inf, math.nan])
def test_what_calendars_do_not_have(seconds: float) -> None:
    assert local_time(seconds) == UNKNOWN
    assert moment(seconds) is None


def test_an_ordinary_moment() -> None:
    assert local_time(0) == time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(0))
    assert moment(0.25) == "1970-01-01T00:00:00.250Z"
    assert [calendar_moment(each) for each in (-5, 7, 1e15)] == [0, 7, 253_402_214_400]
