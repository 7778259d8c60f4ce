"""What a start does about the staged bundle: the whole table, and the words."""

from __future__ import annotations

import pytest

from amplihack.errors import UsageError
from amplihack.install.decide import (
    HealAction,
    bypass_line,
    decide,
    is_bypassed,
    is_nested,
    malformed_line,
    patience_of,
)


@pytest.mark.parametrize(
    ("stamp", "is_staged", "bypass", "action"),
    [
        ("1.0.0", True, False, "nothing"),
        ("1.0.0", True, True, "nothing"),
        ("1.0.0", False, False, "stage"),
        ("1.0.0", False, True, "tell"),
        ("0.9.0", True, False, "stage"),
        ("0.9.0", True, True, "tell"),
        ("1.0.1", True, False, "stage"),
        (None, True, False, "stage"),
        (None, False, True, "tell"),
    ],
)
def test_the_decision_table(stamp: str | None, is_staged: bool, bypass: bool, action: HealAction) -> None:
    assert decide(stamp=stamp, current="1.0.0", is_staged=is_staged, bypass=bypass) == action


def test_any_non_empty_value_bypasses_and_an_empty_one_does_not() -> None:
    assert is_bypassed({"AMPLIHACK_SKIP_AUTO_INSTALL": "1"})
    assert is_bypassed({"AMPLIHACK_SKIP_AUTO_INSTALL": "0"})
    assert not is_bypassed({"AMPLIHACK_SKIP_AUTO_INSTALL": ""})
    assert not is_bypassed({})


def test_the_line_of_the_bypass_names_the_variable_and_both_versions() -> None:
    line = bypass_line(stamp=None, current="1.0.0", bundle="compatible")
    assert line == (
        "amplihack: AMPLIHACK_SKIP_AUTO_INSTALL set; skipping re-stage "
        '(stamp=<missing> current=1.0.0; installed_bundle="compatible")'
    )


def test_a_process_inside_a_run_is_nested() -> None:
    assert is_nested({"AMPLIHACK_SESSION_DEPTH": "1"})
    assert not is_nested({"AMPLIHACK_SESSION_DEPTH": "0"})
    assert not is_nested({})


def test_a_malformed_stamp_is_shown_escaped_and_cut() -> None:
    line = malformed_line("/home/x/.installed-version", b"\x1b[31m" + b"a" * 500)
    assert line.isprintable()
    assert "\\x1b[31m" in line
    assert len(line) < 250


def test_the_patience_is_a_number_of_seconds_or_a_duration() -> None:
    assert patience_of({}) == 600
    assert patience_of({"AMPLIHACK_INSTALL_LOCK_TIMEOUT_SECS": ""}) == 600
    assert patience_of({"AMPLIHACK_INSTALL_LOCK_TIMEOUT_SECS": "5"}) == 5
    assert patience_of({"AMPLIHACK_INSTALL_LOCK_TIMEOUT_SECS": "2m"}) == 120
    with pytest.raises(UsageError) as raised:
        patience_of({"AMPLIHACK_INSTALL_LOCK_TIMEOUT_SECS": "soon"})
    assert "AMPLIHACK_INSTALL_LOCK_TIMEOUT_SECS" in raised.value.what
