"""Decide how hosts are reached: directly or by a proxy, and which are down in this load."""

from __future__ import annotations

import asyncio
import base64
import http.client
import socket
import ssl
from collections.abc import Mapping
from urllib.parse import SplitResult, unquote, urlsplit

from amplihack.records import Record
from amplihack.system.sources.address import is_loopback
from amplihack.system.sources.errors import SourceUnavailable

_CONNECT_SECONDS = 20.0  # for one address of a host; nothing can interrupt it


class Destination(Record):
    """A host with its port.

    We look up only what the fetcher itself would look up: a proxy does that for us, and an ssh host may be a
    nickname from the ssh configuration.
    """

    host: str  # "" for this disk
    port: int | None = None
    look_up: bool = True

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}" if self.port else self.host


def destination_of(url: str, environment: Mapping[str, str]) -> Destination:
    """Return where a request for an address goes, as far as the environment decides."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    web = parts.scheme in ("http", "https")
    return Destination(host, parts.port, web and proxy_for(parts.scheme, host, environment) is None)


def proxy_for(scheme: str, host: str, environment: Mapping[str, str]) -> str | None:
    """Return the proxy that the environment names for a host; None for this machine itself."""
    if is_loopback(host) or _goes_directly(
        host, environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    ):
        return None
    # HTTP_PROXY in capitals is left out on purpose: a web server sets it from a header for its scripts.
    names = [f"{scheme}_proxy", "all_proxy", "ALL_PROXY"] + (["HTTPS_PROXY"] if scheme == "https" else [])
    return next((environment[name] for name in names if environment.get(name)), None)


def _goes_directly(host: str, no_proxy: str) -> bool:
    names = [name.strip().lstrip(".").lower() for name in no_proxy.split(",") if name.strip()]
    return any(name == "*" or host.lower() == name or host.lower().endswith(f".{name}") for name in names)


class Hosts:
    """Remembers what is known about hosts, so that each is checked once and not once a source."""

    def __init__(self) -> None:
        self._down: dict[str, str] = {}
        self._lookups: dict[str, asyncio.Task[str]] = {}

    async def check(self, to: Destination, uri: str) -> None:
        """Raise SourceUnavailable for a host that is known to be down or has no address."""
        if to.host and to.look_up and to.host not in self._down:
            # Several sources wait for one lookup: a cancelled one must not end it for the others.
            reason = await asyncio.shield(self._lookup(to.host))
            if reason:
                self._down.setdefault(to.place, reason)
        for place in (to.place, to.host):
            if place in self._down:
                what = f"Failed to fetch {uri}: {self._down[place]}"
                raise SourceUnavailable(what, uri=uri, fix="check the address and the network")

    def failed(self, to: Destination, reason: str) -> None:
        """Remember that this host and port cannot be reached in this load."""
        if to.host:
            self._down.setdefault(to.place, f"{to.host} failed before in this load ({reason})")

    async def close(self) -> None:
        """Cancel lookups that are still running."""
        for task in self._lookups.values():
            task.cancel()
        await asyncio.gather(*self._lookups.values(), return_exceptions=True)
        self._lookups.clear()

    def _lookup(self, host: str) -> asyncio.Task[str]:
        task = self._lookups.get(host)
        if task is None or (task.done() and task.cancelled()):
            task = self._lookups[host] = asyncio.create_task(_look_up(host))
        return task


async def _look_up(host: str) -> str:
    """Return why a host name has no address, or ""."""
    try:
        await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return f"Could not resolve host {host} ({reason})"
    return ""


def connect(url: SplitResult, environment: Mapping[str, str], seconds: float) -> http.client.HTTPConnection:
    """Return a connection for a request to this address; it opens when its `connect` is called."""
    host, secure = url.hostname or "", url.scheme == "https"
    port = url.port or (443 if secure else 80)
    proxy = proxy_for(url.scheme, host, environment)
    patience = min(seconds, _CONNECT_SECONDS)
    if proxy is None:
        return _to(host, port, environment, patience, secure=secure)
    through = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    connection = _to(through.hostname or "", through.port or 8080, environment, patience, secure=secure)
    if secure:
        headers = {"Proxy-Authorization": basic(through)} if through.username is not None else {}
        connection.set_tunnel(host, port, headers)
    return connection


def connect_to(
    url: SplitResult, address: str, environment: Mapping[str, str], seconds: float
) -> http.client.HTTPConnection:
    """Return a connection to this address of the host and to no other, without any proxy."""
    host, secure = url.hostname or "", url.scheme == "https"
    port = url.port or (443 if secure else 80)
    connection = _to(host, port, environment, min(seconds, _CONNECT_SECONDS), secure=secure)

    def dial(_: tuple[str, int], timeout: float, source: tuple[str, int] | None = None) -> socket.socket:
        return socket.create_connection((address, port), timeout, source)

    connection._create_connection = dial  # type: ignore[attr-defined] # the only way to fix an address
    return connection


def target(url: SplitResult, connection: http.client.HTTPConnection) -> str:
    """Return what to ask a server for. A proxy is asked for the whole address."""
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    through_proxy = url.scheme == "http" and connection.host != url.hostname
    return f"http://{url.netloc.rpartition('@')[2]}{path}" if through_proxy else path


def basic(url: SplitResult) -> str:
    """Return the header value for the user and the password of an address."""
    login = f"{unquote(url.username or '')}:{unquote(url.password or '')}"
    return "Basic " + base64.b64encode(login.encode()).decode()


def _to(
    host: str, port: int, environment: Mapping[str, str], patience: float, *, secure: bool
) -> http.client.HTTPConnection:
    if not secure:
        return http.client.HTTPConnection(host, port, timeout=patience)
    context = ssl.create_default_context(
        cafile=environment.get("SSL_CERT_FILE"), capath=environment.get("SSL_CERT_DIR")
    )
    return http.client.HTTPSConnection(host, port, timeout=patience, context=context)
