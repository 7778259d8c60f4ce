"""Find mentions in a text."""

from amplihack.bundles.mention_syntax import parse_mentions

__all__ = ["parse_mentions"]
