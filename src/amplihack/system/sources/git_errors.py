"""Interpret git's messages: whether to try again, and whether the whole host is down."""

from __future__ import annotations

import re

from amplihack.bundles.uris import shown
from amplihack.patterns import pattern
from amplihack.system.sources.address import Address
from amplihack.system.sources.errors import (
    DISK_FIX,
    DISTRUSTED_FIX,
    NOT_TLS_FIX,
    PROXY_FIX,
    SourceError,
    SourceNotFound,
    SourceRefused,
    SourceUnavailable,
)

_NOT_FOUND = pattern(
    r"not found|does not exist|couldn't find remote ref|does not appear to be a git repository"
    r"|returned error: (404|410)|not our ref|no such ref|not a git repository|is this a git repository",
    re.IGNORECASE,
)
_NO_SUCH_OBJECT = pattern(
    r"not our ref|unadvertised object|couldn't find remote ref|shallow capabilities|no such remote ref"
    r"|remote error: upload-pack: not our ref",
    re.IGNORECASE,
)
_DENIED = pattern(
    r"authentication failed|could not read (username|password)|permission denied|terminal prompts disabled"
    r"|returned error: (401|403|407)|host key verification failed|invalid credentials",
    re.IGNORECASE,
)
_NO_HOST = pattern(
    r"could not resolve (host|proxy)|name or service not known|temporary failure in name resolution"
    r"|nodename nor servname|no address associated",
    re.IGNORECASE,
)
_UNREACHABLE = pattern(
    r"connection refused|failed to connect|couldn't connect to server|network is unreachable|no route to host"
    r"|connection timed out",
    re.IGNORECASE,
)
_REFUSED = pattern(r"transport .* not allowed|dubious ownership", re.IGNORECASE)
_DISTRUSTED = pattern(
    r"certificate (problem|verif)|local issuer certificate|certificate subject name"
    r"|no alternative certificate",
    re.IGNORECASE,
)
_NOT_TLS = pattern(
    r"gnutls_handshake|wrong version number|unexpected tls packet|unsupported protocol"
    r"|packet length too long",
    re.IGNORECASE,
)
_PROXY = pattern(
    r"connect tunnel failed|from proxy after connect|could not resolve proxy|returned error: 407",
    re.IGNORECASE,
)
_LOCAL = pattern(
    r"no space left|disk quota|read-only file system|name too long"
    r"|(unable to|could not|cannot) (create|mkdir)",
    re.IGNORECASE,
)
_QUOTED = pattern(r"'[^']*'|[a-z+]+://\S+", re.IGNORECASE)  # a repository may have any name
_NOISE = pattern(
    r"^(cloning into|warning: redirecting|remote: (enumerating|counting|compressing)"
    r"|warning: could not find remote branch|error: unable to read askpass response"
    r"|fatal: could not read from remote repository|please make sure you have the correct access rights"
    r"|and the repository exists)",
    re.IGNORECASE,
)
_KEPT = 600


def failure(address: Address, stderr: str, doing: str = "clone") -> SourceError:
    """Return git's message as an error of ours, without any secret."""
    said = _words(address, stderr)
    meaning = _QUOTED.sub("…", said)
    what, uri = f"Failed to {doing} {address.uri}: {said}", address.uri
    if _LOCAL.search(meaning):
        return SourceUnavailable(what, uri=uri, fix=DISK_FIX)
    if _NO_HOST.search(meaning):
        return SourceUnavailable(what, uri=uri, fix="check the address and the network", host_down=True)
    if _PROXY.search(meaning):
        return SourceUnavailable(what, uri=uri, fix=PROXY_FIX, host_down=True)
    if _DISTRUSTED.search(meaning):
        fix = f"{DISTRUSTED_FIX} (http.sslCAInfo of git, or GIT_SSL_CAINFO)"
        return SourceUnavailable(what, uri=uri, fix=fix)
    if _NOT_TLS.search(meaning):
        return SourceUnavailable(what, uri=uri, fix=NOT_TLS_FIX)
    if _REFUSED.search(meaning):
        return SourceRefused(what, uri=uri)
    if _DENIED.search(meaning):
        return SourceUnavailable(
            what, uri=uri, fix="it does not exist, or your git credentials do not open it"
        )
    if _UNREACHABLE.search(meaning):
        return SourceUnavailable(
            what, uri=uri, fix="check the address and the network", again=True, host_down=True
        )
    if _NOT_FOUND.search(meaning):
        return SourceNotFound(what, uri=uri, fix=_not_found_fix(address))
    return SourceUnavailable(what, uri=uri, fix="try again", again=True)


def is_missing_object(stderr: str) -> bool:
    """Tell whether a server refused to send a single commit, so that everything must be fetched."""
    return bool(_NO_SUCH_OBJECT.search(stderr))


def _not_found_fix(address: Address) -> str:
    if re.fullmatch(r"[0-9a-f]{6,39}", address.ref):
        return "a commit has to be given with all its 40 digits"
    return f"check the address and the branch or tag ({address.ref})"


def _words(address: Address, stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip() and not _NOISE.match(line.strip())]
    text = "; ".join(lines) or "git gave no reason"
    for secret, public in ((address.secret_url, address.url), *_login_parts(address)):
        text = text.replace(secret, public)
    return shown(text)[-_KEPT:]


def _login_parts(address: Address) -> list[tuple[str, str]]:
    """Return the user and the password in the forms in which a message may quote them."""
    if address.secret_url == address.url or address.transport == "ssh":
        return []
    login = address.secret_url.partition("://")[2].partition("/")[0].rpartition("@")[0]
    query = address.secret_url.partition("?")[2]
    return [(part, "***") for part in (login, *login.split(":"), query) if len(part) > 3]
