"""Whether what lies in the cache is what an address asks for."""

from __future__ import annotations

from pathlib import Path

from amplihack.system.sources.address import Address
from amplihack.system.sources.metadata import Metadata
from amplihack.system.sources.model import is_commit


def is_good(address: Address, entry: Path, metadata: Metadata) -> bool:
    """Whether an entry of the cache is what the address asks for; a local archive must not have changed."""
    if address.kind == "git":
        in_git = (entry / ".git").is_dir()
        return in_git and (address.pin is None or address.pin == metadata.commit == head_commit(entry))
    if address.sha256 not in (None, metadata.sha256) or not (entry / metadata.inside).exists():
        return False
    return address.is_networked or local_archive_unchanged(address, metadata) is not False


def local_archive_unchanged(address: Address, metadata: Metadata) -> bool | None:
    """Whether a local archive still looks as it did; None when it is gone."""
    try:
        now = Path(address.path).stat()
    except OSError:
        return None
    return (now.st_size, now.st_mtime_ns) == (metadata.origin_size, metadata.origin_mtime_ns)


def head_commit(checkout: Path) -> str | None:
    """The commit of a checkout with a detached head, read without git; None if it is not so."""
    try:
        head = (checkout / ".git" / "HEAD").read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return head if is_commit(head) else None
