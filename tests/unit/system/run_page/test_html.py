"""The page as a file: hostile values stay values, and everything is inside it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from amplihack.system.run_page.html import page_html

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]><img src=x onerror=alert(1)>",
    "@SCRIPT@ @DATA@ \\u003c/script\\u003e",
    "\u2028 \u2029 \0 \ud800 \x7f \x1b[31m",
    '"; alert(1); //',
    "&lt;b&gt; &amp;",
]


class Seen(HTMLParser):
    """The elements of a page, and the text of each script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script":
            self.scripts.append(data)


def data_of(page: str) -> Any:
    return json.loads(Seen(page).scripts[0])


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_value_comes_back_as_it_was_and_adds_no_element(text: str) -> None:
    page = page_html(text, {"value": text, text: [text]})
    harmless = page_html("title", {"value": "x"})
    assert data_of(page) == {"value": text, text: [text]}
    assert [tag for tag, _ in Seen(page).tags] == [tag for tag, _ in Seen(harmless).tags]


def test_the_policy_allows_our_script_and_our_style_and_nothing_else() -> None:
    page = page_html("t", {})
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src 'none'; ")
    script = page.split("<script>")[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    style = page.split("<style>")[1].split("</style>")[0]
    assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in policy


def test_the_page_names_no_other_file_and_sets_no_markup_from_values() -> None:
    page = page_html("t", {})
    assert not re.search(r"https?://|@import|url\(", page)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(", page)
    assert not [tag for tag, values in Seen(page).tags if "src" in values or "style" in values]
