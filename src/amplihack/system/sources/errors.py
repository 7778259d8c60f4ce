"""Define why a source could not be fetched.

SourceError (a BundleNotFoundError)
├── SourceNotFound         3  no such path, repository, ref, commit, file or path inside it
├── SourceRefused          2  it is there and must not be used: unsafe, too large, not what was pinned
└── SourceUnavailable      1  it could not be reached: network, credentials, disk
    ├── SourceOffline         it is not in the cache and the network is off
    ├── GitCloneTimeoutError  git took too long
    └── GitMissing         4  there is no git to fetch it with
"""

from __future__ import annotations

from amplihack.bundles.errors import BundleNotFoundError, Subject
from amplihack.errors import NothingToUse

DISTRUSTED_FIX = (
    "check the address and the date of this machine; name an authority of your own that is to be trusted"
)
NOT_TLS_FIX = "check the address: what answers there does not speak https"
DISK_FIX = "check the directory and the free space"
PROXY_FIX = "check the proxy in the settings and its login"
PIN_FIX = "it has changed since it was pinned: look at it, then pin the new one"


class SourceError(BundleNotFoundError):
    """Raised when a source cannot be fetched. Neither `uri` nor `what` holds a secret."""

    def __init__(self, what: str, *, uri: str | None = None, fix: str = "") -> None:
        super().__init__(what, fix=fix, subject=Subject(uri=uri))


class SourceNotFound(SourceError):
    pass


class SourceRefused(SourceError):
    exit_code = 2

    def __init__(self, what: str, *, uri: str | None = None, fix: str = "") -> None:
        super().__init__(
            what, uri=uri, fix=fix or "correct the address, or mend the source; nothing was taken"
        )


class SourceUnavailable(SourceError):
    """Raised when a source cannot be reached.

    `again` means that another attempt may succeed. `host_down` means that the whole host is unreachable.
    """

    exit_code = 1

    def __init__(
        self,
        what: str,
        *,
        uri: str | None = None,
        fix: str = "",
        again: bool = False,
        host_down: bool = False,
    ) -> None:
        super().__init__(
            what, uri=uri, fix=fix or ("try again" if again else "check the address and the network")
        )
        self.again, self.host_down = again, host_down


class SourceOffline(SourceUnavailable):
    """Raised when the network is off and the source is not in the cache."""

    def __init__(self, uri: str) -> None:
        super().__init__(
            f"offline, and not in the cache: {uri}", uri=uri, fix="run it once with the network on"
        )


class GitCloneTimeoutError(SourceUnavailable):
    """Raised when git took too long. `git_args` holds no secret."""

    def __init__(
        self, git_args: tuple[str, ...], timeout_s: float, *, uri: str, doing: str = "clone"
    ) -> None:
        super().__init__(
            f"Failed to {doing} {uri}: git {git_args[0]} did not finish within {timeout_s:g} seconds",
            uri=uri,
            fix="check the network, or raise AMPLIFIER_GIT_CLONE_TIMEOUT_S",
        )
        self.git_args, self.timeout_s = git_args, timeout_s


class GitMissing(SourceUnavailable, NothingToUse):
    exit_code = 4

    def __init__(self) -> None:
        super().__init__("git is not installed", fix="install git")
