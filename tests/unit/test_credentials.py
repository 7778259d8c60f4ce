"""Addresses in messages show no credentials."""

from __future__ import annotations

import pytest

from amplihack.credentials import hide_credentials, hide_keys
from amplihack.errors import AmplihackError, Location, Problem

ORDINARY = (
    "git@github.com:a/b.git",
    "a:b@c in prose",
    "mailto:me@host.org email:me@host.org",
    "image:tag@sha256:0123",
    "npm:lodash@4.17.21",
    "foundation:explorer@v1.2",
    "@ns:path/file.md me@host.org: hello",
    "docker run -u 1000:1000 -u $UID:$GID",
    "--token is no flag; --token=$TOKEN --password={{pw}}",
    "curl -u {{user}}:{{pw}} -u me:$PW host",
    "me:$PW@host.org {{me}}:{{pw}}@host.org",
    "Authorization: Bearer $TOKEN",
    "the authorization: required",
    "12:30@host",
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("clone https://me:pass@host/x", "clone https://***@host/x"),
        ("git+https://ghp_token@host/x@main", "git+https://***@host/x@main"),
        ("https://me:p@ss@host/x", "https://***@host/x"),
        ("a https://u:1@h b postgres://v:2@i/db", "a https://***@h b postgres://***@i/db"),
        ("https://h/x?a=1&access_token=abc&b=2", "https://h/x?a=1&access_token=***&b=2"),
        ("https://h/x?X-Amz-Signature=abc", "https://h/x?X-Amz-Signature=***"),
        ('"https://h/?api_key=abc" rest', '"https://h/?api_key=***" rest'),
        ("ssh://git@host/x", "ssh://git@host/x"),
        ("https://{{user}}:{{token}}@host", "https://{{user}}:{{token}}@host"),
        ("https://${TOKEN}@host/?key=$KEY", "https://${TOKEN}@host/?key=$KEY"),
        ("https://me:pa/ss@host/x", "https://***@host/x"),
        ("https://me:pa#ss?w@host/x", "https://***@host/x"),
        ("https://me:pass: the host is malformed", "https://***: the host is malformed"),
        ("//me:pass@host/x", "//***@host/x"),
        ("https:/me:pass@host/x", "https:/***@host/x"),
        ("https://h/x?pass=a&jwt=b&code=c&zipcode=d", "https://h/x?pass=***&jwt=***&code=***&zipcode=d"),
        ("https://h/x?Authorization=Bearer%20abc", "https://h/x?Authorization=***"),
        ("git+https://host:8443/x@main", "git+https://host:8443/x@main"),
        ("http://[::1]:80/x@main", "http://[::1]:80/x@main"),
        (
            "see http://host:port or http://localhost:80: up",
            "see http://host:port or http://localhost:80: up",
        ),
        ("docker://alpine:latest // author@host", "docker://alpine:latest // author@host"),
        ("mail me@host, token=x", "mail me@host, token=x"),
        ("connect user:pw@db.host.org", "connect ***@db.host.org"),
        ("git clone git:ghp_1@host.org:a/b", "git clone ***@host.org:a/b"),
        ("dsn: 'root:pw@tcp(127.0.0.1:3306)/db'", "dsn: '***@tcp(127.0.0.1:3306)/db'"),
        ("redis-cli me:p4ss@localhost me:pw@db:6379", "redis-cli ***@localhost ***@db:6379"),
        ("curl -u me:pw host; curl --user 'me:pw' h", "curl -u *** host; curl --user '***' h"),
        ("mysql --password=abc --db-token='x y'", "mysql --password=*** --db-token='*** y'"),
        ("-H 'Authorization: Bearer abc.def'", "-H 'Authorization: Bearer ***'"),
        *[(text, text) for text in ORDINARY],
        ("https://host/x@main me@other", "https://host/x@main me@other"),
    ],
)
def test_credentials_in_addresses_are_hidden(text: str, shown: str) -> None:
    assert hide_credentials(text) == shown


def test_the_rest_of_a_source_line_stays_in_its_columns() -> None:
    line = "  - https://me:pass@host/?token=abc x"
    hidden = hide_credentials(line, keep_columns=True)
    assert hidden == "  - https://*******@host/?token=*** x"
    assert len(hidden) == len(line)


def test_errors_and_problems_hide_them_wherever_they_stand() -> None:
    where = Location("f", 1, 1, "x: https://me:pass@host")
    text = "of https://me:pass@h"
    for made in (Problem(text, where, text), AmplihackError(text, where=where, fix=text)):
        assert made.where is not None
        assert "pass" not in f"{made.what} {made.fix} {made.where.text} {made!s}"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("token: hunter2Secret", "token: *************"),
        ('  - api_key: "sk-12345678"', '  - api_key: "***********"'),
        ('{"password": "hunter2Secret", }', '{"password": "*************", }'),
        ("context: {token: aB3defgh, x: 1}", "context: {token: ********, x: 1}"),
        ("export GH_TOKEN='abc12345678' # mine", "export GH_TOKEN='***********' # mine"),
        ("AWS_SECRET_ACCESS_KEY=wJalr/K7+x=", "AWS_SECRET_ACCESS_KEY=***********"),
    ],
)
def test_a_quoted_line_of_a_file_shows_no_key(line: str, shown: str) -> None:
    assert hide_keys(line) == shown
    problem = Problem("wrong", Location("settings.yaml", 3, 1, line))
    assert problem.where is not None
    assert problem.where.text == shown


@pytest.mark.parametrize(
    "line",
    [
        'password: "{{pw}}"',
        "token: ${GITHUB_TOKEN}",
        "command: TOKEN=$(get {{x}}) run",
        'description: "the token: It is 5 Long"',
        "token: required",
        "token: The API token of 2024",
        "max_tokens: 100000000",
        "secrets: [token, API_KEY_1]",
        "output: api_token_1",
        "access_key: *Anchor123",
        "id: get_token_1234",
        "env: {API_KEY: '{{key}}'}",
    ],
)
def test_a_quoted_line_without_a_key_stays(line: str) -> None:
    assert hide_keys(line) == line
