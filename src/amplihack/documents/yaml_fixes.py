"""Say how to mend YAML that cannot be parsed, from the parser's complaint and the lines around it."""

from __future__ import annotations

from collections.abc import Callable

from amplihack.documents.nodes import Source
from amplihack.errors import Location
from amplihack.patterns import pattern

_ENTRY = pattern(r"""(\s*(?:- +)*)([\w.$/-]+|"[^"]*"|'[^']*')\s*:(?:\s+(.*))?""")
_ITEM = pattern(r"(\s*(?:- +)+)(.*)")
_NO_BLANK = pattern(r"\s*(?:- +)*([\w-]+):(?!//)(\S.*)")
_BLOCK = pattern(r".*[|>][-+0-9]*\s*(?:#.*)?")
_FLOW = pattern(r"\[(?!\[)|\{(?!\{)")
_BRACES = pattern(r"\{\{")
_BRACKET = pattern(r"[\[{]")
_NO_BLANK_DASH = pattern(r"\s*-([a-z_]+):(?:\s|$)")
_ODD_COLON = pattern(r"\s*(?:- +)*[\w.-]+ ?([\uff1a\ufe55\ufe13])")
_WORDS = pattern(r"(\s*(?:- +)*)([A-Za-z_][\w-]*)(?: +([^:]+))?")
_ODD_BLANK = pattern(r"[ \t]*([\u00a0\u2000-\u200b\u202f\u205f\u3000\ufeff])")
_ODD_BEHIND = pattern(r"\s*(?:- +)*[\w.-]+:([\u00a0\u2000-\u200b\u202f\u205f\u3000\ufeff])")
_EQUALS = pattern(r"(\s*(?:- +)*)([A-Za-z_][\w-]*) *=(?!=) *(.*)")
_INNER = pattern(r"[^,\]}\s][^,\]}]*")
_LONGEST = 70  # of a value that is repeated in a fix

TABS = "indent with spaces: YAML does not take tabs"
_ANYTHING = "check the indentation of this line and of the lines above it, and their quotes"


class BrokenLine:
    """A line of the text that the parser complains about, and what stands around it. Lines count from 0."""

    def __init__(self, source: Source, line: int, column: int, opened: int) -> None:
        self.source, self.line, self.column = source, line, column
        self.opened = opened  # the line on which begins what could not be read to its end

    def text(self, line: int) -> str:
        return self.source.location(line, 0).text

    @property
    def here(self) -> str:
        return self.text(self.line)

    def before(self, line: int) -> int:
        """Return the nearest line above that says something, or -1."""
        return next((each for each in range(line - 1, -1, -1) if _says_something(self.text(each))), -1)


def _says_something(text: str) -> bool:
    return text.strip() != "" and not text.lstrip().startswith("#")


def fix_for(what: str, source: Source, where: Location, opened: int) -> str:
    """Return how to mend the text; `opened` is the line, from 0, on which the unreadable part begins."""
    place = BrokenLine(source, where.line - 1, where.column - 1, opened)
    if _indented_by_tab(place.here) or "tab character" in what or "\\t" in what:
        return TABS
    if place.here.startswith("```"):
        return "remove this line: it belongs to Markdown, not to YAML"
    if "{{" in place.here and (fix := braces(place.here)):
        return fix
    if fix := _odd_character(place) or _no_blank_behind_dash(place):
        return fix
    return next((rule(place) for words, rule in _RULES if words in what), _ANYTHING)


def _odd_character(place: BrokenLine) -> str:
    """Return the fix for a blank or a colon that looks like the plain one, and is none for YAML."""
    for line in (place.line, place.before(place.line)):
        text = place.text(line) if line >= 0 else ""
        if found := _ODD_BLANK.match(text):
            return f"line {line + 1} is indented with U+{ord(found[1]):04X}, which is no space: replace it"
        if found := _ODD_BEHIND.match(text):
            return f"write a plain space for the U+{ord(found[1]):04X} behind the colon on line {line + 1}"
        if found := _ODD_COLON.match(text):
            return f"write a plain colon and a space for the {found[1]} on line {line + 1}"
    return ""


def _no_blank_behind_dash(place: BrokenLine) -> str:
    for line in (place.line, place.before(place.line)):
        found = _NO_BLANK_DASH.match(place.text(line)) if line >= 0 else None
        if found:
            return f"put a space behind the dash on line {line + 1}: `- {found[1]}:`"
    return ""


def _indented_by_tab(line: str) -> bool:
    return "\t" in line[: len(line) - len(line.lstrip(" \t-"))]


