from __future__ import annotations

import pytest

from amplihack.bundles.masking import masked, masked_value


@pytest.mark.parametrize(
    ("path", "value", "shown"),
    [
        ("providers.p.config.api_key", "sk-1", "***"),
        ("providers.p.config.API-KEY", "sk-1", "***"),
        ("config.github_token", "t", "***"),
        ("config.password", "p", "***"),
        ("config.api_key", "${KEY}", "${KEY}"),
        ("config.api_key", "", ""),
        ("config.max_tokens", 100, 100),
        ("config.tokenizer", "fast", "fast"),
        ("tools.t.source", "git+https://me:pw@host/x@main", "git+https://***@host/x@main"),
    ],
)
def test_only_secrets_are_masked(path: str, value: object, shown: object) -> None:
    assert masked_value(path, value) == shown


def test_secrets_are_found_however_deep_they_lie() -> None:
    plan = {"providers": [{"module": "p", "config": {"auth": [{"token": "t"}], "model": "m"}}]}
    assert masked(plan) == {
        "providers": [{"module": "p", "config": {"auth": [{"token": "***"}], "model": "m"}}]
    }


def test_an_address_that_stands_for_a_name_is_masked_too() -> None:
    plan = {"agents": {"git+https://me:pw@host/x": {"description": "d"}, 7: "x"}}
    assert masked(plan) == {"agents": {"git+https://***@host/x": {"description": "d"}, 7: "x"}}
