import io

import pytest
from tests.unit.system.listeners.script import Clock, ended, finished, play, started

from amplihack.recipes.events import LinesPrinted, Warned
from amplihack.system.listeners.plain import PlainProgress
from amplihack.system.listeners.wording import clean

QUIET = """\
▶ hello (1 of 6)
  ✓ hello (0.2s)
▶ ask [agent — may take several minutes] (2 of 6): Ask the expert
  ↺ ask: attempt 2 of 3 in 60s — rate limited
  ⚠ ask: the answer was not JSON
  ⚠ ask (12.0s) — no JSON
▶ deploy [sub-recipe] (3 of 6)
  » recipe roll/out, 2 steps
  ▶ upload (1 of 2)
    ✓ upload (0.2s)
  ▶ check (2 of 2)
    ✗ check (0.2s) (allowed) — exit 1
  ✓ deploy (0.2s)
▶ each (4 of 6)
  ↻ each: round 1 of 2
  ✓ each (0.2s)
⏸ ship: waits for approval
  Ship it?
  Really?
⏵ ship: approved — go
▶ skipped-step (5 of 6)
  ⊘ skipped-step (0.0s) — condition: x == 1
▶ bad-step (6 of 6)
  ✗ bad-step (0.2s) — exit 2
"""


def test_a_run_reads_as_a_start_and_an_end_for_each_step() -> None:
    stream = io.StringIO()
    play(PlainProgress(stream, clock=Clock()))
    assert stream.getvalue() == QUIET


def test_verbose_adds_the_lines_that_steps_print_and_nothing_else() -> None:
    stream = io.StringIO()
    play(PlainProgress(stream, clock=Clock(), verbose=True))
    lines = stream.getvalue().splitlines()
    assert [line for line in lines if "│" in line] == [
        "  │ hello: hi there�",
        "    │ upload: 50%",
        "  │ each[0]: round one",
    ]
    assert [line for line in lines if "│" not in line] == QUIET.splitlines()


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("a\tb", "a b"),
        ("a\x00b\x9bc\u202ed", "a�b�c�d"),
        ("10%\r20%\r", "20%"),
        ("\udc80", "�"),
    ],
)
def test_no_line_can_drive_the_terminal(raw: str, shown: str) -> None:
    assert clean(raw) == shown


def test_a_step_that_is_silent_for_long_is_mentioned_now_and_then() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock=clock)
    progress.hear(started("outer", "recipe"))
    progress.hear(started("outer/slow"))
    for _ in range(14):  # seventy seconds
        clock.now += 5
        progress.tick()
    progress.hear(LinesPrinted("outer/slow", "stdout", ("alive",)))
    clock.now += 29
    progress.tick()
    assert [line for line in stream.getvalue().splitlines() if "…" in line] == [
        "    … slow: working (30s)",
        "    … slow: working (60s)",
    ]


def test_a_warning_about_the_whole_run_stands_at_the_margin() -> None:
    stream = io.StringIO()
    PlainProgress(stream, clock=Clock()).hear(Warned("", "no agent"))
    assert stream.getvalue() == "⚠ no agent\n"


def test_steps_that_never_finished_are_told_when_what_holds_them_ends() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock=clock)
    progress.hear(started("a", "recipe"))
    progress.hear(started("a/b"))
    clock.now += 2
    progress.hear(finished("a", "failed", error="timed out"))
    progress.hear(started("c"))
    progress.hear(ended(error="interrupted"))
    assert [line for line in stream.getvalue().splitlines() if "▶" not in line] == [
        "    ✗ b (2.0s) — cut off before its end",
        "  ✗ a (0.2s) — timed out",
        "  ✗ c (0.0s) — cut off before its end",
    ]


def test_steps_that_were_cut_off_do_not_indent_what_follows() -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream, clock=Clock())
    for event in (started("a", "recipe"), started("a/b"), finished("a", "failed", error="timed out")):
        progress.hear(event)
    progress.hear(started("a/b"))  # as if a second attempt had begun
    assert stream.getvalue().splitlines()[-1] == "▶ b (1 of 1)"


def test_an_ascii_stream_gets_its_lines_too() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    PlainProgress(stream, clock=Clock()).hear(finished("a"))
    assert raw.getvalue() == b"  ? a (0.2s)\n"


def test_the_body_of_a_loop_stands_inside_it() -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream, clock=Clock(), verbose=True)
    for event in (
        started("outer", "recipe"),
        started("outer/each"),
        LinesPrinted("outer/each[0]", "stdout", ("hi",)),
        started("outer/each[0]/x"),
    ):
        progress.hear(event)
    assert stream.getvalue().splitlines()[2:] == ["    │ each[0]: hi", "    ▶ x (1 of 1)"]
