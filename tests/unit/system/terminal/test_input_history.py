"""What was typed is there the next time, for nobody else."""

from __future__ import annotations

import json
from pathlib import Path

from amplihack.system.terminal.input_history import InputHistory


def test_what_was_typed_is_kept_for_the_next_time_and_private(tmp_path: Path) -> None:
    file = tmp_path / "home" / "history"
    history = InputHistory(file)
    for text in ("one", "one", "  ", "two\nlines", "drei ü"):
        history.add(text)
    assert history.entries == ["one", "two\nlines", "drei ü"]
    assert InputHistory(file).entries == history.entries
    assert file.stat().st_mode & 0o777 == 0o600


def test_it_does_not_grow_for_ever_and_survives_nonsense(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_text("".join(f"{json.dumps(str(number))}\n" for number in range(2000)) + "nonsense\n[1]\n")
    history = InputHistory(file)
    assert (len(history.entries), history.entries[-1]) == (1000, "1999")
    assert len(file.read_text().splitlines()) == 1000


def test_a_file_that_cannot_be_used_is_told_once(tmp_path: Path) -> None:
    told: list[str] = []
    (tmp_path / "file").write_text("")
    history = InputHistory(tmp_path / "file" / "history", told.append)
    history.add("one")
    history.add("two")
    assert history.entries == ["one", "two"]
    assert len(told) == 1
    assert "not kept for the next time" in told[0]


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    (tmp_path / "history").symlink_to(tmp_path / "other")
    told: list[str] = []
    InputHistory(tmp_path / "history", told.append).add("secret")
    assert (tmp_path / "other").read_text() == ""
    assert told
