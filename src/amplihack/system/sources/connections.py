"""How a web server is reached: directly, or by the proxy that the environment names."""

from __future__ import annotations

import base64
import http.client
import ssl
from collections.abc import Mapping
from urllib.parse import SplitResult, unquote, urlsplit

from amplihack.system.sources.address import is_loopback

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


def proxy_for(scheme: str, host: str, environment: Mapping[str, str]) -> str | None:
    """The proxy that the environment names for a host; never one for this machine itself."""
    if is_loopback(host) or _goes_directly(
        host, environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    ):
        return None
    # HTTP_PROXY in capitals is left out on purpose: a web server sets it from a header for its scripts.
    names = [f"{scheme}_proxy", "all_proxy", "ALL_PROXY"] + (["HTTPS_PROXY"] if scheme == "https" else [])
    return next((environment[name] for name in names if environment.get(name)), None)


def basic(url: SplitResult) -> str:
    """The header value for the user and the password of an address."""
    login = f"{unquote(url.username or '')}:{unquote(url.password or '')}"
    return "Basic " + base64.b64encode(login.encode()).decode()


def _goes_directly(host: str, no_proxy: str) -> bool:
    names = [name.strip().lstrip(".").lower() for name in no_proxy.split(",") if name.strip()]
    return any(name == "*" or host.lower() == name or host.lower().endswith(f".{name}") for name in names)


def _to(
    host: str, port: int, environment: Mapping[str, str], patience: float, *, secure: bool
) -> http.client.HTTPConnection:
    if not secure:
        return http.client.HTTPConnection(host, port, timeout=patience)
    context = ssl.create_default_context(
        cafile=environment.get("SSL_CERT_FILE"), capath=environment.get("SSL_CERT_DIR")
    )
    return http.client.HTTPSConnection(host, port, timeout=patience, context=context)
