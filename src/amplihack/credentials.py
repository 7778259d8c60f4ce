"""Hide user names, passwords and tokens in the addresses that a text contains."""

from __future__ import annotations

import re

from amplihack.patterns import pattern

MASK = "***"  # what stands for a secret

_USER = pattern(r"(?i)\b([a-z][a-z0-9+.\-]{0,30}://)([^/\s?#]+)@")  # bounded: a line may be very long
_PARAMETER = pattern(
    r"(?i)([?&#;][\w.-]*(?:token|secret|key|password|passwd|pwd|auth|credentials?|sig|signature)=)([^&#;\s\"'`]+)"
)
_STANDS_FOR_ONE = pattern(r"\{\{.*?\}\}|\$\{.*?\}|\$\w+|[:*]")  # what names a secret is none


def hide_credentials(text: str, *, keep_columns: bool = False) -> str:
    """Return the text with `***` for each; `git@` of ssh, variables and placeholders stay.

    With `keep_columns`, the rest of the text stays in its columns.
    """
    if "://" not in text:
        return text

    def user(found: re.Match[str]) -> str:
        ssh = found[1].lower().endswith("ssh://") and ":" not in found[2]
        return found[0] if ssh or not _STANDS_FOR_ONE.sub("", found[2]) else f"{found[1]}{mask(found[2])}@"

    def parameter(found: re.Match[str]) -> str:
        return f"{found[1]}{mask(found[2])}" if _STANDS_FOR_ONE.sub("", found[2]) else found[0]

    def mask(secret: str) -> str:
        return "*" * len(secret) if keep_columns else MASK

    return _PARAMETER.sub(parameter, _USER.sub(user, text))
