"""Estimate how many tokens a text takes, and whether that is much."""

from amplihack.bundles.tokens import (
    COLOR_GREEN,
    COLOR_ORANGE,
    COLOR_RED,
    COLOR_YELLOW,
    THRESHOLDS,
    color_tier,
    estimate_tokens,
)

__all__ = [
    "COLOR_GREEN",
    "COLOR_ORANGE",
    "COLOR_RED",
    "COLOR_YELLOW",
    "THRESHOLDS",
    "color_tier",
    "estimate_tokens",
]
