from __future__ import annotations

import pytest

from amplihack.system.sources.git_access import rewritten
from amplihack.system.sources.hosts import Destination, destination_of

SETTINGS = (
    ("url.https://mirror/.insteadof", "https://github.com/"),
    ("url.git@inner:team/.insteadof", "https://github.com/team/"),
    ("url./srv/git/.insteadof", "https://github.com/local/"),
    ("credential.helper", "https://github.com/"),
)


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("https://github.com/o/r", "https://mirror/o/r"),
        ("https://github.com/team/r", "ssh://git@inner/team/r"),
        ("https://github.com/local/r", "file:///srv/git/r"),
        ("https://gitlab.com/o/r", "https://gitlab.com/o/r"),
    ],
)
def test_the_longest_start_that_matches_is_replaced(url: str, asked: str) -> None:
    assert rewritten(url, SETTINGS) == asked


@pytest.mark.parametrize(
    ("url", "destination"),
    [
        ("https://h:8443/x", Destination("h", 8443)),
        ("ssh://git@h/x", Destination("h", look_up=False)),
        ("https://by.proxy/x", Destination("by.proxy", look_up=False)),
        ("file:///x", Destination("", look_up=False)),
    ],
)
def test_only_what_the_fetcher_would_look_up_is_looked_up(url: str, destination: Destination) -> None:
    assert destination_of(url, {"https_proxy": "http://p", "no_proxy": "h"}) == destination
