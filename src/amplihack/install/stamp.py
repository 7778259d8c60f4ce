"""Map versions to the text of the stamp, and read it back.

The stamp holds a semantic version, and a Python version such as `1.2.0rc1` is none. One function maps every
version, so that what an install writes is what the next start expects.
"""

from __future__ import annotations

from amplihack.patterns import pattern

STAMP = ".installed-version"
FOLDER = "install"  # what installs write for themselves
NEW_STAMP = "stamp.new"
LONGEST_STAMP = 256  # bytes

_STAMP = pattern(r"[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.\-]+)?")
# The grammar of PEP 440, for text in lower case without blanks around it.
_VERSION = pattern(
    r"v?(?:(?P<epoch>[0-9]+)!)?(?P<release>[0-9]+(?:\.[0-9]+)*)"
    r"(?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_number>[0-9]+)?)?"
    r"(?P<post>-(?P<post_alone>[0-9]+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_number>[0-9]+)?)?"
    r"(?P<dev>[-_.]?dev[-_.]?(?P<dev_number>[0-9]+)?)?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?"
)
_PRE = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_WORDS = frozenset({"a", "b", "dev", "epoch", "local", "post", "rc", "release"})


def stamp_of(version: str) -> str:
    """Return the stamp of a version. Versions that mean the same have one stamp, others never.

    Raises ValueError for a text that is no version by PEP 440.
    """
    if _is_plain(version) and len(version) <= LONGEST_STAMP:
        return version
    found = _VERSION.fullmatch(version.strip().lower()) if version.isascii() else None
    if found is None:
        raise ValueError(f"not a version: {version!r}")
    numbers = [_number(number) for number in found["release"].split(".")]
    while len(numbers) > 3 and numbers[-1] == "0":
        numbers.pop()
    numbers += ["0"] * (3 - len(numbers))
    words = _words(found.groupdict(), numbers[3:])
    local = [_number(part) for part in _split(found["local"])]
    # `1rc1+post.2` is not `1rc1.post2`, and `1.2.3.4+5` is not `1.2.3.4.5`.
    if (
        words
        and local
        and (local[0] in _WORDS or (local[0].isdigit() and words[-len(numbers[3:]) - 1] == "release"))
    ):
        local.insert(0, "local")
    return _short(".".join(numbers[:3]) + _joined(words, local))


def _joined(words: list[str], local: list[str]) -> str:
    if words:
        return f"-{'.'.join(words + local)}"
    return f"+{'.'.join(local)}" if local else ""


def _short(stamp: str) -> str:
    """Return a stamp that can be read back: an absurdly long one is replaced by its digest."""
    if len(stamp) <= LONGEST_STAMP:
        return stamp
    import hashlib  # deferred: nobody has such a version

    return f"0.0.0-sha256.{hashlib.sha256(stamp.encode()).hexdigest()}"


def parse_stamp(data: bytes) -> str | None:
    """Return the version in the bytes of a stamp, or None if they are none. Blanks around it are allowed."""
    if len(data) > LONGEST_STAMP or not data.isascii():
        return None
    text = data.decode("ascii").strip()
    return text if _STAMP.fullmatch(text) else None


def _is_plain(version: str) -> bool:
    """Tell whether a version is its own stamp, without the cost of the grammar: every start asks."""
    parts = version.split(".")
    return len(parts) == 3 and all(
        part.isascii() and part.isdigit() and (part == "0" or part[0] != "0") for part in parts
    )


def _words(found: dict[str, str | None], more: list[str]) -> list[str]:
    words: list[str] = []
    if _number(found["epoch"]) != "0":
        words += ["epoch", _number(found["epoch"])]
    if more:
        words += ["release", *more]
    if pre := found["pre"]:
        words += [_PRE.get(pre, pre), _number(found["pre_number"])]
    if found["post"]:
        words += ["post", _number(found["post_alone"] or found["post_number"])]
    if found["dev"]:
        words += ["dev", _number(found["dev_number"])]
    return words


def _number(text: str | None) -> str:
    """Return a number without zeros in front, 0 for none; a word stays as it is."""
    return (text or "").lstrip("0") or "0" if not text or text.isdigit() else text


def _split(local: str | None) -> list[str]:
    return (local or "").replace("-", ".").replace("_", ".").split(".") if local else []
