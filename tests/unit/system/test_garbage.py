"""How often Python looks for garbage while bundles are loaded, and that it goes back to what it was."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

from amplihack.system.garbage import OBJECTS, fewer_collections


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_python_looks_less_often_and_then_as_before() -> None:
    with fewer_collections():
        assert gc.get_threshold() == (OBJECTS, 10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_it_goes_back_after_an_error() -> None:
    with pytest.raises(ValueError, match="wrong"), fewer_collections():
        raise ValueError("wrong")
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("own", [(0, 10, 10), (OBJECTS * 2, 5, 5)], ids=["off", "rarer still"])
def test_a_program_that_wants_fewer_yet_keeps_what_it_said(own: tuple[int, int, int]) -> None:
    gc.set_threshold(*own)
    with fewer_collections():
        assert gc.get_threshold() == own
    assert gc.get_threshold() == own


def test_what_a_program_says_meanwhile_stays() -> None:
    with fewer_collections():
        gc.set_threshold(1234, 10, 10)
    assert gc.get_threshold() == (1234, 10, 10)


def test_the_last_of_several_at_once_goes_back() -> None:
    first_in, second_out = threading.Event(), threading.Event()

    def other() -> None:
        with fewer_collections():
            first_in.set()
            second_out.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    first_in.wait(10)
    with fewer_collections():
        pass
    assert gc.get_threshold() == (OBJECTS, 10, 10)
    second_out.set()
    thread.join(10)
    assert gc.get_threshold() == (700, 10, 10)
