import io
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence

import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.unit.system.listeners.script import SCRIPT, Clock, finished, play, round_over, started

from amplihack.recipes.events import Event, IterationStarted, LinesPrinted, RunStarted
from amplihack.system.listeners.live import LiveProgress, terminal

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"  # the cursor


class Screen:
    """A live display on a terminal that is only a text."""

    def __init__(self, width: int = 100, *, verbose: bool = False) -> None:
        self.file = io.StringIO()
        self.clock = Clock(1000.0)
        console = Console(file=self.file, force_terminal=True, width=width, height=10, color_system=None)
        self.progress = LiveProgress(console, clock=self.clock, verbose=verbose)

    def hear(self, *events: Event) -> None:
        for event in events:
            self.progress.hear(event)

    def rows(self, height: int = 10, width: int = 100) -> list[str]:
        return [row.plain for row in self.progress.rows(height, width)]


@pytest.fixture
def screen() -> Iterator[Screen]:
    shown = Screen()
    yield shown
    shown.progress.close()


BEGIN: Sequence[Event] = (RunStarted("r", "build", "1", 3), started("deploy", "recipe", 2, 3))


def test_what_runs_is_shown_as_a_tree_with_its_time_and_its_last_line(screen: Screen) -> None:
    screen.hear(*BEGIN)
    screen.clock.now += 61
    screen.hear(started("deploy/upload"), LinesPrinted("deploy/upload", "stdout", ("\x1b[1m50%\x1b[0m\r",)))
    screen.clock.now += 3
    assert screen.rows() == [
        "build  step 2 of 3  1m 04s",
        "  ⠹ deploy  1m 04s",
        "    ⠹ upload  3s  50%",
    ]


def test_a_loop_shows_its_items_and_how_many_are_done(screen: Screen) -> None:
    screen.hear(RunStarted("r", "build", "1", 1), started("each", title="Lint all"))
    screen.hear(IterationStarted("each", 0, 3, {"item": "a"}), IterationStarted("each", 1, 3, {"item": "b"}))
    assert screen.rows()[1] == "  ⠋ each · Lint all  0s  0 of 3 done  round 1 of 3 — a, round 2 of 3 — b"
    screen.hear(round_over("each", 0), LinesPrinted("each[1]", "stdout", ("half",)))
    assert screen.rows()[1] == "  ⠋ each · Lint all  0s  1 of 3 done  round 2 of 3 — b  half"


def test_what_an_earlier_round_printed_is_not_shown_for_the_next(screen: Screen) -> None:
    screen.hear(
        RunStarted("r", "build", "1", 1), started("each"), IterationStarted("each", 0, 2, {"item": "a"})
    )
    screen.hear(LinesPrinted("each[0]", "stdout", ("of a",)), round_over("each", 0))
    screen.hear(IterationStarted("each", 1, 2, {"item": "b"}))
    assert screen.rows()[1] == "  ⠋ each  0s  1 of 2 done  round 2 of 2 — b"


def test_a_long_item_does_not_hide_how_many_rounds_are_done(screen: Screen) -> None:
    screen.hear(RunStarted("r", "build", "1", 1), started("each"))
    screen.hear(IterationStarted("each", 1, 9, {"item": "日本語" * 20}))
    assert screen.rows(width=40)[1].startswith("  ⠋ each  0s  1 of 9 done  round 2 of")


def test_a_narrow_terminal_cuts_lines_and_a_low_one_counts_the_rest(screen: Screen) -> None:
    screen.hear(*BEGIN, *(started(f"deploy/part-{number}") for number in range(9)))
    rows = screen.rows(height=4, width=12)
    assert rows == ["build  step…", "  ⠋ deploy …", "    ⠋ part-…", "  … and 8 m…"]


def test_finished_steps_become_lasting_lines_in_their_order() -> None:
    screen = Screen()
    play(screen.progress)
    shown = screen.file.getvalue()
    lasting = [
        "✓ hello (0.2s)",
        "⚠ ask · Ask the expert (12.0s)",
        "✗ check",
        "✓ deploy",
        "⊘ skipped-step",
        "✗ bad-step (0.2s) — exit 2",
    ]
    places = [shown.find(line) for line in lasting]
    assert -1 not in places
    assert places == sorted(places)
    assert "▶" not in shown  # what starts is seen running


def test_the_cursor_is_back_after_the_run_and_nothing_is_drawn_later() -> None:
    screen = Screen()
    play(screen.progress)
    shown = screen.file.getvalue()
    assert shown.count(HIDE) == shown.count(SHOW) == 1
    screen.progress.resume()
    assert screen.file.getvalue() == shown


def test_a_run_that_is_interrupted_leaves_the_terminal_clean(screen: Screen) -> None:
    screen.hear(*BEGIN)
    screen.progress.close()
    screen.progress.close()
    shown = screen.file.getvalue()
    assert shown.count(HIDE) == shown.count(SHOW) == 1
    erased = shown.rpartition(SHOW)[2]
    assert erased.count("\x1b[2K") == 2  # the header and the step that was running


def test_a_question_pauses_the_display(screen: Screen) -> None:
    screen.hear(*BEGIN)
    screen.progress.pause()
    paused = screen.file.getvalue()
    assert paused.count(HIDE) == paused.count(SHOW) == 1
    screen.progress.pause()
    assert screen.file.getvalue() == paused
    screen.progress.resume()
    screen.hear(finished("deploy", kind="recipe"))
    assert screen.file.getvalue().count(HIDE) == 2


def test_markup_in_names_and_output_is_only_text() -> None:
    screen = Screen(verbose=True)
    play(
        screen.progress,
        [started("[red]x"), LinesPrinted("[red]x", "stdout", ("[bold]y[/nope]",)), finished("[red]x")],
    )
    assert "[red]x: [bold]y[/nope]" in screen.file.getvalue()


@pytest.mark.parametrize("width", [8, 20, 200])
def test_any_width_will_do(width: int) -> None:
    screen = Screen(width)
    play(screen.progress, SCRIPT)
    assert "bad-step" in screen.file.getvalue()


def test_a_terminal_that_goes_away_is_an_error_and_not_the_end_of_the_process() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    stream = os.fdopen(writing, "w", encoding="utf-8")
    with pytest.raises(BrokenPipeError):
        LiveProgress(terminal(stream), clock=Clock()).hear(finished("a"))
    with pytest.raises(BrokenPipeError):
        stream.close()


def test_the_other_listeners_do_without_rich() -> None:
    modules = ("fan_out", "plain", "json_lines", "audit", "progress_file")
    code = "".join(f"import amplihack.system.listeners.{name}\n" for name in modules)
    code += "import sys; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_line_to_stderr_stands_above_the_display_which_would_wipe_it(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    screen.hear(*BEGIN)
    sys.stderr.write("stopping …\n")
    screen.progress.close()
    assert "stopping …\n" in screen.file.getvalue()
    sys.stderr.write("later\n")
    assert "later" not in screen.file.getvalue()


@pytest.mark.parametrize("width", [30, 40, 60])
def test_a_long_name_leaves_room_for_what_changes(screen: Screen, width: int) -> None:
    screen.hear(RunStarted("r", "a recipe with a very long name that goes on and on and on", "1", 3))
    screen.hear(started("each", title="日本語 and a title that no small terminal could ever show"))
    screen.hear(IterationStarted("each", 1, 9, {"item": "b"}))
    header, row = screen.rows(width=width)
    assert header.endswith("…  step 1 of 3  0s")
    assert "…  0s  1 of 9 done" in row
    assert max(map(cell_len, (header, row))) <= width