def braces(line: str) -> str:
    """Return the fix for a placeholder without quotes, which YAML takes for a mapping; empty for others."""
    value = _value(line)
    if value.startswith("{{"):
        return f"a value that begins with {{{{ needs quotes: {quoted(line)}"
    inner = _unquoted_braces(value) if _FLOW.match(value) else -1
    if inner >= 0:
        name = value[inner : value.find("}}", inner) + 2] if "}}" in value[inner:] else "{{…}}"
        if value[:inner].rstrip()[-1:] in (":", ",", "[", "{"):
            return f"put quotes around each placeholder inside brackets: '{name}'"
        return f"put quotes around each text with a placeholder inside brackets: '… {name}'"
    return ""


def _unquoted_braces(value: str) -> int:
    """Return where the first placeholder without quotes begins, or -1."""
    found = (each.start() for each in _BRACES.finditer(value))
    return next((at for at in found if not any(value.count(quote, 0, at) % 2 for quote in "'\"")), -1)


def _value(line: str) -> str:
    entry = _ENTRY.fullmatch(line) or _ITEM.fullmatch(line)
    return ((entry[entry.lastindex or 1] or "") if entry else line).strip()


def quoted(line: str) -> str:
    """Return a line with quotes around its value, as far as it is not too long to be repeated."""
    entry, value = _ENTRY.fullmatch(line), _value(line)
    head = f"{entry[2]}: " if entry else "- " if _ITEM.fullmatch(line) else ""
    if len(value) > _LONGEST or "://" in value:  # an address may hold a password
        return f"{head}'…'"
    if "'" in value and '"' not in value and "\\" not in value:
        return f'{head}"{value}"'
    return f"{head}'{value.replace(chr(39), chr(39) * 2)}'"


def quotes_around(where: Location) -> str:
    """Return the advice to quote the text at a place, with the line as it would be where that is short."""
    line = where.text
    before = line[: where.column - 1].rstrip()
    example = f": {quoted(line)}" if before.endswith((":", "-")) and not _BRACKET.search(before) else ""
    return f"put quotes around the whole text{example}"


def _quote(place: BrokenLine) -> str:
    inner, before = _INNER.match(place.here, place.column), place.here[: place.column]
    if inner and sum(map(before.count, "[{")) > sum(map(before.count, "]}")):
        text = inner[0].strip()
        shown = "…" if len(text) > _LONGEST or "://" in text else text.replace("'", "''")
        return f"put quotes around it: '{shown}'"
    return f"put quotes around the whole value: {quoted(place.here)}"


def _colon(place: BrokenLine) -> str:
    """A second colon: in a value, or of a line that YAML takes for a part of the value above."""
    entry, above = _ENTRY.fullmatch(place.here), place.before(place.line)
    is_own_key = entry is not None and place.column <= entry.end(2) + 1
    if not is_own_key or above < 0 or entry is None:
        return f'put quotes around a value that contains ": ", as in {quoted(place.here)}'
    if missing := _NO_BLANK.fullmatch(place.text(above)):
        return f"put a space behind the colon on line {above + 1}: `{missing[1]}: {missing[2]}`"
    key = _ENTRY.fullmatch(place.text(above))
    if fix := _forgotten_colon(place, above, len(entry[1])):
        return fix
    if key is None:
        return f"{_ANYTHING}; it is taken for a part of line {above + 1}"
    return (
        f"indent `{entry[2]}:` like `{key[2]}:` on line {above + 1}, with {len(key[1])} blanks:"
        " it is taken for a part of that line"
    )


def _forgotten_colon(place: BrokenLine, line: int, indent: int) -> str:
    """Return the fix for `id build` or `steps`, where the line below begins in its column or further in."""
    equals = _EQUALS.fullmatch(place.text(line))
    words = equals or _WORDS.fullmatch(place.text(line))
    if words is None or words.end(1) > indent or len(words[3] or "") > _LONGEST:
        return ""
    meant = f"{words[2]}: {words[3]}" if words[3] else f"{words[2]}:"
    what = "write a colon for the =" if equals else f"put a colon behind `{words[2]}`"
    return f"{what} on line {line + 1}: `{meant}`"


def _not_a_key(place: BrokenLine) -> str:
    """Something behind a value, or a line whose indentation fits nothing above."""
    value = _value(place.here)
    if place.column > len(place.here) - len(place.here.lstrip()):
        if value.startswith("'") and value.endswith("'") and value.count("'") % 2:
            inside = value[1:-1].replace('"', '\\"')
            return f'write an apostrophe twice inside single quotes, or use double quotes: "{inside}"'
        if value[:1] in ("'", '"', "[", "{"):
            return f"quotes and brackets end a value; {_quote(place)}"
    return _indentation(place)


