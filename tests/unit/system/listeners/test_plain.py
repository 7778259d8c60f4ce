import io

import pytest
from tests.unit.system.listeners.script import Clock, ended, finished, play, round_over, started

from amplihack.recipes.events import IterationStarted, LinesPrinted, Retrying, Warned
from amplihack.records import replace
from amplihack.system.listeners.plain import PlainProgress
from amplihack.system.listeners.wording import clean

QUIET = """\
▶ hello (1 of 6)
  ✓ hello (0.2s)
▶ ask · Ask the expert [agent — may take several minutes] (2 of 6)
  ↺ ask: attempt 2 of 3 in 60s — rate limited
  ⚠ ask: the answer was not JSON
  ⚠ ask · Ask the expert (12.0s) — no JSON
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


def test_what_a_person_is_asked_here_is_left_to_the_question() -> None:
    stream = io.StringIO()
    play(PlainProgress(stream, clock=Clock(), asks=True))
    assert stream.getvalue() == QUIET.replace("  Ship it?\n  Really?\n", "")


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


def heartbeats(progress: PlainProgress, stream: io.StringIO, clock: Clock, seconds: int) -> list[str]:
    """Let time pass, and return the new lines that tell of steps at work."""
    before = len(stream.getvalue())
    for _ in range(seconds // 5):
        clock.now += 5
        progress.tick()
    return [line for line in stream.getvalue()[before:].splitlines() if "…" in line]


def test_a_step_that_began_right_after_a_tick_is_mentioned_after_half_a_minute_too() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock=clock)
    clock.now += 0.5
    progress.hear(started("slow"))
    clock.now -= 0.5
    assert len(heartbeats(progress, stream, clock, 30)) == 1


def test_a_step_that_takes_long_is_mentioned_every_half_minute_with_its_last_line() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock=clock)
    progress.hear(started("outer", "recipe"))
    progress.hear(started("outer/slow", title="Build it"))
    assert heartbeats(progress, stream, clock, 70) == [
        "    … slow · Build it: working (30s)",
        "    … slow · Build it: working (60s)",
    ]
    progress.hear(LinesPrinted("outer/slow", "stdout", ("one", "\x1b[1mtwo\x1b[0m", "  ")))
    assert heartbeats(progress, stream, clock, 25) == ["    … slow · Build it: working (90s) — two"]


def test_a_step_whose_lines_are_shown_is_mentioned_only_when_it_is_silent() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock=clock, verbose=True)
    progress.hear(started("slow"))
    clock.now += 20
    progress.hear(LinesPrinted("slow", "stdout", ("alive",)))
    assert heartbeats(progress, stream, clock, 25) == []
    assert heartbeats(progress, stream, clock, 5) == ["  … slow: working (50s) — alive"]


def test_a_step_that_waits_for_another_attempt_says_so() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock=clock)
    progress.hear(started("ask", "agent"))
    progress.hear(Retrying("ask", 2, 3, 60.0, "rate limited"))
    assert heartbeats(progress, stream, clock, 90) == [
        "  … ask: waits for attempt 2 of 3 (30s)",
        "  … ask: working (60s)",
        "  … ask: working (90s)",
    ]


LOOP = """\
▶ each (1 of 1)
  ↻ each: round 1 of 3 — a�b c
  ↻ each: round 2 of 3 — {"name":"x"} (1 of 3 done)
  ↻ each: round 3 of 3 (2 of 3 done)
  ✗ each (0.2s) — round 3: exit 1: why
"""


def test_a_loop_says_which_item_it_is_at_and_how_many_are_done() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock=clock)
    progress.hear(started("each"))
    progress.hear(IterationStarted("each", 0, 3, {"item": "a\x07b\nc"}))
    progress.hear(round_over("each", 0))
    progress.hear(IterationStarted("each", 1, 3, {"item": {"name": "x"}}))
    progress.hear(round_over("each", 1))
    progress.hear(IterationStarted("each", 2, 3, {"item": None}))
    broken = round_over("each", 2, error="bash step failed: Command failed (exit 1): what\nwhy")
    progress.hear(broken)
    failure = finished("each", "failed", error=f"Step 'each' failed: round 3: {broken.result.error}")
    progress.hear(replace(failure, result=replace(failure.result, children=(broken.result,))))
    assert stream.getvalue() == LOOP


def test_a_loop_that_goes_on_after_a_crash_counts_the_rounds_of_before() -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream, clock=Clock())
    progress.hear(started("each"))
    progress.hear(IterationStarted("each", 3, 5, {"item": "d"}))
    assert stream.getvalue().splitlines()[-1] == "  ↻ each: round 4 of 5 — d (3 of 5 done)"


AT_ONCE = """\
▶ each (1 of 1)
  ↻ each: round 1 of 3 — a
  ↻ each: round 2 of 3 — b
  ✓ each: round 2 of 3 — b (0.5s) (1 of 3 done)
  ↻ each: round 3 of 3 — c (1 of 3 done)
  … each: working (30s), round 1 of 3 — a, round 3 of 3 — c (1 of 3 done)
  ✗ each: round 3 of 3 — c (0.5s) — exit 2: no (2 of 3 done)
  ✓ each: round 1 of 3 — a (0.5s) (3 of 3 done)
"""


def test_rounds_that_run_at_the_same_time_are_told_when_they_end() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock=clock)
    progress.hear(started("each"))
    progress.hear(IterationStarted("each", 0, 3, {"item": "a"}))
    progress.hear(IterationStarted("each", 1, 3, {"item": "b"}))
    progress.hear(round_over("each", 1))
    progress.hear(IterationStarted("each", 2, 3, {"item": "c"}))
    heartbeats(progress, stream, clock, 30)
    progress.hear(round_over("each", 2, error="bash step failed: Command failed (exit 2): no"))
    progress.hear(round_over("each", 0))
    assert stream.getvalue() == AT_ONCE


def test_a_step_in_the_body_of_a_loop_is_mentioned_with_its_round() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock=clock)
    progress.hear(started("each", "group"))
    progress.hear(IterationStarted("each", 0, 2, {"f": "x.py"}))
    progress.hear(started("each[0]/lint"))
    assert heartbeats(progress, stream, clock, 30) == [
        "    … lint: working (30s), each round 1 of 2 — x.py (0 of 2 done)"
    ]


def test_a_step_that_ran_out_of_time_says_what_it_printed_last() -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream, clock=Clock())
    progress.hear(started("slow"))
    progress.hear(LinesPrinted("slow", "stderr", ("waiting for the lock",)))
    progress.hear(
        finished("slow", "failed", error="Step 'slow' failed: bash step failed: timed out after 9s")
    )
    assert stream.getvalue().splitlines()[-1] == (
        "  ✗ slow (0.2s) — timed out after 9s; it printed last: waiting for the lock"
    )


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


def test_why_a_step_is_degraded_is_told_once() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock=clock)
    progress.hear(started("a"))
    progress.hear(Warned("a", "no JSON"))
    progress.hear(finished("a", "degraded", warnings=("no JSON",)))
    assert [line.split(" (")[0] for line in stream.getvalue().splitlines()[1:]] == ["  ⚠ a: no JSON", "  ⚠ a"]
    assert stream.getvalue().count("no JSON") == 1
