"""How a web server is reached: directly, or by the proxy that the environment names."""

from __future__ import annotations

import base64
import http.client
import ssl
from collections.abc import Mapping
from urllib.parse import SplitResult, unquote, urlsplit

from amplihack.system.sources.hosts import proxy_for

_CONNECT_SECONDS = 20.0  # for one address of a host; nothing can interrupt it


def connect(url: SplitResult, environment: Mapping[str, str], seconds: float) -> http.client.HTTPConnection:
    """A connection for a request to this address, opened when `connect` is called on it."""
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


def target(url: SplitResult, connection: http.client.HTTPConnection) -> str:
    """What to ask a server for; a proxy is asked for the whole address."""
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    through_proxy = url.scheme == "http" and connection.host != url.hostname
    return f"http://{url.netloc.rpartition('@')[2]}{path}" if through_proxy else path


def basic(url: SplitResult) -> str:
    """The header value for the user and the password of an address."""
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
