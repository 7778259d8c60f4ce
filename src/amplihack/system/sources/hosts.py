"""Which hosts cannot be reached in this load: each is found out once, not once for every source on it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping

from amplihack.system.sources.address import Address
from amplihack.system.sources.connections import proxy_for
from amplihack.system.sources.errors import SourceUnavailable


class Hosts:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._down: dict[str, str] = {}
        self._lookups: dict[str, asyncio.Task[str]] = {}

    async def check(self, address: Address) -> None:
        """Raise SourceUnavailable for a host that is known to be down or has no address."""
        if not address.is_networked:
            return
        if address.host not in self._down and self._can_look_up(address):
            reason = await asyncio.shield(self._lookup(address.host))
            if reason:
                self._down.setdefault(_place(address), reason)
        for place in (_place(address), address.host):
            if place in self._down:
                what = f"Failed to fetch {address.uri}: {self._down[place]}"
                raise SourceUnavailable(what, uri=address.uri, fix="check the address and the network")

    def failed(self, address: Address, reason: str) -> None:
        """Remember that nothing else can be had from that host and port in this load."""
        self._down.setdefault(_place(address), f"{address.host} failed before in this load ({reason})")

    async def close(self) -> None:
        for task in self._lookups.values():
            task.cancel()
        await asyncio.gather(*self._lookups.values(), return_exceptions=True)
        self._lookups.clear()

    def _can_look_up(self, address: Address) -> bool:
        """A proxy looks names up itself, and a host of ssh may be a nickname from its configuration."""
        return address.transport != "ssh" and not proxy_for(
            address.transport, address.host, self._environment
        )

    def _lookup(self, host: str) -> asyncio.Task[str]:
        task = self._lookups.get(host)
        if task is None or (task.done() and task.cancelled()):
            task = self._lookups[host] = asyncio.create_task(_look_up(host))
        return task


async def _look_up(host: str) -> str:
    """Why a host name has no address, or ""."""
    try:
        await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return f"Could not resolve host {host} ({reason})"
    return ""


def _place(address: Address) -> str:
    return f"{address.host}:{address.port}" if address.port else address.host
