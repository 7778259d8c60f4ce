"""Parse and print addresses of bundles and modules, and show them without their secrets."""

from __future__ import annotations

import posixpath

from amplihack.bundles.schemes import SCHEMES, Way, is_address, way_of
from amplihack.credentials import hide_credentials
from amplihack.patterns import pattern
from amplihack.records import Record, replace

DEFAULT_REF = "main"
_SCHEME = pattern(r"([A-Za-z][A-Za-z0-9+.\-]+)://")  # one letter is a drive
_WINDOWS = pattern(r"[A-Za-z]:[\\/]|\\\\")
_DRIVE_IN_PATH = pattern(r"/[A-Za-z]:(?:[\\/]|$)")
_PATH_STARTS = ("/", "./", "../", "~/", ".\\", "..\\")
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
_GIT_SUFFIX = pattern(r"(?:\.git|/)+$")


class ParsedURI(Record):
    """The parts of an address. `commit` and `sha256` say what the content must be."""

    scheme: str
    host: str
    path: str
    ref: str = ""
    subpath: str = ""
    query: str = ""
    commit: str = ""
    sha256: str = ""

    @property
    def way(self) -> Way | None:
        """Return how it is fetched; None for a name, and for an unknown scheme."""
        return way_of(self.scheme)

    @property
    def is_git(self) -> bool:
        return self.way == "git"

    @property
    def is_zip(self) -> bool:
        return self.way == "archive"

    @property
    def is_file(self) -> bool:
        return self.way == "local"

    @property
    def is_http(self) -> bool:
        return self.way == "download"

    @property
    def is_package(self) -> bool:
        return self.scheme == ""

    @property
    def is_remote(self) -> bool:
        known = SCHEMES.get(self.scheme)
        return known.transport != "file" if known else not self.is_package

    @property
    def is_pinned(self) -> bool:
        """Tell whether the address names one commit or one content."""
        return bool(self.commit or self.sha256 or (self.is_git and is_commit(self.ref)))

    @property
    def repository(self) -> str:
        """Return the last part of the path without `.git`, which people take for the namespace."""
        return posixpath.basename(self.path.rstrip("/")).removesuffix(".git")

    def __str__(self) -> str:
        return print_uri(self)


def parse_uri(uri: str) -> ParsedURI:
    """Parse an address, a path or a name. Any text can be parsed; nothing is refused here."""
    scheme = _SCHEME.match(uri)
    if scheme:
        return _with_scheme(scheme[1], uri[scheme.end() :])
    if _is_path(uri):
        path, fragment = _split_fragment(uri)
        return ParsedURI("file", "", path, **fragment)
    name, _, subpath = uri.partition("/")
    return ParsedURI("", "", name, subpath=subpath)


def _is_path(text: str) -> bool:
    return text.startswith(_PATH_STARTS) or bool(_WINDOWS.match(text)) or text in (".", "..", "~")


def _with_scheme(scheme: str, rest: str) -> ParsedURI:
    scheme = scheme.lower()
    known = SCHEMES.get(scheme)
    rest, fragment = _split_fragment(rest, anything=True)
    if known is not None and known.way == "local":
        return ParsedURI(scheme, "", strip_uri_drive_prefix(rest), **fragment)
    host, slash, path = rest.partition("/")
    path = slash + path
    query = ""
    if known is not None and known.transport != "file":
        path, _, query = path.partition("?")
    ref = ""
    if known is not None and known.way == "git":
        path, ref = _split_ref(path, last=known.transport == "file")
        if not ref and "?" not in query.rpartition("@")[2] and "@" in query:
            query, _, ref = query.rpartition("@")
        ref = ref or (DEFAULT_REF if path else "")
    return ParsedURI(scheme, host, path, ref, query=query, **fragment)


def _split_ref(path: str, *, last: bool) -> tuple[str, str]:
    """Split off the ref. A hosted path has no @, so its ref may have some; a directory name may too."""
    before, at, ref = path.rpartition("@") if last else path.partition("@")
    return (before, ref) if at and before else (path, "")


def _split_fragment(text: str, *, anything: bool = False) -> tuple[str, dict[str, str]]:
    """Return the text before `#` and our fields after it; a path keeps a # without fields of ours."""
    before, mark, fragment = text.partition("#")
    fields = {"subdirectory": "subpath", "sha256": "sha256", "commit": "commit"}
    found: dict[str, str] = {}
    for part in fragment.split("&"):
        key, equals, value = part.partition("=")
        if equals and key in fields:
            found.setdefault(fields[key], value)
    if mark and not found and not anything:
        return text, {}
    return before, found


