from __future__ import annotations

import pytest

from amplihack.errors import UsageError
from amplihack.install.release import SHA256, SHA256_SETTING, URL, URL_SETTING, wanted_release

ONE, TWO = "a" * 64, "b" * 64


@pytest.mark.parametrize(
    ("environment", "settings", "expected"),
    [
        ({URL: "https://h/x.zip", SHA256: ONE}, {}, ("https://h/x.zip", ONE, URL)),
        ({URL: f"https://h/x.zip#sha256={ONE.upper()}"}, {}, ("https://h/x.zip", ONE, URL)),
        ({URL: f"https://h/x.zip#sha256={ONE}", SHA256: ONE}, {}, ("https://h/x.zip", ONE, URL)),
        ({}, {URL_SETTING: "https://h/y", SHA256_SETTING: TWO}, ("https://h/y", TWO, URL_SETTING)),
        (
            {URL: "https://h/x", SHA256: ONE},
            {URL_SETTING: "https://h/y", SHA256_SETTING: TWO},
            ("https://h/x", ONE, URL),
        ),
    ],
)
def test_the_environment_wins_over_settings_and_the_hash_may_stand_in_the_address(
    environment: dict[str, str], settings: dict[str, str], expected: tuple[str, str, str]
) -> None:
    found = wanted_release(environment, settings)
    assert found is not None
    assert (found.url, found.sha256, found.said_by) == expected


def test_nothing_is_wanted_where_nobody_names_an_address() -> None:
    assert wanted_release({SHA256: ONE, URL: ""}, {SHA256_SETTING: TWO}) is None


@pytest.mark.parametrize(
    ("environment", "settings", "told"),
    [
        ({URL: "https://h/x"}, {}, "without its sha256"),
        ({URL: "https://h/x#sha256="}, {}, "without its sha256"),
        ({URL: "https://h/x"}, {SHA256_SETTING: ONE}, "without its sha256"),  # that of another address
        ({URL: "https://h/x", SHA256: "abc"}, {}, "64 hexadecimal digits"),
        ({URL: f"https://h/x#sha256={ONE}", SHA256: TWO}, {}, "different sha256"),
        ({}, {URL_SETTING: "https://h/y"}, "install.bundle_url names a bundle without its sha256"),
    ],
)
def test_no_hash_no_install(environment: dict[str, str], settings: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        wanted_release(environment, settings)
