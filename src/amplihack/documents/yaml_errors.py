"""Explain why a file cannot be read. Most files can be, so this is loaded only for one that cannot."""

from __future__ import annotations

from typing import Any

import yaml

from amplihack.documents.builder import CORE
from amplihack.documents.nodes import Source
from amplihack.documents.yaml_fixes import braces, fix_for, quoted, quotes_around
from amplihack.errors import DocumentError, Location, Problem

# What the parser misses at the end of a part, or of the file, is mended where that part begins.
_TOLD_WHERE_IT_OPENS = ("found unexpected end of stream", "could not find expected ':'")


def explained(error: yaml.YAMLError, source: Source) -> DocumentError:
    """Return an error of the parser as one of ours, with a fix for the mistakes that people make."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        opened = error.context_mark or mark
        what = " ".join(part for part in (error.context, error.problem) if part) or "this is not YAML"
        if any(words in what for words in _TOLD_WHERE_IT_OPENS):
            mark = opened
        where = source.location(mark.line, mark.column) if mark else source.location(0, 0)
        fix = fix_for(what, source, where, opened.line if opened else 0)
        return DocumentError(f"YAML parse error: {what}", where=where, fix=fix)
    reason = getattr(error, "reason", None) or str(error).split("\n")[0]
    fix = "save the file as plain text in UTF-8"
    return DocumentError(f"YAML parse error: {reason}", where=source.location(0, 0), fix=fix)


def no_key(where: Location) -> DocumentError:
    """Return the error of a list or a mapping that stands where a key should."""
    fix = braces(where.text) or "use a word as key"
    return DocumentError("a list or a mapping cannot be a key", where=where, fix=fix)


def unsupported_tag(event: Any, source: Source) -> DocumentError:
    """Return the error of a value whose tag is not one of YAML's own; `! grep` is read as a tag too."""
    mark, fix = event.start_mark, "write the value without a tag"
    if not event.tag.startswith(CORE):
        line = source.location(mark.line, 0).text
        instead = ", or write `not`" if "condition" in line else ""
        fix = f"put quotes around a value that begins with !{instead}: {quoted(line)}"
    what = f"the tag {event.tag!r} is not supported"
    return DocumentError(what, where=source.location(mark.line, mark.column), fix=fix)


def undefined_alias(event: Any, source: Source) -> DocumentError:
    """Return the error of `*x` without an `&x`: often a text that begins with a star."""
    where = source.location(event.start_mark.line, event.start_mark.column)
    fix = f"{quotes_around(where)}; to repeat a value, define it first with &{event.anchor}"
    return DocumentError(f"*{event.anchor} is not defined", where=where, fix=fix)


def unused_anchor(mark: Any, source: Source) -> Problem:
    """Return what to tell of `&x` in front of a text where no `*x` follows: YAML takes it out of the text.

    It is not repeated: of a secret that begins so, it would not be known.
    """
    where = source.location(mark.line, mark.column)
    what = "what begins with & is an anchor for YAML, which nothing refers to: it is no part of the text"
    fix = f"{quotes_around(where)}; or remove the anchor"
    return Problem(what, where, fix, "warning", "unused-anchor")
