"""Find and load files that markdown mentions."""

from amplifier_foundation.mentions.deduplicator import ContentDeduplicator
from amplifier_foundation.mentions.loader import (
    expand_mentions_in_instruction,
    format_context_block,
    load_mentions,
)
from amplifier_foundation.mentions.models import ContextFile, MentionResult
from amplifier_foundation.mentions.parser import parse_mentions
from amplifier_foundation.mentions.protocol import MentionResolverProtocol
from amplifier_foundation.mentions.resolver import BaseMentionResolver
from amplifier_foundation.mentions.utils import format_directory_listing

__all__ = [
    "BaseMentionResolver",
    "ContentDeduplicator",
    "ContextFile",
    "MentionResolverProtocol",
    "MentionResult",
    "expand_mentions_in_instruction",
    "format_context_block",
    "format_directory_listing",
    "load_mentions",
    "parse_mentions",
]
