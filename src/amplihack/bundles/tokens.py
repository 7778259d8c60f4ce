"""Estimate how many tokens a text takes, and whether that is much for what it is."""

from __future__ import annotations

from types import MappingProxyType

COLOR_GREEN, COLOR_YELLOW, COLOR_ORANGE, COLOR_RED = "#c8e6c9", "#fff9c4", "#ffe0b2", "#ffcdd2"

# By category, where yellow, orange and red begin.
THRESHOLDS = MappingProxyType({
    "agent_description": (500, 1_000, 2_000),
    "all_agent_descriptions": (5_000, 10_000, 20_000),
    "tool_schema": (300, 600, 1_000),
    "all_tool_schemas": (3_000, 6_000, 12_000),
    "context_file": (1_000, 2_000, 4_000),
    "all_context": (4_000, 8_000, 16_000),
    "bundle_body": (500, 1_000, 2_000),
})  # fmt: skip


def estimate_tokens(text: str) -> int:
    return len(text) // 4


def color_tier(tokens: int, category: str) -> str:
    """Return the colour for that many tokens. Raises KeyError for a category that is not in THRESHOLDS."""
    yellow, orange, red = THRESHOLDS[category]
    if tokens < yellow:
        return COLOR_GREEN
    if tokens < orange:
        return COLOR_YELLOW
    return COLOR_ORANGE if tokens < red else COLOR_RED