def _indentation(place: BrokenLine) -> str:
    here, indent = place.here, len(place.here) - len(place.here.lstrip())
    if here.lstrip().startswith("- "):
        dash = _above(place, lambda text: text.lstrip().startswith("- "))
        if dash >= 0:
            blanks = len(place.text(dash)) - len(place.text(dash).lstrip())
            return f"put the dash under the dash of line {dash + 1}, behind {blanks} blanks"
    if fix := _no_dash(place):
        return fix
    block = _above(place, lambda text: bool(_BLOCK.fullmatch(text)))
    if block >= 0 and all(not _is_left_of(place, line, block) for line in range(block + 1, place.line)):
        return f"indent every line of the block on line {block + 1} at least as far as its first line"
    key = _above(place, lambda text: bool(_ENTRY.fullmatch(text)))
    if key < 0:
        return _ANYTHING
    found = _ENTRY.fullmatch(place.text(key))
    blanks = len(found[1]) if found else indent
    return f"indent it like line {key + 1}, with {blanks} blanks, if both belong together"


def _no_dash(place: BrokenLine) -> str:
    """Return the fix for an entry of a list that begins, with the same key as another, without its dash."""
    entry = _ENTRY.fullmatch(place.here)
    dashed = f"{entry[1]}- {entry[2]}:" if entry else "-"
    like = _above(place, lambda text: text.startswith(dashed)) if entry else -1
    if entry is None or like < 0:
        return ""
    return f"begin it with a dash, as line {like + 1} does, if it is another entry: `- {entry[2]}:`"


def _is_left_of(place: BrokenLine, line: int, block: int) -> bool:
    text, head = place.text(line), place.text(block)
    return bool(text.strip()) and len(text) - len(text.lstrip()) <= len(head) - len(head.lstrip())


def _above(place: BrokenLine, fits: Callable[[str], bool]) -> int:
    return next((line for line in range(place.line - 1, -1, -1) if fits(place.text(line))), -1)


def _no_colon(place: BrokenLine) -> str:
    """A line that should be `key: value` and has no colon that counts."""
    text, above = place.text(place.opened), place.before(place.opened)
    if missing := _NO_BLANK.fullmatch(text):
        return f"put a space behind the colon: `{missing[1]}: {missing[2]}`"
    if above >= 0 and _BLOCK.fullmatch(place.text(above)):
        return f"indent it further than line {above + 1}, so that it belongs to the block below that line"
    below = place.text(place.opened + 1)
    if above < 0 or _ENTRY.fullmatch(place.text(above)):
        indent = len(below) - len(below.lstrip())
        if indent and (fix := _forgotten_colon(place, place.opened, indent)):
            return fix
    if (equals := _EQUALS.fullmatch(text)) and len(equals[3]) <= _LONGEST:
        return f"write a colon for the =: `{equals[2]}: {equals[3]}`"
    first, _, rest = text.strip().partition(" ")
    example = f", such as `{first}: {rest}`" if rest and len(rest) < _LONGEST and first.isidentifier() else ""
    return f"write a key and a colon in front of it{example}, or indent it, if it belongs to the text above"


def _block(place: BrokenLine) -> str:
    return f"write the text on the lines below, indented, or put quotes around it: {quoted(place.here)}"


def _dash(place: BrokenLine) -> str:
    return f"begin a list on the line below, or put quotes around the value: {quoted(place.here)}"


def _bracket(place: BrokenLine) -> str:
    line, value = place.opened, _value(place.text(place.opened))
    if not _BRACKET.search(place.text(line)):  # the parser names the line on which it missed something
        line = max(_above(place, lambda text: bool(_BRACKET.search(text))), 0)
    if _FLOW.match(value) and value.rstrip()[-1:] not in ",[{":
        return (
            f"put commas between the parts and close the bracket of line {line + 1};"
            " a text that begins with a bracket needs quotes"
        )
    return f"put commas between the parts, and close the bracket that opens on line {line + 1}"


def _open_quote(place: BrokenLine) -> str:
    return f"close the quote that opens on line {place.opened + 1}"


def _escape(_place: BrokenLine) -> str:
    return "put single quotes around the value, in which a backslash is a backslash, or write it twice: \\\\"


def _directive(_place: BrokenLine) -> str:
    return "remove the line that begins with %"


# The first row whose words stand in the complaint counts.
_RULES: tuple[tuple[str, Callable[[BrokenLine], str]], ...] = (
    ("mapping values are not allowed", _colon),
    ("mapping keys are not allowed", _quote),
    ("cannot start any token", _quote),
    ("scanning an alias", _quote),
    ("scanning an anchor", _quote),
    ("scanning a tag", _quote),
    ("parsing a tag", _quote),
    ("scanning a block scalar", _block),
    ("block sequence entries are not allowed", _dash),
    ("escape", _escape),
    ("hexdecimal", _escape),
    ("quoted scalar", _open_quote),
    ("could not find expected ':'", _no_colon),
    ("flow", _bracket),
    ("expected '-' indicator", _indentation),
    ("expected key", _not_a_key),
    ("<block end>", _not_a_key),
    ("<document start>", _indentation),
    ("node content", _quote),
    ("directive", _directive),
    ("YAML document", _directive),
)
