"""Download files: streamed, limited in size and time, with every redirect checked like the first address."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import http.client
import os
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Literal, TypeAlias
from urllib.parse import SplitResult, urljoin, urlsplit

from amplihack.bundles.uris import shown
from amplihack.records import Record, field, replace
from amplihack.system.sources.address import is_loopback
from amplihack.system.sources.errors import (
    DISK_FIX,
    DISTRUSTED_FIX,
    NOT_TLS_FIX,
    PIN_FIX,
    PROXY_FIX,
    SourceError,
    SourceNotFound,
    SourceRefused,
    SourceUnavailable,
)
from amplihack.system.sources.hosts import basic, connect, connect_to, proxy_for, target
from amplihack.system.sources.threads import Stop, Stopped, in_thread

_CHUNK = 262_144
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 5
_GONE = (404, 410)
_DENIED = (401, 403, 407)
_NO_TUNNEL = "Tunnel connection failed: "  # the words of the standard library, which has no class for it
_TRANSIENT = (408, 425, 429, 500, 502, 503, 504)


# Returns the address to connect to instead of the name. Raises SourceRefused for one that must not be used.
CheckHost: TypeAlias = Callable[[str, int], str]


class Request(Record, kw_only=True):
    """What to download. `uri` may be shown; `url` may hold a user and a password."""

    url: str = field(repr=False)
    uri: str
    environment: Mapping[str, str] = field(repr=False)
    seconds: float = 60.0
    most_bytes: int
    allow_http: bool = False
    sha256: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    method: Literal["GET", "HEAD"] = "GET"
    check_host: CheckHost | None = field(default=None, repr=False)  # asked for each host, redirects included


class Downloaded(Record, kw_only=True):
    """The result: nothing new (`unchanged`), or `size` bytes with this hash."""

    unchanged: bool = False
    size: int = 0
    sha256: str = ""
    etag: str | None = None
    last_modified: str | None = None
    media_type: str = ""
    url: str = ""  # where it was found, after all redirects


async def download(request: Request, into: Path | None) -> Downloaded:
    """Download into a new file (None: headers only). Raises a SourceError, and leaves no partial file."""
    try:
        async with asyncio.timeout(request.seconds):
            return await in_thread(lambda stop: _Transfer(request, into, stop).run())
    except TimeoutError:
        raise SourceUnavailable(
            f"{request.uri}: the download did not finish within {request.seconds:g} seconds",
            uri=request.uri,
            fix="check the network",
        ) from None


class _Transfer:
    """One download, in a thread of its own."""

    def __init__(self, request: Request, into: Path | None, stop: Stop) -> None:
        self._request, self._into, self._stop = request, into, stop
        self._uri = request.uri

    def run(self) -> Downloaded:
        try:
            return self._follow()
        except SourceError:
            self._forget()
            raise
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._forget()
            self._stop.check()  # it failed because we cut the connection
            raise self._explained(error) from error
        except Stopped:
            self._forget()
            raise

    def _follow(self) -> Downloaded:
        url, seen = self._request.url, set[str]()
        for _ in range(_MOST_REDIRECTS + 1):
            self._stop.check()
            if url in seen:
                raise SourceRefused(f"{self._uri}: the server redirects in a circle", uri=self._uri)
            seen.add(url)
            moved_to, result = self._once(_checked(url, self._request))
            if result is not None:
                return result
            url = _next(url, moved_to, self._uri)
        raise SourceRefused(f"{self._uri}: more than {_MOST_REDIRECTS} redirects", uri=self._uri)

    def _once(self, url: SplitResult) -> tuple[str, Downloaded | None]:
        connection = self._connection(url)
        try:
            connection.connect()
            self._stop.interrupt_with(partial(_cut, connection.sock))  # the connection forgets it too early
            connection.sock.settimeout(self._request.seconds)
            connection.request(self._request.method, target(url, connection), headers=self._headers(url))
            with connection.getresponse() as response:
                moved_to, result = self._judge(response)
                return moved_to, None if result is None else replace(result, url=url.geturl())
        finally:
            self._stop.interrupt_with(None)
            connection.close()

    def _connection(self, url: SplitResult) -> http.client.HTTPConnection:
        if self._request.check_host is None:
            return connect(url, self._request.environment, self._request.seconds)
        port = url.port or (443 if url.scheme == "https" else 80)
        address = self._request.check_host(url.hostname or "", port)
        return connect_to(url, address, self._request.environment, self._request.seconds)

    def _judge(self, response: http.client.HTTPResponse) -> tuple[str, Downloaded | None]:
        """Return where it has moved to, or what was downloaded."""
        if response.status in _REDIRECTS and response.headers.get("Location"):
            return response.headers["Location"], None
        if response.status == 304:
            return "", Downloaded(unchanged=True)
        if response.status != 200:
            raise _refused(response.status, self._uri)
        return "", self._take(response)

    def _headers(self, url: SplitResult) -> dict[str, str]:
        headers = {
            "User-Agent": "amplihack",
            "Accept": "*/*",
            # The hash and the size limit are about the bytes as they are sent.
            "Accept-Encoding": "identity",
            "Connection": "close",
        }
        if self._request.etag:
            headers["If-None-Match"] = self._request.etag
        if self._request.last_modified:
            headers["If-Modified-Since"] = self._request.last_modified
        if url.username is not None:
            headers["Authorization"] = basic(url)
        return headers

    def _take(self, response: http.client.HTTPResponse) -> Downloaded:
        described = Downloaded(
            etag=response.headers.get("ETag"),
            last_modified=response.headers.get("Last-Modified"),
            media_type=response.headers.get("Content-Type", ""),
        )
        self._check_encoding(response.headers.get("Content-Encoding", "identity"))
        length = response.headers.get("Content-Length", "")
        self._check_size(int(length) if length.isdecimal() else 0)
        if self._into is None:
            return described
        descriptor = os.open(self._into, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        with os.fdopen(descriptor, "wb") as file:
            size, digest = self._copy(response, file)
        if length.isdecimal() and size != int(length):
            raise SourceUnavailable(f"{self._uri}: the download broke off", uri=self._uri, again=True)
        if self._request.sha256 not in (None, digest):
            raise SourceRefused(
                f"{self._uri}: its sha256 is {digest}, not {self._request.sha256}",
                uri=self._uri,
                fix=PIN_FIX,
            )
        return replace(described, size=size, sha256=digest)

    def _copy(self, response: http.client.HTTPResponse, file: IO[bytes]) -> tuple[int, str]:
        size, digest = 0, hashlib.sha256()
        while chunk := response.read1(_CHUNK):
            self._stop.check()
            size += len(chunk)
            self._check_size(size)
            digest.update(chunk)
            file.write(chunk)
        return size, digest.hexdigest()

    def _check_encoding(self, encoding: str) -> None:
        """Refuse an encoding that we did not ask for. Some servers call a .tar.gz file gzip-encoded."""
        packed = urlsplit(self._request.url).path.endswith((".gz", ".tgz"))
        if encoding.lower() != "identity" and not packed:
            raise SourceRefused(f"{self._uri}: the server sends it as {encoding}, unasked", uri=self._uri)

    def _check_size(self, size: int) -> None:
        if size > self._request.most_bytes:
            raise SourceRefused(
                f"{self._uri}: it is larger than {self._request.most_bytes} bytes", uri=self._uri
            )

    def _forget(self) -> None:
        if self._into is not None:
            self._into.unlink(missing_ok=True)

    @property
    def _through(self) -> str:
        """Return the words for the proxy that the request goes to; it may know what we do not."""
        url = urlsplit(self._request.url)
        proxy = proxy_for(url.scheme, url.hostname or "", self._request.environment)
        if proxy is None or self._request.check_host is not None:
            return ""
        return f" through the proxy {proxy.rpartition('://')[2].rpartition('@')[2].partition('/')[0]}"

    def _explained(self, error: Exception) -> SourceError:
        match error:
            case socket.gaierror():
                fix = "check the address and the network"
                return SourceUnavailable(
                    f"{self._uri}: the host is not known", uri=self._uri, fix=fix, host_down=True
                )
            case ssl.SSLCertVerificationError():
                return SourceUnavailable(
                    f"{self._uri}: the certificate is not valid: {error.verify_message}",
                    uri=self._uri,
                    fix=f"{DISTRUSTED_FIX} (SSL_CERT_FILE)",
                )
            case ssl.SSLError(reason=str()) if not isinstance(error, ssl.SSLEOFError):
                reason = error.reason.replace("_", " ").lower()
                return SourceUnavailable(f"{self._uri}: no https: {reason}", uri=self._uri, fix=NOT_TLS_FIX)
            case OSError() if isinstance(error, ConnectionRefusedError) or _is_unreachable(error):
                what = f"{self._uri}: cannot connect{self._through}: {error.strerror}"
                fix = PROXY_FIX if self._through else "check the address and the network"
                return SourceUnavailable(what, uri=self._uri, fix=fix, again=True, host_down=True)
            case OSError() if (refusal := str(error)).startswith(_NO_TUNNEL):
                what = f"{self._uri}: cannot connect{self._through}: {refusal.removeprefix(_NO_TUNNEL)}"
                return SourceUnavailable(what, uri=self._uri, fix=PROXY_FIX)
            case OSError() if error.filename is not None:
                what, fix = f"{self._uri}: cannot write it: {error.strerror}", DISK_FIX
                return SourceUnavailable(what, uri=self._uri, fix=fix)
            case OSError(errno=errno.ENOSPC | errno.EDQUOT):
                what, fix = f"{self._uri}: cannot write it: {error.strerror}", DISK_FIX
                return SourceUnavailable(what, uri=self._uri, fix=fix)
            case _:
                reason = " ".join(shown(str(error)).split()) or type(error).__name__
                return SourceUnavailable(
                    f"{self._uri}: the download failed: {reason}", uri=self._uri, again=True
                )


def _checked(url: str, request: Request) -> SplitResult:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise SourceRefused(f"{request.uri}: leads to a malformed address", uri=request.uri) from None
    if parts.scheme not in ("http", "https") or not host:
        raise SourceRefused(f"{request.uri}: leads to something that is not a web address", uri=request.uri)
    if parts.scheme == "http" and not (request.allow_http or is_loopback(host)):
        what = f"{request.uri}: leads to http, which is not protected against changes on the way"
        raise SourceRefused(what, uri=request.uri, fix="use https")
    if urlsplit(request.url).scheme == "https" and parts.scheme == "http":
        raise SourceRefused(f"{request.uri}: leads from https to http", uri=request.uri)
    return parts


def _next(url: str, location: str, uri: str) -> str:
    """Return the address of a redirect. The user and password are sent to the original host only."""
    try:
        before, after = urlsplit(url), urlsplit(urljoin(url, location))
        same = (before.scheme, before.hostname, before.port) == (after.scheme, after.hostname, after.port)
    except ValueError:
        raise SourceRefused(f"{uri}: leads to a malformed address", uri=uri) from None
    user = before.netloc.rpartition("@")[0]
    host = after.netloc.rpartition("@")[2]
    return after._replace(netloc=f"{user}@{host}" if user and same else host, fragment="").geturl()


def _cut(connected: socket.socket) -> None:
    """Wake a thread that waits for the network."""
    with suppress(OSError):  # it is closed already
        connected.shutdown(socket.SHUT_RDWR)


def _refused(status: int, uri: str) -> SourceError:
    if status in _GONE:
        return SourceNotFound(
            f"{uri}: not found (the server answers {status})", uri=uri, fix="check the address"
        )
    if status in _DENIED:
        return SourceUnavailable(
            f"{uri}: the server refuses access ({status})", uri=uri, fix="check the credentials"
        )
    return SourceUnavailable(f"{uri}: the server answers {status}", uri=uri, again=status in _TRANSIENT)


def _is_unreachable(error: OSError) -> bool:
    return error.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN)
