"""Guess which variables of the environment are secret."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amplihack.patterns import pattern

SHORTEST_GUESS = 8  # a shorter text that nobody declared secret is more likely an ordinary word

_KEY_NAME = pattern(
    r"PASSWORD|PASSWD|PASSPHRASE|APIKEY|(?:^|_)(?:SECRETS?|CREDENTIALS?|PRIVATE_KEY|ACCESS_KEY|API_KEY)(?:_|$)"
    r"|TOKEN(?:_|$)|SECRET$|_(?:KEY|AUTH|PAT|PWD)$|^AUTH$|AUTHORIZATION"
)
_PLACE_NAME = pattern(r"(?:_|^)(?:FILE|PATH|DIR|DIRECTORY|SOCK|SOCKET|URL|URI|HOST|ENDPOINT)$")
_URL_PASSWORD = pattern(r"://[^/\s:@]*:([^/\s@]+)@")


def secret_values(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of variables whose names look like keys, and passwords inside URLs."""
    for name, value in environment.items():
        upper = name.upper()
        if len(value) >= SHORTEST_GUESS and _KEY_NAME.search(upper) and not _PLACE_NAME.search(upper):
            yield value
        yield from (each for each in _URL_PASSWORD.findall(value) if len(each) >= SHORTEST_GUESS)
