"""Find `@path` in markdown: what is a mention, and what only looks like one.

    mention  =  "@" ( '"' any text '"' | letter, digit or _ : . / ~ - , one or more )

Code, comments and e-mail addresses hold no mentions, and `\\@` is just an @. Punctuation and emphasis behind
a path, a line number, and the next word of a language that puts no blanks between words are no part of it.
"""

from __future__ import annotations

import re

from amplihack.bundles.code_blocks import code_lines
from amplihack.patterns import pattern
from amplihack.records import Record

# Letters of languages that put no blanks between words: Thai to Khmer, Chinese, Japanese, Korean.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = pattern(
    rf"(?:(?<![\w/])(?<!\w[.+\-])|(?<=[{_UNSPACED}]))(?P<emphasis>_{{0,3}})@"
    r'(?:"(?P<quoted>[^"\n]+)"|(?P<bare>[\w\u0300-\u036f:./~\-]+)(?P<anchor>#[\w\-]+)?)'
)
_NEXT_WORD = pattern(rf"(?P<path>.*?\.[A-Za-z0-9]{{1,8}})[{_UNSPACED}].*")
_TICKS = pattern(r"`+")
_PARAGRAPHS = pattern(r"(\n[ \t]*\n)")
_LINE_SUFFIX = pattern(r":\d+(?:[-:]\d+)?\Z")
_PUNCTUATION = ".:-"
_VISIBLE = pattern(r"[^\n]")


class Mention(Record):
    """A mention as it is usually meant, and the longer readings to try first if a file has such a name."""

    text: str  # with its @
    line: int  # from 1
    column: int
    longer: tuple[str, ...] = ()

    @property
    def readings(self) -> tuple[str, ...]:
        return (*self.longer, self.text)


def parse_mentions(text: str) -> list[str]:
    """Return the mentions of a text, each once, in order, with their @."""
    return list(dict.fromkeys(mention.text for mention in find_mentions(text)))


def find_mentions(text: str) -> list[Mention]:
    """Return every mention with its place; one that is repeated is found again."""
    if "@" not in text:
        return []
    found: list[Mention] = []
    line, start, line_start = 1, 0, 0
    for match in _TOKEN.finditer(_without_code(text)):
        at = match.end("emphasis")
        if _is_escaped(text, at):
            continue
        readings = _readings(match)
        if not readings:
            continue
        line += text.count("\n", start, at)
        line_start = text.rfind("\n", start, at) + 1 or line_start
        start = at
        *longer, usual = (f"@{reading}" for reading in readings)
        found.append(Mention(usual, line, start - line_start + 1, tuple(longer)))
    return found


def written(path: str) -> str:
    """Return how a path is mentioned: with quotes where one without them would end too early."""
    return f"@{path}" if parse_mentions(f"@{path}") == [f"@{path}"] else f'@"{path}"'


def _is_escaped(text: str, at: int) -> bool:
    before = text[:at] if at < 64 else text[at - 64 : at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _readings(match: re.Match[str]) -> list[str]:
    """Return what a token may mean, longest first: whole, without anchor, punctuation, emphasis, line."""
    if match["quoted"] is not None:
        return [match["quoted"]]
    bare = match["bare"]
    whole = bare + (match["anchor"] or "")
    closed = bare.rstrip(_PUNCTUATION)
    path = closed.rstrip(f"{_PUNCTUATION}_~") or ("~" if closed.startswith("~") else "")
    word = path if (next_word := _NEXT_WORD.fullmatch(path)) is None else next_word["path"]
    usual = _without_line(word)
    if not any(char.isalnum() or char == "~" for char in usual):
        return []
    return list(dict.fromkeys((whole, bare, closed, path, word, usual)))


def _without_line(path: str) -> str:
    """Return a path without the line number behind it; `@ns:12` is a path."""
    found = _LINE_SUFFIX.search(path)
    before = path[: found.start()] if found else ""
    return before.rstrip(_PUNCTUATION) if "." in before or "/" in before else path


def _without_code(text: str) -> str:
    """Return the text with everything that is code or comment blanked; what stays keeps its place."""
    if "`" not in text and "~~~" not in text and "<!--" not in text:
        return text
    text = _blank_fences(text)
    text = _blank_comments(text)
    return "".join(_blank_spans(paragraph) for paragraph in _PARAGRAPHS.split(text))


def _blank(text: str) -> str:
    return _VISIBLE.sub(" ", text)


def _blank_fences(text: str) -> str:
    lines = zip(text.split("\n"), code_lines(text), strict=True)
    return "\n".join(_blank(line) if is_code else line for line, is_code in lines)


def _blank_comments(text: str) -> str:
    pieces: list[str] = []
    position = 0
    while (begin := text.find("<!--", position)) >= 0 and (end := text.find("-->", begin + 4)) >= 0:
        pieces += [text[position:begin], _blank(text[begin : end + 3])]
        position = end + 3
    return "".join((*pieces, text[position:]))


def _blank_spans(paragraph: str) -> str:
    """Blank code between two equal runs of backticks; a run without a partner is just text."""
    runs = [(found.start(), found.end()) for found in _TICKS.finditer(paragraph)]
    pieces: list[str] = []
    position = number = 0
    while number < len(runs):
        partner = _partner(runs, number)
        if partner is None:
            number += 1
            continue
        begin, end = runs[number][0], runs[partner][1]
        pieces += [paragraph[position:begin], _blank(paragraph[begin:end])]
        position, number = end, partner + 1
    return "".join((*pieces, paragraph[position:]))


def _partner(runs: list[tuple[int, int]], number: int) -> int | None:
    length = runs[number][1] - runs[number][0]
    same = (other for other in range(number + 1, len(runs)) if runs[other][1] - runs[other][0] == length)
    return next(same, None)
