"""Turn the errors of the SDKs into the kernel's, which say whether asking again can help.

The two SDKs come from one generator: their errors have the same names and fields.
"""

from __future__ import annotations

import sys
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from amplifier_core import (
    ContextLengthError,
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
_FIRST_ERROR = 400
_STATUSES = {  # of the errors that Anthropic sends in the middle of a stream
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": _OVERLOADED,
}
_FIXES = {
    401: "check the key",
    403: "check what the key may do",
    404: "check the name of the model and base_url",
    429: "wait a while, or use less at once",
}
_QUOTA = ("insufficient_quota", "exceeded your current quota", "credit balance")
_REFUSALS = (400, 402, 413, 422, 429)  # statuses behind which services put them
# How services say that a conversation does not fit; with 413 they say it of a whole request.
_TOO_LONG = (
    "context_length_exceeded", "context length", "context limit", "context window", "context size",
    "prompt is too long", "input is too long", "too many tokens", "reduce the length",
)  # fmt: skip


def translated(
    error: Exception, package: str, provider: str, model: str, *, answered: bool = False
) -> Exception:
    """Return the kernel's form of an error that was raised while a service was asked.

    `answered` says that an answer had begun: the service can be reached, whatever broke off then.
    """
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
    if isinstance(error, sdk.APIConnectionError) and not answered:
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
    reason = error.__cause__ if isinstance(error, sdk.APIConnectionError) else error
    return failure(
        StreamError,
        f"the answer of {provider} broke off: {reason or type(error).__name__}",
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
    status, text = _STATUSES.get(_kind(error), error.status_code), _message(error)
    wait = _retry_after(error)
    more = {**facts, "status_code": status, "retry_after": wait}
    asks = f" (it asks to wait {round(wait, 1):g} s)" if wait else ""
    what = f"{facts['provider']} answered {status}: {text}{asks}"
    if status == _OVERLOADED or "overloaded" in text.lower():
        return failure(ProviderUnavailableError, what, fix="wait a while", **more, delay_multiplier=2.0)
    if status in _TIMEOUTS:
        return failure(LLMTimeoutError, what, fix="ask again", **more)
    said = f"{text} {error.body}".lower()
    if status == 402 or (status in _REFUSALS and any(mark in said for mark in _QUOTA)):
        return failure(QuotaExceededError, what, fix="look at the account", **more)
    if status == 413 or (status in _REFUSALS and status != 429 and any(mark in said for mark in _TOO_LONG)):
        return failure(ContextLengthError, what, fix="say less, or use a model with a larger window", **more)
    kind = RateLimitError if status == 429 else classify_error_message(text, status_code=status)
    return failure(kind, what, fix=_FIXES.get(status, ""), **more)


def _message(error: Any) -> str:
    return str(_details(error).get("message") or error.message)[:500]


def _kind(error: Any) -> str:
    """Return the service's word for an error inside an answer that had begun: its status says 200."""
    return str(_details(error).get("type")) if error.status_code < _FIRST_ERROR else ""


def _details(error: Any) -> dict[str, Any]:
    body = error.body
    inner = body.get("error", body) if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else {}


def _retry_after(error: Any) -> float | None:
    """Return how many seconds the service wants us to wait."""
    headers = error.response.headers
    for name, scale in (("retry-after-ms", 1_000), ("retry-after", 1)):
        given = headers.get(name, "")
        try:
            return max(0.0, float(given) / scale)
        except ValueError:
            continue  # not there, or a date
    try:
        then = parsedate_to_datetime(given)
    except ValueError:
        return None
    return max(0.0, (then - datetime.now(then.tzinfo)).total_seconds())