def print_uri(uri: ParsedURI) -> str:
    """Return the address as text that parses to the same parts."""
    if uri.is_package:
        return f"{uri.path}/{uri.subpath}" if uri.subpath else uri.path
    fields = {"subdirectory": uri.subpath, "commit": uri.commit, "sha256": uri.sha256}
    fragment = "&".join(f"{key}={value}" for key, value in fields.items() if value)
    query = f"?{uri.query}" if uri.query else ""
    ref = f"@{uri.ref}" if uri.ref and uri.is_git else ""
    odd = uri.path[:1] != "/" or "#" in uri.path or bool(_DRIVE_IN_PATH.match(uri.path))
    plain = uri.is_file and odd and _is_path(uri.path)
    head = uri.path if plain else f"{uri.scheme}://{uri.host}{uri.path}"
    return f"{head}{ref}{query}{'#' + fragment if fragment else ''}"


def file_uri(path: str, subpath: str = "") -> str:
    """Return the address of an absolute path. A path with a # is its own address."""
    return print_uri(ParsedURI("file", "", path, subpath=subpath))


def canonical(uri: str, *, base: str | None = None) -> str:
    """Return one spelling for each place, to compare by: tidy path, explicit default ref, no `.git`."""
    parsed = parse_uri(uri)
    if parsed.is_package:
        return uri
    path, subpath = parsed.path, _tidy_subpath(parsed.subpath)
    if parsed.is_file:
        if base is not None and path.startswith("."):
            path = posixpath.join(base, path)
        path = posixpath.normpath(path) if path.startswith("/") else path
    elif parsed.is_git and parsed.is_remote:
        path = _GIT_SUFFIX.sub("", path) or path
    user, at, host = parsed.host.rpartition("@")
    tidy = replace(parsed, host=f"{user}{at}{host.lower()}", path=path, subpath=subpath)
    return print_uri(tidy)


def is_same_place(one: str, other: str) -> bool:
    """Tell whether two addresses lead to one repository, archive or file, in whatever version."""
    places = (replace(parse_uri(each), ref="", subpath="", commit="", sha256="") for each in (one, other))
    first, second = (canonical(print_uri(each)) for each in places)
    return first == second


def _tidy_subpath(subpath: str) -> str:
    tidy = posixpath.normpath(subpath.strip("/")) if subpath.strip("/") else ""
    return "" if tidy == "." else tidy


def without_fragment(uri: str) -> str:
    """Return the address of the whole source, without its subdirectory."""
    return uri.partition("#")[0]


def address_inside(uri: str, path: str) -> str:
    """Return the address of a path in the source of an address, of the whole source for an empty path.

    What the address says about the version of the source stays.
    """
    return print_uri(replace(parse_uri(uri), subpath="" if path == "." else path))


def is_commit(ref: str) -> bool:
    """Tell whether it is a full commit id."""
    return len(ref) == 40 and _HEXADECIMAL.issuperset(ref)


def escapes(path: str) -> bool:
    """Tell whether a relative path leaves the directory where it starts."""
    if ".." not in path:
        return False
    tidy = posixpath.normpath(path.lstrip("/")) if path.strip("/") else "."
    return tidy == ".." or tidy.startswith("../")


def shown(text: str) -> str:
    """Return the text with user names, passwords and tokens in its addresses masked; `git@` stays."""
    return hide_credentials(text)


def split_namespace(reference: str) -> tuple[str, str] | None:
    """Return the two sides of `namespace:path`, or None for an address, a path or a plain name."""
    if is_address(reference) or reference.startswith((*_PATH_STARTS, "@")) or _WINDOWS.match(reference):
        return None
    namespace, colon, path = reference.partition(":")
    return (namespace, path) if colon and namespace and "/" not in namespace else None


def strip_uri_drive_prefix(path: str) -> str:
    """Return `C:/x` for `/C:/x`, as a file URI spells it."""
    return path[1:] if _DRIVE_IN_PATH.match(path) else path


def describe_cross_platform_path_mismatch(path: str, system: str = "Linux") -> str | None:
    """Return why an absolute path of another system cannot be found here, or None."""
    windows = system == "Windows"
    if path.startswith("//"):
        return None
    foreign = bool(_WINDOWS.match(strip_uri_drive_prefix(path)))
    if windows and path.startswith("/") and not foreign:
        return f"{path} is a POSIX-style absolute path, which cannot exist on Windows"
    if not windows and foreign:
        return f"{path} is a Windows-style absolute path, which cannot exist on {system}"
    return None
