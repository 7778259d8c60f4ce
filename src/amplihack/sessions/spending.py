"""Say in words what a session used."""

from __future__ import annotations

from amplihack.sessions.usage import TokenUsage


def spent(used: TokenUsage) -> str:
    """Return calls, tokens and cost."""
    calls = f"{used.calls} call{'s' if used.calls != 1 else ''} of models"
    return f"{calls}, {tokens(used)}, cost {price(used) or 'nothing yet'}"


def tokens(used: TokenUsage) -> str:
    """Return the tokens; what a service did not tell is not the same as nothing."""
    if used.uncounted and not used.input_tokens and not used.output_tokens:
        return "tokens unknown"
    return f"{_least(used)}{used.input_tokens:,} tokens in, {used.output_tokens:,} out"


def price(used: TokenUsage) -> str:
    """Return the cost; that it is not known is not the same as nothing."""
    if used.cost_usd is not None:
        return f"{_least(used)}${used.cost_usd:.4f}"
    answered = used.input_tokens or used.output_tokens or used.uncounted
    return "unknown" if answered else ""  # what nobody has answered is not paid for


def _least(used: TokenUsage) -> str:
    return "at least " if used.uncounted else ""
