"""Guess which address somebody meant: what a browser or `git clone` takes is not what we take."""

from __future__ import annotations

from amplihack.bundles.file_report import FileReport
from amplihack.bundles.schemes import ARCHIVE_SUFFIXES, SCHEMES, is_address, repository_address
from amplihack.bundles.tree import Leaf
from amplihack.bundles.uris import DEFAULT_REF, parse_uri, shown
from amplihack.documents.suggest import closest
from amplihack.patterns import pattern

_SECURE_COPY = pattern(r"(?P<user>[\w.\-]+)@(?P<host>[\w.\-]+):(?P<path>[^/\s][^\s]*)")
_OTHER_GIT = pattern(r"(?P<scheme>git|ssh|git\+git)://(?P<rest>\S+)")
_PAGE = pattern(
    r"(?:https?://)?(?P<host>[\w\-]+(?:\.[\w\-]+)+)/(?P<owner>[\w.\-]+)/(?P<repository>[\w.\-]+?)(?:\.git)?"
    r"(?:@(?P<at>[\w./\-]+))?(?:/(?:-/)?(?:tree|blob)/(?P<ref>[\w.\-]+)(?:/(?P<inside>[\w./\-]+))?)?/?"
)
_READ = ("subdirectory", "commit", "sha256", "egg")  # what other tools write is no mistake
_FOR_DIRECTORIES = frozenset({"subdir", "dir", "directory", "path", "folder", "sub", "subpath"})
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


def ignored_part(source: str) -> tuple[str, str] | None:
    """Return what behind the `#` of an address has no effect, and what was probably meant; None if nothing.

    Its value is told only where it can be a path: it may be a secret.
    """
    fragment = source.partition("#")[2]
    if not fragment or (fragment.startswith("subdirectory=") and "&" not in fragment):
        return None  # as nearly all are
    for part in fragment.split("&") if is_address(source) else ():
        key, equals, value = part.partition("=")
        if not part or key in _READ:
            continue
        meant = "subdirectory" if key in _FOR_DIRECTORIES else closest(key, _READ)
        fix = f"write {meant}={value}" if meant else "only subdirectory=, commit= and sha256= are read there"
        if not equals:
            fix = f"write @{part} for a branch, #subdirectory={part} for a directory in it"
        return f"#{key} in the address has no effect", fix
    return None


def tell_ignored_part(source: str, leaf: Leaf, report: FileReport) -> None:
    """Report that a part of an address has no effect: what it names is not what is fetched."""
    if ignored := ignored_part(source):
        report.warn("address-part", ignored[0], leaf, ignored[1])


def _trouble(source: str) -> str:
    parsed = parse_uri(source)
    if "${" in source:
        return "names a variable, and none is filled in there"
    if parsed.is_package:
        return "is neither a path nor an address" if source else ""
    if parsed.scheme not in SCHEMES:
        return f"cannot be fetched: no way to fetch {parsed.scheme}:// is known"
    if parsed.is_file and "://" in source and not parsed.path.startswith("/"):
        return "is no absolute path"
    if parsed.is_http and meant_address(source):
        return "is a page for browsers, not a module"
    if parsed.is_remote and not (parsed.host and parsed.path.strip("/")):
        return "names no repository"
    return ""
