"""Find what a text of a bundle refers to: files by mention, agents by name."""

from __future__ import annotations

import re
from pathlib import Path

from amplihack.bundles.mention_syntax import parse_mentions
from amplihack.bundles.uris import split_namespace
from amplihack.patterns import pattern
from amplihack.system.files import inside

_FENCED = pattern(r"^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_SPAN = pattern(r"`[^`\n]+`")
_AGENT = pattern(r"(?<![\w@:/.-])([a-z][a-z0-9_-]*):([a-z][a-z0-9_-]*)(?![\w/:-]|\.\w)")
_SCHEMES = frozenset({"http", "https", "git"})
_SUFFIXES = ("", ".md", ".yaml", ".yml")


def extract_mentions(text: str) -> list[str]:
    """Return mentions of bundle files, `@namespace:path`, each once."""
    parts = ((mention, split_namespace(mention.removeprefix("@"))) for mention in parse_mentions(text))
    return [mention for mention, part in parts if part is not None and part[1]]


def extract_delegation_targets(text: str) -> list[str]:
    """Return the agents that a text names, `namespace:agent`, each once. Code blocks are ignored."""
    prose = _SPAN.sub(" ", _FENCED.sub(" ", text))
    named = (match for match in _AGENT.finditer(prose) if match[1] not in _SCHEMES)
    return list(dict.fromkeys(match[0] for match in named))


def resolve_local_mention(mention: str, repo_root: Path) -> Path | None:
    """Return the repository file that `@namespace:path` means, with or without suffix, or None."""
    name = mention.removeprefix("@")
    part = split_namespace(name)
    path = (part[1] if part else name).lstrip("/")
    candidates = (repo_root / f"{path}{suffix}" for suffix in _SUFFIXES) if path else ()
    return next((file for file in candidates if file.is_file() and inside(file, repo_root)), None)
