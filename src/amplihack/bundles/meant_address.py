"""Guess which address somebody meant: what a browser or `git clone` takes is not what we take."""

from __future__ import annotations

from amplihack.bundles.schemes import ARCHIVE_SUFFIXES, SCHEMES, repository_address
from amplihack.bundles.uris import DEFAULT_REF, parse_uri, shown
from amplihack.patterns import pattern

_SECURE_COPY = pattern(r"(?P<user>[\w.\-]+)@(?P<host>[\w.\-]+):(?P<path>[^/\s][^\s]*)")
_OTHER_GIT = pattern(r"(?P<scheme>git|ssh|git\+git)://(?P<rest>\S+)")
_PAGE = pattern(
    r"(?:https?://)?(?P<host>[\w\-]+(?:\.[\w\-]+)+)/(?P<owner>[\w.\-]+)/(?P<repository>[\w.\-]+?)(?:\.git)?"
    r"(?:@(?P<at>[\w./\-]+))?(?:/(?:-/)?(?:tree|blob)/(?P<ref>[\w.\-]+)(?:/(?P<inside>[\w./\-]+))?)?/?"
)
_FILES = (".md", ".yaml", ".yml", ".py", *ARCHIVE_SUFFIXES)


def meant_address(text: str) -> str:
    """Return the address of a repository that a text probably means, without secrets; empty if none."""
    if found := _SECURE_COPY.fullmatch(text):
        path = found["path"].removesuffix(".git")
        return repository_address("ssh", f"{found['user']}@{found['host']}/{path}@{DEFAULT_REF}")
    if found := _OTHER_GIT.fullmatch(text):
        return shown(repository_address("ssh" if found["scheme"] == "ssh" else "https", found["rest"]))
    found = _PAGE.fullmatch(text)
    if found is None or found["repository"].endswith(_FILES):
        return ""
    ref = found["at"] or found["ref"] or DEFAULT_REF
    part = f"#subdirectory={found['inside']}" if found["inside"] else ""
    return repository_address("https", f"{found['host']}/{found['owner']}/{found['repository']}@{ref}{part}")


def source_trouble(source: str) -> tuple[str, str] | None:
    """Return what is wrong with a module's source as an address, and the remedy; None for a sound one."""
    what = _trouble(source)
    if not what:
        return None
    meant = meant_address(source)
    usual = "write a path as ./modules/x, a repository as git+https://host/repository@main"
    return f"the source {shown(source)} {what}", f"did you mean {meant}?" if meant else usual


def _trouble(source: str) -> str:
    parsed = parse_uri(source)
    if parsed.is_package:
        return "" if not source or "${" in source else "is neither a path nor an address"
    if parsed.scheme not in SCHEMES:
        return f"cannot be fetched: no way to fetch {parsed.scheme}:// is known"
    if parsed.is_file and "://" in source and not parsed.path.startswith("/"):
        return "is no absolute path"
    if parsed.is_http and meant_address(source):
        return "is a page for browsers, not a module"
    if parsed.is_remote and not (parsed.host and parsed.path.strip("/")):
        return "names no repository"
    return ""
