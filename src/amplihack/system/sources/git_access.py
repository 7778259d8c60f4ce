"""Prepare git's credentials: the user's own helpers, ssh without questions, and the login of an address.

No credential is ever on a command line, where every user of the machine could read it. A login goes into the
environment of git, and a helper of one line passes it on when a server asks.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from amplihack.bundles.schemes import SCHEMES
from amplihack.patterns import pattern
from amplihack.records import replace
from amplihack.system.git import safe_environment
from amplihack.system.processes import Command, ProcessError, run_process
from amplihack.system.sources.address import Address
from amplihack.system.sources.errors import GitMissing
from amplihack.system.sources.hosts import Destination, destination_of

Setting: TypeAlias = tuple[str, str]

# Of the configuration of user and machine, only what opens doors: how to log in, and where a host really is.
_HTTP = "proxy|proxyauthmethod|proxyssl.*|ssl(verify|cainfo|capath|cert|key)|extraheader|cookiefile|emptyauth"
_SSH = "core.sshcommand"
_DOORS = rf"^(credential\..*|url\..*\.insteadof|http\.(.*\.)?({_HTTP})|{_SSH})$"
_USER, _PASSWORD = "AMPLIHACK_SOURCE_USER", "AMPLIHACK_SOURCE_PASSWORD"
_HAND_OVER = f'!f() {{ printf "username=%s\\npassword=%s\\n" "${_USER}" "${_PASSWORD}"; }}; f'
_INSTEAD_OF = pattern(r"url\.(.*)\.insteadof", re.IGNORECASE | re.DOTALL)
_PROXY = pattern(r"http\.(.*\.)?proxy", re.IGNORECASE | re.DOTALL)
_TRANSPORTS = frozenset(scheme.transport for scheme in SCHEMES.values() if scheme.way == "git")
_CONFIGURATION = ("XDG_CONFIG_HOME", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL")
_BY_ENVIRONMENT = ("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")  # as CI gives settings
_SSH_NEEDS = ("SSH_AUTH_SOCK", "USER", "LOGNAME")


class Access:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._doors: tuple[Setting, ...] | None = None

    async def environment_for(self, address: Address) -> dict[str, str]:
        """Return the whole environment of a git that talks to this address and asks no questions."""
        environment = safe_environment(self._environment, *_SSH_NEEDS)
        environment["GCM_INTERACTIVE"] = "never"
        if not address.is_networked:
            return environment
        login, doors = _login(address), await self._settings()
        ssh = _ssh(self._environment, doors)
        environment["GIT_SSH_COMMAND"] = f"{ssh} -oBatchMode=yes -oConnectTimeout=30"
        settings = (*_doors_beside(doors, login), *_query(address))
        return environment | login | _as_environment(settings)

    async def destination(self, address: Address) -> Destination:
        """Return the host that git will really ask: settings may name another one, or a proxy."""
        settings = await self._settings()
        try:
            found = destination_of(rewritten(address.url, settings), self._environment)
        except ValueError:  # a setting that is no address: git says so when it gets there
            return Destination("", look_up=False)
        by_proxy = any(_PROXY.fullmatch(key) and value for key, value in settings)
        return replace(found, look_up=False) if by_proxy else found

    async def protocols(self, address: Address) -> tuple[str, ...]:
        """Return the protocols that git may use.

        A redirect may lead from http to https, not back. A protocol from the user's own settings is accepted
        if sources may use it: `ext::` would run a command.
        """
        usual = {"http": ("http", "https")}.get(address.transport, (address.transport,))
        if not address.is_networked:
            return usual
        asked = rewritten(address.url, await self._settings()).partition("://")[0]
        return (*usual, asked) if asked in _TRANSPORTS and asked not in usual else usual

    async def _settings(self) -> tuple[Setting, ...]:
        if self._doors is None:
            self._doors = await self._read_doors()
        return self._doors

    async def _read_doors(self) -> tuple[Setting, ...]:
        """Read the user's git settings about access. Git itself reports a broken configuration."""
        environment = safe_environment(self._environment)
        for name in _CONFIGURATION:
            environment.pop(name, None)
            if name in self._environment:
                environment[name] = self._environment[name]
        environment |= {n: value for n, value in self._environment.items() if n.startswith(_BY_ENVIRONMENT)}
        environment["GIT_DIR"] = os.devnull  # a repository around us is not ours
        argv = ("git", "config", "--includes", "--null", "--get-regexp", _DOORS)
        try:
            done = await run_process(Command(argv=argv, cwd=Path("/"), env=environment, timeout=30.0))
        except ProcessError as error:
            raise GitMissing from error
        pairs = [item.partition("\n") for item in done.stdout.text().split("\0")] if done.ok else []
        return tuple((key, value) for key, newline, value in pairs if newline)


def _ssh(environment: Mapping[str, str], settings: tuple[Setting, ...]) -> str:
    """Return the command that git would use for ssh."""
    configured = [value for key, value in settings if key.lower() == _SSH and value]
    program = shlex.quote(environment.get("GIT_SSH") or "ssh")
    return environment.get("GIT_SSH_COMMAND") or (configured[-1] if configured else program)


def rewritten(url: str, settings: tuple[Setting, ...]) -> str:
    """Return the URL that `url.<base>.insteadOf` replaces another by: the longest match wins."""
    rules = [(value, found[1]) for key, value in settings if (found := _INSTEAD_OF.fullmatch(key))]
    matches = [rule for rule in rules if url.startswith(rule[0])]
    start, base = max(matches, key=lambda rule: len(rule[0]), default=("", ""))
    return _as_url(base + url.removeprefix(start))


def _as_url(place: str) -> str:
    """Return a URL for what git also accepts: `host:path`, which means ssh, and a plain path."""
    if "://" in place:
        return place
    host, colon, path = place.partition(":")
    return f"ssh://{host}/{path}" if colon and "/" not in host else f"file://{place}"


def _login(address: Address) -> dict[str, str]:
    """Return the user and the password of a web address, for our helper; {} if it has none."""
    parts = urlsplit(address.secret_url)
    if parts.username is None or address.transport == "ssh":
        return {}
    return {_USER: unquote(parts.username), _PASSWORD: unquote(parts.password or "")}


def _doors_beside(doors: tuple[Setting, ...], login: dict[str, str]) -> tuple[Setting, ...]:
    """Leave out the user's credential helpers if there is a login: they might store it."""
    if not login:
        return doors
    others = (door for door in doors if not door[0].lower().startswith("credential."))
    return (*others, ("credential.helper", _HAND_OVER))


def _query(address: Address) -> tuple[Setting, ...]:
    query = urlsplit(address.secret_url).query
    return ((f"url.{address.url}?{query}.insteadOf", address.url),) if query else ()


def _as_environment(settings: tuple[Setting, ...]) -> dict[str, str]:
    values = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings):
        values[f"GIT_CONFIG_KEY_{number}"] = key
        values[f"GIT_CONFIG_VALUE_{number}"] = value
    return values
