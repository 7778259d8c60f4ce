"""Find secrets in texts: keys that are known, and forms that only secrets have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from amplihack.credentials import hide_credentials

HIDDEN = "***"
# Each form is written so that it takes time in proportion to the text, whatever the text is.
_FORMS = (
    r"\bsk-[A-Za-z0-9_-]{16,}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bglpat-[A-Za-z0-9_-]{16,}",
    r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    r"\bAKIA[0-9A-Z]{16}\b",
    r"\bASIA[0-9A-Z]{16}\b",
    r"\bAIza[0-9A-Za-z_-]{35}",
    r"\bnpm_[A-Za-z0-9]{30,}",
    r"\bpypi-[A-Za-z0-9_-]{30,}",
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[A-Za-z0-9+/=\s]{0,10000}"
    r"(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?",
)
_NAMED = re.compile(
    r"(?i)\b([A-Z0-9_.-]{0,60}(?:api[_-]?key|secret|token|passwd|password|credential)[A-Z0-9_-]{0,20}"
    r"[\"']?\s{0,4}[:=]\s{0,4}[\"']?)([^\s\"',;&]{6,})"
)
_BEARER = re.compile(r"(?i)\b(bearer\s{1,4})([A-Za-z0-9._~+/-]{16,})")
_PLAIN = re.compile(r"(?i)true|false|null|none|\*+|\$.*|<.*|\{.*|\d+")  # what stands for a secret, or is none


class TextRedactor:
    """Hides secrets by their form. `known` hides those that are known, in all their spellings."""

    def __init__(
        self,
        *,
        patterns: Iterable[str] = (),
        allowed: Iterable[str] = (),
        wrong: Callable[[str], None] | None = None,
        known: Callable[[str], str] | None = None,
    ) -> None:
        self._known = known
        self._forms = [re.compile(form) for form in _FORMS]
        self._allowed = set(allowed)
        for pattern in patterns:
            try:
                self._forms.append(re.compile(pattern))
            except re.error as error:
                if wrong is None:
                    raise
                wrong(f"the pattern {pattern!r} cannot be read: {error}")

    def redact(self, value: Any) -> Any:
        """Return the value with its secrets hidden, in all its texts. Names of fields stay."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {key: self.redact(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.redact(each) for each in value]
        return value

    def _text(self, text: str) -> str:
        if self._known is not None:
            text = self._known(text)
        for form in self._forms:
            text = form.sub(self._hidden, text)
        text = _NAMED.sub(self._named, text)
        return hide_credentials(_BEARER.sub(self._named, text))

    def _hidden(self, found: re.Match[str]) -> str:
        return found[0] if found[0] in self._allowed else HIDDEN

    def _named(self, found: re.Match[str]) -> str:
        value = found[2]
        return found[0] if value in self._allowed or _PLAIN.fullmatch(value) else f"{found[1]}{HIDDEN}"
