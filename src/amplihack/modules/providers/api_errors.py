"""Turn the errors of the SDKs into the kernel's, which say whether asking again can help.

The two SDKs come from one generator: their errors have the same names and fields.
"""

from __future__ import annotations

import sys
from typing import Any

from amplifier_core import (
    LLMError,
    LLMTimeoutError,
    NetworkError,
    ProviderUnavailableError,
    QuotaExceededError,
    RateLimitError,
    StreamError,
    classify_error_message,
)

from amplihack.modules.failures import failure

_OVERLOADED = 529
_TIMEOUTS = (408, 504)
_FIXES = {
    401: "check the key",
    403: "check what the key may do",
    404: "check the name of the model and base_url",
    429: "wait a while, or use less at once",
}
_QUOTA = ("insufficient_quota", "exceeded your current quota", "credit balance")


def translated(error: Exception, package: str, provider: str, model: str) -> Exception:
    """Return the kernel's form of an error that was raised while a service was asked."""
    sdk: Any = sys.modules.get(package)
    facts = {"provider": provider, "model": model}
    if sdk is None:
        return failure(LLMError, f"{provider}: {error}", fix="", **facts)
    if isinstance(error, sdk.APITimeoutError):
        return failure(
            LLMTimeoutError,
            f"{provider} did not answer in time",
            fix="raise `timeout` in its config",
            **facts,
        )
    if isinstance(error, sdk.APIStatusError):
        return _of_status(error, facts)
    if isinstance(error, sdk.APIConnectionError):
        reason = error.__cause__ or error
        return failure(
            NetworkError,
            f"{provider} cannot be reached: {reason}",
            fix="check the network and base_url",
            **facts,
        )
    if isinstance(error, ValueError | KeyError | TypeError | AttributeError | IndexError):
        return failure(
            StreamError,
            f"{provider} answered something that cannot be read: {error}",
            fix="check base_url",
            **facts,
        )
    return failure(
        StreamError,
        f"the answer of {provider} broke off: {error or type(error).__name__}",
        fix="ask again",
        **facts,
    )


def cut_off(provider: str, model: str, *, answered: bool) -> Exception:
    """Return the error of an answer that ended in the middle, or was none at all."""
    if not answered:
        what = f"{provider} answered with something that is no answer of a model"
        return failure(StreamError, what, fix="check base_url", provider=provider, model=model)
    return failure(
        StreamError,
        f"the answer of {provider} broke off before its end",
        fix="ask again",
        provider=provider,
        model=model,
    )


def _of_status(error: Any, facts: dict[str, str]) -> Exception:
    status, text = error.status_code, _message(error)
    wait = _retry_after(error)
    more = {**facts, "status_code": status, "retry_after": wait}
    asks = f" (it asks to wait {wait:g} s)" if wait else ""
    what = f"{facts['provider']} answered {status}: {text}{asks}"
    if status == _OVERLOADED or "overloaded" in text.lower():
        return failure(ProviderUnavailableError, what, fix="wait a while", **more, delay_multiplier=2.0)
    if status in _TIMEOUTS:
        return failure(LLMTimeoutError, what, fix="ask again", **more)
    if status == 429 and any(mark in f"{text} {error.body}" for mark in _QUOTA):
        return failure(QuotaExceededError, what, fix="look at the account", **more)
    kind = RateLimitError if status == 429 else classify_error_message(text, status_code=status)
    return failure(kind, what, fix=_FIXES.get(status, ""), **more)


def _message(error: Any) -> str:
    body = error.body
    inner = body.get("error", body) if isinstance(body, dict) else None
    found = inner.get("message") if isinstance(inner, dict) else None
    return str(found or error.message)[:500]


def _retry_after(error: Any) -> float | None:
    """Return how many seconds the service wants us to wait."""
    headers = error.response.headers
    for name, scale in (("retry-after-ms", 1_000), ("retry-after", 1)):
        try:
            return max(0.0, float(headers[name]) / scale)
        except (KeyError, ValueError):  # not there, or a date, which nobody sends
            continue
    return None
