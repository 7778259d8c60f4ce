"""Decide where a source is fetched from and under which name it is kept. Pure functions of addresses.

Secrets in an address (user, password, query) go to the server and nowhere else. What is shown, stored on the
disk or put on a command line is built from the address without them.
"""

from __future__ import annotations

import ipaddress
import posixpath
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from amplihack.bundles.schemes import ARCHIVE_SUFFIXES, SCHEMES, Scheme
from amplihack.bundles.uris import ParsedURI, escapes, is_commit, shown
from amplihack.patterns import pattern
from amplihack.records import Record, field
from amplihack.system.files import short_hash
from amplihack.system.sources.errors import SourceNotFound, SourceRefused

RemoteKind: TypeAlias = Literal["git", "archive", "file"]

_REF = pattern(
    r"(?!.*(\.\.|//|/\.|@\{|\.lock(/|$)))[^\s\x00-\x20\x7f~^:?*\[\\.\-/][^\x00-\x20\x7f~^:?*\[\\]*(?<![./])"
)
_SHA256 = pattern(r"[0-9a-fA-F]{64}")
_UNSAFE = pattern(r"[^A-Za-z0-9._-]+")


class Address(Record, kw_only=True):
    """A source that must be fetched before it can be read."""

    kind: RemoteKind
    uri: str  # as it may be shown
    url: str  # without any secret
    secret_url: str = field(repr=False)  # what the server is really asked for; often equal to `url`
    transport: str  # https, http, ssh, file
    host: str
    port: int | None
    path: str
    name: str  # what its entries in the cache are called, before their version
    pointer: str  # the name of the file that says which of them it means now
    ref: str = ""
    subpath: str = ""
    sha256: str | None = None

    @property
    def pin(self) -> str | None:
        """Return the commit that it must be, in lower case, or None."""
        return self.ref.lower() if is_commit(self.ref) else None

    @property
    def version(self) -> str | None:
        """Return the commit or sha256 that the address demands, or None."""
        return self.pin or self.sha256

    def entry(self, version: str) -> str:
        """Return the name of one version in the cache."""
        return f"{self.name}@{version}"

    @property
    def is_networked(self) -> bool:
        return self.transport != "file"


def address_of(parsed: ParsedURI, *, allow_http: bool = False) -> Address:
    """Return what to fetch for a parsed address. Raises SourceRefused for one that must not be used."""
    uri = shown(str(parsed))
    scheme = SCHEMES.get(parsed.scheme)
    if scheme is None or scheme.way == "local":
        what, known = (
            f"{uri}: no way to fetch {parsed.scheme}:// is known",
            ", ".join(sorted(filter(None, SCHEMES))),
        )
        raise SourceNotFound(what, uri=uri, fix=f"known are {known}")
    kind, transport = _kind(scheme, parsed.path), scheme.transport
    if escapes(parsed.subpath):
        what = f"{uri}: the subdirectory leads out of the source"
        raise SourceRefused(what, uri=uri, fix="name a directory inside it, without ..")
    host, port = _host(parsed, transport, uri)
    _check_transport(transport, host, uri, allow_http=allow_http)
    url = f"{transport}://{_netloc(parsed, transport)}{parsed.path}"
    ref, sha256 = _ref(parsed, kind, uri), _sha256(parsed, kind, uri)
    query = f"?{parsed.query}" if parsed.query else ""
    place = f"{kind} {parsed.path if transport == 'file' else url + query}"
    meant = f"{url}{query}@{ref}" if kind == "git" else f"{place}#sha256={sha256 or ''}"
    return Address(
        kind=kind,
        uri=uri,
        url=url,
        secret_url=f"{transport}://{parsed.host}{parsed.path}{query}",
        transport=transport,
        host=host,
        port=port,
        path=parsed.path,
        name=_file_name(kind, parsed.path, place),
        pointer=_file_name(kind, parsed.path, meant),
        ref=ref,
        subpath=posixpath.normpath(parsed.subpath.strip("/")) if parsed.subpath.strip("/") else "",
        sha256=sha256,
    )


def is_loopback(host: str) -> bool:
    """Tell whether a host name or address can only mean this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _kind(scheme: Scheme, path: str) -> RemoteKind:
    if scheme.way == "git":
        return "git"
    return "archive" if scheme.way == "archive" or path.lower().endswith(ARCHIVE_SUFFIXES) else "file"


def _host(parsed: ParsedURI, transport: str, uri: str) -> tuple[str, int | None]:
    try:
        parts = urlsplit(f"{transport}://{parsed.host}/")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise SourceRefused(f"{uri}: the host is malformed", uri=uri) from None  # the cause quotes secrets
    text = parsed.host + parsed.path + parsed.query
    least = 32 if transport == "file" else 33  # a directory of this disk may have a space in its name
    if parsed.host.startswith("-") or any(ord(each) < least or ord(each) == 127 for each in text):
        fix = "write a space in an address as %20" if " " in text else ""
        raise SourceRefused(f"{uri}: the address holds characters that none may hold", uri=uri, fix=fix)
    if host not in ("", "localhost") if transport == "file" else (not host or host.startswith("-")):
        raise SourceRefused(f"{uri}: the address names no host that can be used", uri=uri)
    return host, port


def _check_transport(transport: str, host: str, uri: str, *, allow_http: bool) -> None:
    if transport == "http" and not allow_http and not is_loopback(host):
        raise SourceRefused(
            f"{uri}: http is not protected against changes on the way", uri=uri, fix="use https"
        )


def _netloc(parsed: ParsedURI, transport: str) -> str:
    user, at, host = parsed.host.rpartition("@")
    if transport == "ssh" and at:  # the user of ssh is an account, often just `git`, and no secret
        return f"{user.partition(':')[0]}@{host}"
    return host


def _ref(parsed: ParsedURI, kind: RemoteKind, uri: str) -> str:
    if kind != "git":
        return ""
    ref = parsed.commit or parsed.ref or "HEAD"
    if parsed.commit and not is_commit(parsed.commit):
        raise SourceRefused(f"{uri}: commit= needs all 40 digits of a commit id", uri=uri)
    if not _REF.fullmatch(ref):
        raise SourceRefused(f"{uri}: {ref!r} is not the name of a branch, a tag or a commit", uri=uri)
    return ref.lower() if is_commit(ref) else ref


def _sha256(parsed: ParsedURI, kind: RemoteKind, uri: str) -> str | None:
    if not parsed.sha256:
        return None
    if kind == "git":
        raise SourceRefused(
            f"{uri}: sha256= is for files and archives", uri=uri, fix="use commit=<40 digits>"
        )
    if not _SHA256.fullmatch(parsed.sha256):
        raise SourceRefused(f"{uri}: sha256= needs 64 hexadecimal digits", uri=uri)
    return parsed.sha256.lower()


def _file_name(kind: RemoteKind, path: str, identity: str) -> str:
    """Return a readable name that no two identities share."""
    last = posixpath.basename(path.rstrip("/"))
    if kind != "git":
        last = last.partition(".")[0] if last.lower().endswith(".tar.gz") else posixpath.splitext(last)[0]
    safe = _UNSAFE.sub("_", last).lstrip(".")[:80] or "source"
    return f"{safe}-{short_hash(identity.encode('utf-8', 'surrogateescape'))}"
