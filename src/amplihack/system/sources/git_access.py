"""How git gets in: the user's own credential helpers, ssh without questions, and the login of an address.

Nothing of it is ever on a command line, where every user of the machine could read it: a login travels in the
environment of git, and a helper of one line hands it over when a server asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from amplihack.system.git import safe_environment
from amplihack.system.processes import Command, ProcessError, run_process
from amplihack.system.sources.address import Address
from amplihack.system.sources.errors import GitMissing

Setting: TypeAlias = tuple[str, str]

# Of the user's own configuration, only what opens doors: how to log in, and where a host really is.
_DOORS = r"^(credential\..*|url\..*\.insteadof|http\.(.*\.)?(proxy|sslcainfo|sslcapath|extraheader))$"
_USER, _PASSWORD = "AMPLIHACK_SOURCE_USER", "AMPLIHACK_SOURCE_PASSWORD"
_HAND_OVER = f'!f() {{ printf "username=%s\\npassword=%s\\n" "${_USER}" "${_PASSWORD}"; }}; f'
_SSH_NEEDS = ("SSH_AUTH_SOCK", "USER", "LOGNAME")


class Access:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._doors: tuple[Setting, ...] | None = None

    async def environment_for(self, address: Address) -> dict[str, str]:
        """The whole environment of a git that talks to this address, and asks nobody anything."""
        environment = safe_environment(self._environment, *_SSH_NEEDS)
        ssh = self._environment.get("GIT_SSH_COMMAND") or "ssh"
        environment["GIT_SSH_COMMAND"] = f"{ssh} -oBatchMode=yes -oConnectTimeout=30"
        environment["GCM_INTERACTIVE"] = "never"
        if not address.is_networked:
            return environment
        if self._doors is None:
            self._doors = await self._read_doors()
        login = _login(address)
        settings = (*_doors_beside(self._doors, login), *_query(address))
        return environment | login | _as_environment(settings)

    async def _read_doors(self) -> tuple[Setting, ...]:
        """A configuration that git itself cannot read opens no doors; git says so when one is needed."""
        environment = safe_environment(self._environment, "XDG_CONFIG_HOME")
        del environment["GIT_CONFIG_GLOBAL"]
        if "GIT_CONFIG_GLOBAL" in self._environment:
            environment["GIT_CONFIG_GLOBAL"] = self._environment["GIT_CONFIG_GLOBAL"]
        argv = ("git", "config", "--global", "--includes", "--null", "--get-regexp", _DOORS)
        try:
            done = await run_process(Command(argv=argv, cwd=Path("/"), env=environment, timeout=30.0))
        except ProcessError as error:
            raise GitMissing from error
        pairs = [item.partition("\n") for item in done.stdout.text().split("\0")] if done.ok else []
        return tuple((key, value) for key, newline, value in pairs if newline)


def _login(address: Address) -> dict[str, str]:
    """The user and the password of a web address, for our helper; {} if it has none."""
    parts = urlsplit(address.secret_url)
    if parts.username is None or address.transport == "ssh":
        return {}
    return {_USER: unquote(parts.username), _PASSWORD: unquote(parts.password or "")}


def _doors_beside(doors: tuple[Setting, ...], login: dict[str, str]) -> tuple[Setting, ...]:
    """With a login, no helper of the user takes part: it might keep what it is told."""
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
