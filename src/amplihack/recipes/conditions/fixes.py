"""Say how this language writes what other languages write in another way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from amplihack.documents.suggest import closest
from amplihack.patterns import pattern
from amplihack.recipes.conditions.functions import LEAST_ARGUMENTS

_NO_ARITHMETIC: Final = "there is no arithmetic here: compute it in a bash step and test its output"
_NO_PATTERNS: Final = (
    "there are no patterns here: use .contains() or .startswith(), or `grep -q` in a bash step"
)
_NO_CHOICE: Final = "there is no `a ? b : c` here: write two steps with opposite conditions"
_FILES: Final = "test files in a bash step and test its output"
_NOT_EMPTY: Final = "write not x: an empty text or list does not hold"
_VARIABLE: Final = "write a variable as a bare name or as {{name}}"
_STRAIGHT: Final = "use straight quotes: 'text'"
_ALONE: Final = "write the expression alone, as in x == 'a'"
_JOIN: Final = "join expressions with `and` or `or`; there is no arithmetic here"

_CHARACTERS: Final = {
    "=": "use == to compare",
    "&": "use `and` or &&",
    "|": "use `or` or ||",
    "{": _VARIABLE,
    "}": _VARIABLE,
    "$": _VARIABLE,
    "@": _VARIABLE,
    "%": _NO_ARITHMETIC,
    "+": _NO_ARITHMETIC,
    "-": _NO_ARITHMETIC,
    "*": _NO_ARITHMETIC,
    "/": _NO_ARITHMETIC,
    "^": _NO_ARITHMETIC,
    "~": _NO_PATTERNS,
    "?": _NO_CHOICE,
    ":": "there are no slices and no `a ? b : c` here: write x[0], or two steps with opposite conditions",
    ";": "write one expression, joined with `and` or `or`",
    "`": _STRAIGHT,
    "\\": "a backslash stands only inside quotes",
    "#": "a comment stands behind the closing quote of the condition, or on a line of its own",
    **dict.fromkeys("“”‘’„«»", _STRAIGHT),
}
_LONGER: Final = (  # what begins with one of the characters and is more than that
    ("=~", _NO_PATTERNS),
    (":=", "use == to compare"),
    ("=>", "write >= for =>"),
    ("=<", "write <= for =<"),
    ("?.", "write x.key: a key that is not there is null"),
    ("??", "write default(x, 'other')"),
    ("?:", "write default(x, 'other')"),
    ("-eq", "write == for -eq"),
    ("-ne", "write != for -ne"),
    ("-gt", "write > for -gt"),
    ("-ge", "write >= for -ge"),
    ("-lt", "write < for -lt"),
    ("-le", "write <= for -le"),
    ("-z", "write `not x` for -z x"),
    ("-n", "write the variable alone for -n: a text that is not empty holds"),
    ("-f", _FILES),
    ("-e", _FILES),
    ("-d", _FILES),
)
_COMPARED_TEXT = pattern(r"""(?:[=!]=|\bin|[\[,(])\s*([A-Za-z][\w.-]*(?:[/@:%+*-]+[\w.-]+)+)(?![\w'"({])""")
_FILTER = pattern(r"\|\s*([A-Za-z_]\w*)\s*(?:\(([^()]*)\))?")
_FILTERS: Final = {
    "default": "default({x}, {more})",
    "d": "default({x}, {more})",
    **dict.fromkeys(("length", "count", "size"), "len({x})"),
    "lower": "{x}.lower()",
    "upper": "{x}.upper()",
    "title": "{x}.title()",
    **dict.fromkeys(("trim", "strip"), "{x}.strip()"),
    "int": "int({x})",
    "float": "float({x})",
    **dict.fromkeys(("string", "str", "tostring"), "str({x})"),
    **dict.fromkeys(("bool", "boolean"), "bool({x})"),
    "first": "{x}[0]",
    "last": "{x}[-1]",
    "split": "{x}.split({more})",
    "replace": "{x}.replace({more})",
    "contains": "{x}.contains({more})",
}

# Words between or behind values.
_WORDS: Final = {
    **dict.fromkeys(("eq", "equals", "equal", "EQ"), "write =="),
    **dict.fromkeys(("ne", "neq", "NE"), "write !="),
    **dict.fromkeys(("gt", "GT"), "write >"),
    **dict.fromkeys(("ge", "gte", "GE"), "write >="),
    **dict.fromkeys(("lt", "LT"), "write <"),
    **dict.fromkeys(("le", "lte", "LE"), "write <="),
    **dict.fromkeys(("AND", "And"), "write `and`, in small letters"),
    **dict.fromkeys(("OR", "Or"), "write `or`, in small letters"),
    **dict.fromkeys(("NOT", "Not"), "write `not`, in small letters"),
    **dict.fromkeys(("IN", "In"), "write `in`, in small letters"),
    **dict.fromkeys(
        ("contains", "includes", "has", "contain", "include"), "write x.contains('a') or 'a' in x"
    ),
    **dict.fromkeys(("startswith", "startsWith", "starts", "beginswith"), "write x.startswith('a')"),
    **dict.fromkeys(("endswith", "endsWith", "ends"), "write x.endswith('a')"),
    **dict.fromkeys(("matches", "match", "like", "regex", "LIKE", "REGEXP", "similar"), _NO_PATTERNS),
    **dict.fromkeys(("if", "then", "else", "unless", "when", "?"), _NO_CHOICE),
    "xor": "write (a and not b) or (b and not a)",
    "between": "write `low <= x and x <= high`",
    "exists": "write defined(x)",
    "div": _NO_ARITHMETIC,
    "mod": _NO_ARITHMETIC,
    ")": "leave it out: no bracket is open here",
    "]": "leave it out: no bracket is open here",
    ",": "put several values into a list, as in x in ['a', 'b'], and join expressions with `and` or `or`",
    "instanceof": "compare the value itself: types cannot be asked for",
    "not": "write `not in`, or put `not` in front of the whole comparison",
}
_TESTS: Final = {  # behind `is`, and behind `is not`
    **dict.fromkeys(("defined", "set", "present"), ("write defined({x})", "write not defined({x})")),
    **dict.fromkeys(("undefined", "unset"), ("write not defined({x})", "write defined({x})")),
    **dict.fromkeys(("none", "None", "null", "NULL", "nil"), ("write {x} == null", "write {x} != null")),
    "empty": (
        "write not {x}: an empty text or list does not hold",
        "write {x}: an empty text or list does not hold",
    ),
    **dict.fromkeys(("true", "True"), ("write {x} == true", "write {x} != true")),
    **dict.fromkeys(("false", "False"), ("write {x} == false", "write {x} != false")),
}

METHODS: Final = {
    **dict.fromkeys(("startsWith", "starts_with", "hasPrefix", "beginswith"), "write .startswith(…)"),
    **dict.fromkeys(("endsWith", "ends_with", "hasSuffix"), "write .endswith(…)"),
    **dict.fromkeys(
        ("includes", "include", "has", "hasOwnProperty", "has_key", "containsKey"), "write .contains(…)"
    ),
    **dict.fromkeys(("toLowerCase", "toLower", "downcase", "casefold", "lowercase"), "write .lower()"),
    **dict.fromkeys(("toUpperCase", "toUpper", "upcase", "uppercase"), "write .upper()"),
    **dict.fromkeys(("trim", "trimmed"), "write .strip()"),
    **dict.fromkeys(("trimStart", "trimLeft"), "write .lstrip()"),
    **dict.fromkeys(("trimEnd", "trimRight"), "write .rstrip()"),
    **dict.fromkeys(("indexOf", "index", "search"), "write .find(…), which is -1 where it is not there"),
    **dict.fromkeys(("length", "len", "size", "__len__"), "write len(x)"),
    **dict.fromkeys(("isEmpty", "is_empty", "empty"), "write not x: an empty text or list does not hold"),
    **dict.fromkeys(("equals", "equal", "eq", "is"), "write x == y"),
    **dict.fromkeys(("toString", "to_s", "string"), "write str(x)"),
    **dict.fromkeys(("toInt", "to_i", "parseInt"), "write int(x)"),
    **dict.fromkeys(("replaceAll", "gsub", "sub"), "write .replace(…)"),
    **dict.fromkeys(("match", "matches", "test", "search_re", "fullmatch"), _NO_PATTERNS),
    **dict.fromkeys(("keys", "values", "items"), "write 'key' in x, or x.key"),
    **dict.fromkeys(("some", "any"), "write any(x)"),
    **dict.fromkeys(("every", "all"), "write all(x)"),
    **dict.fromkeys(("concat", "append", "push", "map", "filter"), "prepare the value in a bash step"),
    **dict.fromkeys(("isdigit", "isnumeric", "isalpha"), _NO_PATTERNS),
    "capitalize": "write .title()",
}
FUNCTIONS: Final = {
    **dict.fromkeys(("contains", "includes", "has"), "write x.contains(y), or y in x"),
    **dict.fromkeys(("startsWith", "startswith", "hasPrefix"), "write x.startswith(y)"),
    **dict.fromkeys(("endsWith", "endswith", "hasSuffix"), "write x.endswith(y)"),
    **dict.fromkeys(("length", "size", "count", "strlen"), "write len(x)"),
    **dict.fromkeys(("Number", "parseInt", "integer", "to_number"), "write int(x) or float(x)"),
    **dict.fromkeys(("parseFloat", "decimal"), "write float(x)"),
    **dict.fromkeys(("String", "string", "text", "toString", "repr", "format"), "write str(x)"),
    **dict.fromkeys(("Boolean", "boolean"), "write bool(x)"),
    **dict.fromkeys(("isset", "exists", "is_defined", "isDefined", "hasattr"), "write defined(x)"),
    **dict.fromkeys(("empty", "is_empty", "isEmpty", "isBlank"), _NOT_EMPTY),
    **dict.fromkeys(("coalesce", "ifnull", "nvl", "fallback"), "write default(x, 'other')"),
    **dict.fromkeys(("lower", "toLowerCase", "lowercase"), "write x.lower()"),
    **dict.fromkeys(("upper", "toUpperCase", "uppercase"), "write x.upper()"),
    **dict.fromkeys(("trim", "strip"), "write x.strip()"),
    **dict.fromkeys(("split", "join", "replace"), "write it as a method: x.split(','), ','.join(x)"),
    "success": "write steps.ID.status == 'completed', or leave it out: a failed step ends the run",
    "failure": "write steps.ID.status == 'failed', and `on_error: continue` on that step",
    "failed": "write steps.ID.status == 'failed', and `on_error: continue` on that step",
    **dict.fromkeys(("if", "when"), _ALONE),
    "always": "leave the condition out, and write `finally: true` on the step",
    "cancelled": "leave it out: a cancelled run runs nothing more",
    **dict.fromkeys(("env", "getenv", "environ"), "declare an input with `env: NAME` and test the input"),
    **dict.fromkeys(("matches", "match", "regex", "re_match", "test"), _NO_PATTERNS),
    **dict.fromkeys(("typeof", "type", "isinstance"), "compare the value itself: types cannot be asked for"),
    **dict.fromkeys(("abs", "sum", "round", "sorted", "range"), _NO_ARITHMETIC),
    **dict.fromkeys(("fromJSON", "fromJson", "toJSON", "json"), "leave it out: JSON output is read as such"),
    **dict.fromkeys(("file_exists", "fileExists", "hashFiles", "exists_file"), _FILES),
}  # fmt: skip


def for_character(text: str, column: int) -> str:
    """Return the fix for a character that begins nothing in this language."""
    rest, character = text[column:], text[column]
    if rest.startswith("{%") or (character == "%" and not text[:column].strip()):
        return _ALONE if rest.startswith("{%") else _VARIABLE
    if character == "|" and (found := _FILTER.match(text, column)):
        return _filter(text[:column], found[1], found[2] or "''")
    if character == "=" and text[column - 1 : column] == "=" and column:
        return "write != for !==" if text[column - 2 : column - 1] == "!" else "write == for ==="
    longer = next((fix for start, fix in _LONGER if rest.startswith(start)), "")
    if not longer and (word := _unquoted(text, column)):
        return f"if the text is meant, write '{word}' in quotes; there is no arithmetic here"
    if longer or character in _CHARACTERS:
        return longer or _CHARACTERS[character]
    if character.isalpha():
        return "names here have plain letters, digits and _; reach another one as inputs['näme']"
    return "put texts in quotes: 'text'"


def for_quote(text: str, column: int) -> str:
    """Return the fix for a quote that is never closed; an apostrophe may have closed the text before it."""
    quote, other = ("'", '"') if text[column] == "'" else ('"', "'")
    if text[column - 1 : column].isalnum() and other not in text:
        return f"close it with {quote}, or put the text with the {quote} in it into {other} quotes"
    return f"close it with {quote}"


def _unquoted(text: str, column: int) -> str:
    """Return the text that lacks its quotes, such as release/2.0, in whose middle the character stands."""
    found = next(
        (each for each in _COMPARED_TEXT.finditer(text) if each.start(1) < column < each.end(1)), None
    )
    return found[1] if found else ""


def _filter(before: str, name: str, more: str) -> str:
    """Return how to write a filter of other template languages."""
    words = before.split()
    subject = words[-1].strip("{} (") if words else "x"
    if name in _FILTERS:
        return f"there are no filters here: write {_FILTERS[name].format(x=subject or 'x', more=more)}"
    return "use `or` or ||; there are no filters here: use a function or a method, such as default(x, '')"


def for_rest(words: list[str], earlier: Sequence[str] = ()) -> str:
    """Return the fix for words behind a whole expression; the first of `words` stands in front of them."""
    before, word, *more = [*words, "", ""]
    if before in ("NOT", "Not"):
        return "write `not`, in small letters"
    if before in ("if", "when", "unless", "while"):
        meant = " and put `not` in front of the rest" if before == "unless" else ""
        return f"leave `{before}` out{meant}: a condition is the expression alone"
    if word == "is":
        negated = bool(more) and more[0] == "not"
        tested = more[1] if negated and len(more) > 1 else next(iter(more), "")
        fixes = _TESTS.get(tested)
        return fixes[negated].format(x=before or "x") if fixes else "write == for is, != for is not"
    if word in ("<", "<=", ">", ">=", "==", "!="):
        return "write != for <>" if word == ">" and before == "<" else _chained(before, word)
    if before.isdecimal() and (fix := _number(before, word, more)):
        return fix
    if list(earlier[-1:]) in (["=="], ["!="]) and before.isidentifier() and _is_bare(word):
        return f"if the text is meant, write '{before} {word}' in quotes"
    if before in LEAST_ARGUMENTS and word and list(earlier[-1:]) != ["is"]:
        return f"put brackets around what it is asked about: {before}({word})"
    return _WORDS.get(word) or FUNCTIONS.get(before, _JOIN)


def _is_bare(word: str) -> bool:
    """Tell whether a word may be part of a text without quotes: it is no operator that we know."""
    return word.isidentifier() and word not in _WORDS and word not in ("and", "or", "not", "in")


def _number(before: str, word: str, more: list[str]) -> str:
    """Return the fix for a number with separators, or one that is not decimal; empty for what is none."""
    if word == "," and more and more[0].isdecimal():
        return f"write the number without commas: {before}{more[0]}"
    if word.startswith("_") and word[1:].isdecimal():
        return f"write the number without underscores: {before}{word[1:]}"
    return "write the number with the digits 0 to 9" if before == "0" and word[:1] in tuple("xXoObB") else ""


def _chained(before: str, symbol: str) -> str:
    middle = before or "x"
    return f"compare two values at a time: `… < {middle} and {middle} {symbol} …`"


def for_missing(previous: str) -> str:
    """Return the fix for an expression that ends, or goes on in a wrong way, behind a word."""
    if previous in ("==", "!=", "<", "<=", ">", ">=", "in"):
        value = "[1, 2]" if previous == "in" else "'text'"
        return f"say what to compare with, such as x {previous} {value}"
    if previous in ("and", "or", "not", "&&", "||", "!"):
        return f"say what stands behind `{previous}`, or leave `{previous}` out"
    return "begin with a value: a name, a text in quotes, a number or a bracket"


def for_closing(closing: str) -> str:
    return f"close the bracket with {closing}; inside it, put commas between values"


def for_method(name: str, known: dict[str, int]) -> str:
    """Return the fix for a method that this language does not have."""
    return _instead(name, METHODS, known, ".{}(…)")


def for_function(name: str, known: dict[str, int]) -> str:
    """Return the fix for a function that this language does not have."""
    return _instead(name, FUNCTIONS, known, "{}(…)")


def _instead(name: str, table: dict[str, str], known: dict[str, int], form: str) -> str:
    meant = closest(name, known)
    advice = table.get(name) or (f"did you mean {form.format(meant)}?" if meant else "")
    allowed = f"allowed are {', '.join(sorted(known))}"
    return f"{advice}; {allowed}" if advice else allowed


def for_count(name: str) -> str:
    """Return an example of a call."""
    examples = {"default()": "default(x, 'other')", "defined()": "defined(x)", ".get()": "x.get('key')"}
    method = f"x{name[:-1]}'a')" if name.startswith(".") else f"{name[:-1]}a, b)"
    return f"write {examples.get(name, method)}"
