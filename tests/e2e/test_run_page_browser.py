"""The page of a run in a real browser, opened from disk: Chromium of the system, driven by Playwright.

`make test-browser` installs both where it can.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.support.workspace import Workspace

from amplihack.recipes.results import StepResult
from amplihack.recipes.run_page import page_data
from amplihack.recipes.run_rows import RunRow
from amplihack.recipes.run_story import RunStory
from amplihack.system.run_page.html import page_html

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: `make test-browser` installs it"),
]

CHILD = """\
name: child
steps:
  - {id: ask, prompt: 'Name the {{thing}}'}
  - id: flaky
    command: 'test -e flag || { touch flag; echo "not yet" >&2; exit 1; }; echo ready'
    retry: {max_attempts: 3, initial_delay: 0.05}
"""
MAIN = """\
name: main
context: {thing: colour}
stages:
  - name: build
    steps:
      - {id: left, command: 'echo one', parallel_group: both}
      - {id: right, command: 'cat hostile.txt', parallel_group: both}
      - {id: call, recipe: child.yaml}
    approval: {prompt: 'Ship <b>it</b>?'}
  - name: ship
    steps:
      - {id: each, foreach: [a, b, c], command: 'test {{item}} != b || { echo "needle in b" >&2; exit 3; }'}
"""
HOSTILE = """</pre></script><script>window.pwned = 1</script>
<img src="http://127.0.0.1:9/x" onerror="pwned=1">
<svg onload="pwned=1"></svg><iframe src="http://127.0.0.1:9/y"></iframe><style>*{display:none}</style>
"""
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
SEARCHED = "words => document.querySelector('#found').dataset.words === words"
LABELS = "rows => rows.map(row => row.getAttribute('aria-label'))"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with playwright.sync_playwright() as driver:
        # Chromium refuses to run as root inside its sandbox; in a container that is who we are.
        flags = ["--no-sandbox"] if os.getuid() == 0 else []
        started = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield started
        started.close()


class Visit:
    """A page that was opened, with everything that it asked for and complained about."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1200, "height": 700}, **options)
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector(".row")
        self.own = path.as_uri()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def settle(self) -> None:
        """Wait until the browser has drawn what was asked for."""
        self.page.evaluate(DRAWN)

    def search(self, words: str) -> None:
        self.page.fill("#search", words)
        self.page.wait_for_function(SEARCHED, arg=words.lower())
        self.settle()

    @property
    def names(self) -> list[str]:
        labels = self.page.locator(".row").evaluate_all(LABELS)
        return [label.split(",")[0] for label in labels]

    @property
    def chosen(self) -> str:
        label: str = self.page.locator('.row[aria-selected="true"]').get_attribute("aria-label")
        return label.split(",")[0]

    @property
    def panel(self) -> str:
        text: str = self.page.locator("#panel").inner_text()
        return text

    def colour(self) -> str:
        return str(self.page.evaluate("() => getComputedStyle(document.body).backgroundColor"))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that waited, was approved, went on and failed."""
    workspace = Workspace(tmp_path_factory.mktemp("drawn"))
    workspace.write("child.yaml", CHILD)
    workspace.write("main.yaml", MAIN)
    workspace.write("hostile.txt", HOSTILE)
    workspace.write("answers.yaml", "- match: Name\n  reply: <b>blue</b>\n")
    workspace.run("recipe", "run", "main.yaml", "--agent", "scripted:answers.yaml")
    assert workspace.run("runs", "approve", "-m", "go on").exit_code == 0
    assert workspace.run("runs", "resume").exit_code == 1
    assert workspace.run("runs", "show", "--html", "run.html").exit_code == 0
    return workspace.path / "run.html"


@pytest.fixture
def visit(browser: Any, drawn: Path) -> Iterator[Visit]:
    opened = Visit(browser, drawn)
    yield opened
    assert opened.requests == [opened.own]
    assert opened.complaints == []
    opened.context.close()


def test_the_failing_step_comes_first_and_the_rest_is_folded(visit: Visit) -> None:
    assert visit.names == ["build", "build", "ship", "each", "each[0]", "each[1]"]
    assert visit.chosen == "each[1]"
    assert "needle in b" in visit.panel
    head = visit.page.locator("#head").inner_text()
    assert "failed: each[1]" in head
    assert "to go on: amplihack runs resume " in head


def test_rows_fold_and_unfold_by_mouse_and_by_keyboard(visit: Visit) -> None:
    visit.page.locator(".row .twist").first.click()
    visit.settle()
    assert visit.names[:4] == ["build", "both", "call", "build"]
    visit.press("E")
    assert {"left", "right", "ask", "flaky"} <= set(visit.names)
    visit.press("C")
    assert visit.names == ["build", "build", "ship"]
    visit.press("Home", "ArrowRight", "ArrowRight")
    assert visit.chosen == "both"
    visit.press("l", "l")
    assert visit.chosen == "left"
    visit.press("h", "h", "h", "h")
    assert visit.names == ["build", "build", "ship"]
    assert visit.page.locator(".row").first.get_attribute("aria-expanded") == "false"


def test_search_finds_names_output_prompts_and_errors(visit: Visit) -> None:
    for words, found in (
        ("FLAKY", "flaky"),
        ("ready", "flaky"),
        ("name the colour", "ask"),
        ("exit 3): needle", "each[1]"),
    ):
        visit.press("/")
        visit.search(words)
        assert found in visit.names, words
        assert "each[0]" not in visit.names
    visit.page.keyboard.press("Enter")
    visit.press("Escape")
    assert visit.page.locator("#search").input_value() == ""
    assert "each[0]" in visit.names
    visit.search("nothing has this")
    assert (visit.names, visit.page.locator("#found").inner_text()) == ([], "0 found")


def test_gates_retries_and_prompts_can_be_seen(visit: Visit) -> None:
    visit.press("E")
    visit.page.get_by_text("gate: build").click()
    assert "Ship <b>it</b>?" in visit.panel
    assert "go on" in visit.panel
    visit.page.locator('.row[aria-label^="flaky"]').click()
    assert "Attempt 1 failed" in visit.panel
    assert "2 attempts" in visit.page.locator('.row[aria-label^="flaky"]').inner_text()
    visit.page.locator('.row[aria-label^="ask"]').click()
    assert "<b>blue</b>" in visit.panel
    assert "Name the colour" not in visit.panel
    visit.page.get_by_text("Prompt", exact=True).click()
    assert "Name the colour" in visit.panel


def test_hostile_output_is_shown_and_does_nothing(visit: Visit) -> None:
    visit.press("E")
    visit.page.locator('.row[aria-label^="right"]').click()
    assert HOSTILE.strip() in visit.panel
    assert visit.page.evaluate("() => window.pwned") is None
    assert visit.page.locator("img, iframe, svg").count() == 0


def test_lists_of_what_was_slow_and_dear_lead_to_their_steps(visit: Visit) -> None:
    visit.press("2")
    visit.page.locator("ol.most button", has_text="call/flaky").click()
    visit.settle()
    assert visit.chosen == "flaky"
    visit.press("3")
    assert "No step told of tokens or money" in visit.panel
    visit.press("4")
    assert "it was resumed" in visit.panel


def test_the_keyboard_goes_through_failures_and_its_keys_are_on_the_page(visit: Visit) -> None:
    visit.press("g")
    assert visit.chosen == "build"
    visit.press("f")
    assert visit.chosen == "each[1]"
    visit.press("?")
    assert visit.page.locator("#help").is_visible()
    assert "next, previous failure" in visit.page.locator("#help").inner_text()
    visit.press("Escape")
    assert not visit.page.locator("#help").is_visible()


def test_it_is_dark_where_the_system_is_and_the_user_can_choose(browser: Any, drawn: Path) -> None:
    dark, light = Visit(browser, drawn, color_scheme="dark"), Visit(browser, drawn, color_scheme="light")
    assert (light.colour(), dark.colour()) == ("rgb(255, 255, 255)", "rgb(21, 24, 29)")
    dark.press("d")
    assert dark.colour() == light.colour()
    light.press("d", "d")
    assert light.colour() == "rgb(21, 24, 29)"
    for each in (dark, light):
        assert (each.requests, each.complaints) == ([each.own], [])
        each.context.close()


@pytest.mark.parametrize("width", [1200, 420])
def test_the_words_on_the_axis_are_in_nobodys_way(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 700})
    visit.settle()
    marks = visit.page.locator("#axis span").evaluate_all(
        "marks => marks.map(mark => [mark.textContent, mark.getBoundingClientRect().toJSON()])"
    )
    words = sorted((box["left"], box["right"], text) for text, box in marks if text.strip("\u200b"))
    assert words[0][2] == "0"
    assert all(left[1] <= right[0] for left, right in pairwise(words))


def test_ten_thousand_steps_draw_only_what_can_be_seen(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "large.html"
    path.write_text(page_html("large", large_run(10_000)), "utf-8")
    visit = Visit(browser, path)
    visit.press("E")
    assert visit.page.locator(".row").count() < 100
    visit.press("End")
    assert visit.chosen == "each[9999]"
    visit.search("output of 7777")
    assert visit.names == ["each", "each[7777]"]
    assert (visit.requests, visit.complaints) == ([visit.own], [])
    visit.context.close()


def large_run(count: int) -> dict[str, Any]:
    rounds = tuple(step(f"each[{number}]", "bash", number) for number in range(count))
    head = {"run_id": "x", "recipe": "large", "status": "completed", "started": 0.0, "ended": float(count)}
    head |= {"error": "", "summary": "", "inputs": {}, "left_out": [], "notes": [], "warnings": []}
    head |= {"never_reached": [], "told": float(count), "version": "0", "cost_usd": None, "forked_from": None}
    return page_data(head, [step("each", "loop", 0, rounds)], RunStory(lives=[(0.0, float(count))]))


def step(name: str, kind: str, number: int, children: tuple[RunRow, ...] = ()) -> RunRow:
    output = f"output of {number}"
    result = StepResult(step_id=name, identity=name, kind="bash", status="completed", output=output)
    return RunRow(
        identity=name,
        name=name,
        kind=kind,
        status="completed",
        started=float(number),
        ended=number + 0.5,
        result=result,
        children=children,
    )
