"""Hide user names, passwords and tokens in the addresses, flags and headers that a text contains."""

from __future__ import annotations

import re

from amplihack.patterns import pattern

MASK = "***"  # what stands for a secret

_SCHEME = r"\b[a-z][a-z0-9+.\-]{0,30}:"  # bounded: a line may be very long
_USER = pattern(rf"(?i)({_SCHEME}//)([^/\s?#]+)@")
# A password may hold what an address does not allow in one, and the host may be cut off. A port is none.
_PORT = r"(?!(?:\d{1,5}|port)(?:[/?#]|$|[^\w@]))"
_PASSWORD = pattern(
    rf"(?i)((?:{_SCHEME})?//|\bhttps?:/)([^/\s?#:@\[\"']+:{_PORT}[^\s@\"'<>`]{{1,200}})@(?=[\w\[])"
)
_CUT_OFF = pattern(
    rf"(?i)(\b(?:git\+)?(?:https?|ssh|ftps?)://)([^/\s?#:@\[\"']+:{_PORT}[^/\s?#:@\"'<>`]+)(?=[\s:\"'`]|$)"
)
_PARAMETER = pattern(
    r"(?i)([?&#;](?:[\w.-]*(?:token|secret|key|pass|password|passwd|passphrase|pwd|auth|authorization|bearer|jwt"
    r"|credentials?|session|sig|signature)|code)=)([^&#;\s\"'`]+)"
)
# Without a scheme, only what can hardly be anything else: a host with a domain or a port follows.
_HOST = (
    r"(?:[\w-]{1,63}\.){1,8}[a-z]{2,}\b|(?:\d{1,3}\.){3}\d|localhost\b|[a-z][\w-]{0,62}:\d{2,5}\b"
    r"|(?:tcp|unix)\("
)
_BARE = pattern(
    r"(?i)(?<![\w/@.:+-])()(?!(?:mailto|sips?|xmpp|acct|npm|e?mail|from|to|cc|author):[\w.+-]+@)"
    rf"([\w.+-]{{1,64}}:(?![${{])[^\s:/@\"'<>`]{{1,200}})@(?!sha\d)(?={_HOST})"
)
_FLAG = pattern(
    r"(?i)((?<!\S)--[\w-]{0,30}(?:token|secret|password|passwd|passphrase|api-?key|access-?key)=[\"']?)([^\s\"'`]+)"
)
_USER_FLAG = pattern(
    r"((?<!\S)(?:-u|--user|--proxy-user)[ =]?[\"']?)((?!\d+:\d)[^\s\"'`:${]+:(?![${])[^\s\"'`]+)"
)
_HEADER = pattern(r"(?i)(\bauthorization[\"']?\s?[:=]\s?[\"']?(?:bearer|basic|token)\s)([^\s\"'`]+)")
# What a line of a file gives a name that looks like that of a key: one word that is no ordinary one.
_KEY_NAME = r"[\w.-]{0,40}(?:token|secret|credentials?|pass(?:word|wd|phrase)|(?:api|access|private)[_-]?key)"
_KEY_WORD = r"(?=[^\s\"']{0,200}[0-9A-Z])(?![*!#])[^\s\"'`${}\[\]()<>,;|&]{8,}+"
_KEY_LINE = pattern(
    rf"(?i:((?:^|[{{,])[ \t-]{{0,40}}[\"']?{_KEY_NAME}[\"']?[ \t]?:[ \t]{{1,40}}[\"']?"
    rf"|(?<![\w$-]){_KEY_NAME}=[\"']?))({_KEY_WORD})"
)
_STANDS_FOR_ONE = pattern(r"\{\{.*?\}\}|\$\{.*?\}|\$\w+|[:*]")  # what names a secret is none


def hide_credentials(text: str, *, keep_columns: bool = False) -> str:
    """Return the text with `***` for each; `git@` of ssh, variables and placeholders stay.

    With `keep_columns`, the rest of the text stays in its columns.
    """

    def user(found: re.Match[str]) -> str:
        ssh = found[1].lower().endswith("ssh://") and ":" not in found[2]
        return found[0] if ssh or not _STANDS_FOR_ONE.sub("", found[2]) else f"{found[1]}{mask(found[2])}@"

    def value(found: re.Match[str]) -> str:
        return f"{found[1]}{mask(found[2])}" if _STANDS_FOR_ONE.sub("", found[2]) else found[0]

    def mask(secret: str) -> str:
        return "*" * len(secret) if keep_columns else MASK

    if "//" in text or ":/" in text:
        for address in (_USER, _PASSWORD):
            text = address.sub(user, text)
        text = _PARAMETER.sub(value, _CUT_OFF.sub(value, text))
    if "@" in text:
        text = _BARE.sub(user, text)
    if "-" in text:
        text = _USER_FLAG.sub(value, _FLAG.sub(value, text))
    return _HEADER.sub(value, text) if "uthorization" in text.lower() else text


def hide_keys(line: str) -> str:
    """Return a line of a file with what it gives names of keys (`token: 5f0…`, `API_KEY=…`) hidden.

    The rest stays in its columns.
    """
    return _KEY_LINE.sub(lambda found: found[1] + "*" * len(found[2]), line)
