"""Say how to write a field whose value does not have the field's shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amplihack.documents import Mapping, Node, Scalar, Sequence
from amplihack.documents.durations import fix_for as duration_fix
from amplihack.documents.suggest import closest
from amplihack.patterns import pattern
from amplihack.recipes.fields import TABLES, Field, Shape

_DIGITS = pattern(r"[0-9][0-9_, ]*")
_SEPARATORS = pattern(r"[,;\s]+")
_PAIR = pattern(r"\s*([\w.-]+)\s*[=:]\s*(.*)")
_OR = pattern(r"\bor\b|\|\|")
_PLAIN_WORD = pattern(r"[\w./-]+")
_NOT_RENDERED = "placeholders are not rendered here"

# What other tools call it.
_SYNONYMS: dict[str, dict[str, str]] = {
    "type": {
        **dict.fromkeys(("shell", "sh", "command", "cmd", "script", "run", "exec", "zsh"), "bash"),
        **dict.fromkeys(("llm", "prompt", "ai", "model", "chat", "claude", "task"), "agent"),
        **dict.fromkeys(("subrecipe", "sub-recipe", "sub_recipe", "workflow", "include", "call"), "recipe"),
    },
    "on_error": {
        **dict.fromkeys(("ignore", "warn", "resume", "true", "next", "pass"), "continue"),
        **dict.fromkeys(("stop", "abort", "exit", "raise", "error", "halt", "false"), "fail"),
        **dict.fromkeys(("skip", "break", "skip_rest"), "skip_remaining"),
    },
    "backoff": {
        **dict.fromkeys(("constant", "fixed", "none", "false"), "linear"),
        **dict.fromkeys(("true", "double", "expo"), "exponential"),
    },
    "default": {
        **dict.fromkeys(("no", "reject", "denied", "false", "fail"), "deny"),
        **dict.fromkeys(("yes", "accept", "approved", "true", "allow", "ok"), "approve"),
    },
}
# A scalar where a table belongs, and the field of the table that it most likely is.
_ONE_FIELD = {
    "retry": ("max_attempts", "", "attempts in all, the first included"),
    "recursion": ("max_depth", "", ""),
    "rate_limiting": ("max_concurrent_llm", "", ""),
    "approval": ("", "prompt", ""),
    "hooks": ("", "pre_step", ""),
    "backoff": ("initial_delay_ms", "", ""),
}


def fix_for(node: Node, field: Field) -> str:
    """Return how to write the field, with the author's own words where they can be kept."""
    return _FIXES[field.shape](node, field)


def _text(node: Node, field: Field) -> str:
    if isinstance(node, Sequence) and (field.shape == "text" or field.name == "working_dir"):
        words = [*_names_in(node), "a word"]
        return f"write one text without brackets and dashes: `{field.name}: {words[0]}`"
    if isinstance(node, Sequence):
        return f"write one text: `{field.name}: |`, and each line below it, indented"
    if isinstance(node, Mapping) and field.shape == "text" and (name := _name_inside(node)):
        return f"write the text itself: `{field.name}: {name}`"
    if isinstance(node, Mapping) and node.source.location(node.line, 0).text[node.column :].startswith("{"):
        return f"put quotes around it, as in `{field.name}: '{{…}}'`: braces without quotes are a mapping"
    return f"write the text itself behind `{field.name}:`, in quotes, or below `{field.name}: |`"


def _name_inside(node: Mapping) -> str:
    """Return the name that a map gives where the name itself belongs: `output: {name: x}`."""
    named = (node.entries.get(key) for key in ("name", "id", "variable", "var", "to", "as"))
    return next((each.text for each in named if isinstance(each, Scalar) and each.text), "")


def _condition(node: Node, field: Field) -> str:
    if isinstance(node, Sequence) and any(_operand(item).startswith(("-", "!")) for item in node.items):
        return "test files in a bash step and test its output"
    if isinstance(node, Sequence):
        listed = " and ".join(_operand(item) for item in node.items) or "a and b"
        return f"write one expression: `{field.name}: {listed}`"
    return f'write an expression, in quotes where it begins with braces: `{field.name}: "{{{{x}}}} == 1"`'


def _operand(node: Node) -> str:
    """Return one of several conditions; the words between are not ours to bind more tightly."""
    text = node.text.strip() if isinstance(node, Scalar) else "…"
    return f"({text})" if _OR.search(text) else text


def _flag(node: Node, field: Field) -> str:
    text = node.text.strip().lower() if isinstance(node, Scalar) else ""
    if "{{" in text:
        return f"{_NOT_RENDERED}: write true or false, or decide with `condition:`"
    if text in ("yes", "on", "y", "1", "t", "enabled"):
        return f"write `{field.name}: true`"
    if text in ("no", "off", "n", "0", "f", "disabled"):
        return f"write `{field.name}: false`"
    meant = closest(text, ("true", "false"))
    return (
        f"write `{field.name}: {meant}`" if meant else f"write `{field.name}: true` or `{field.name}: false`"
    )


def _number(node: Node, field: Field) -> str:
    text = node.text.strip() if isinstance(node, Scalar) else ""
    if "{{" in text:
        return f"{_NOT_RENDERED}: write the number itself"
    if found := _DIGITS.match(text):
        return f"write `{field.name}: {int(found[0].translate(_NO_SEPARATORS)[:9])}`"
    return f"write a number, such as `{field.name}: {field.default if _is_number(field.default) else 10}`"


_NO_SEPARATORS = str.maketrans("", "", "_, ")


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _duration(node: Node, field: Field) -> str:
    text = node.text if isinstance(node, Scalar) else ""
    if "{{" in text and field.shape != "seconds":
        return f"{_NOT_RENDERED}: write the time itself, such as `{field.name}: 5m`"
    return duration_fix(text, milliseconds=field.shape == "milliseconds")


def _attempts(_node: Node, field: Field) -> str:
    return f"write a whole number of 1 or more, such as `{field.name}: 3`; 1 tries once"


def _words(node: Node, field: Field) -> str:
    words: list[str] = []
    if isinstance(node, Scalar):
        words = [word for word in _SEPARATORS.split(node.text.strip("[] ")) if word]
    elif isinstance(node, Mapping):
        words = list(node.entries)
    elif isinstance(node, Sequence):
        words = [word for item in node.items for word in _names_in(item)]
    return f"write `{field.name}: [{', '.join(words) or 'a, b'}]`"


def _names_in(node: Node) -> Iterator[str]:
    match node:
        case Scalar(text):
            yield text
        case Sequence(items):
            for item in items:
                yield from _names_in(item)
        case Mapping(entries):
            yield from entries


def _map(node: Node, field: Field) -> str:
    first = node.items[0] if isinstance(node, Sequence) and node.items else node
    if isinstance(first, Mapping) and first.entries:
        return f"write each as `name: value` below `{field.name}:`, without dashes"
    pair = _PAIR.fullmatch(first.text) if isinstance(first, Scalar) else None
    example = f"{pair[1]}: {pair[2]}" if pair else "name: value"
    return f"write `{field.name}:` and below it, indented, a line `{example}` for each"


def _choice(node: Node, field: Field) -> str:
    text = node.text.strip() if isinstance(node, Scalar) else ""
    meant = _SYNONYMS.get(field.name, {}).get(text.lower()) or closest(text, field.choices)
    if meant in field.choices:
        return f"write `{field.name}: {meant}`"
    return f"write one of {', '.join(field.choices)}"


def _json(node: Node, field: Field) -> str:
    text = node.text if isinstance(node, Scalar) else ""
    meant = closest(text, ("true", "false", "first", "last")) or "true"
    return f"write `{field.name}: {meant}`; false, first and last can stand there too"


def _items(_node: Node, field: Field) -> str:
    return f'write a list, such as `{field.name}: [a, b]`, or a name: `{field.name}: "{{{{files}}}}"`'


def _width(_node: Node, field: Field) -> str:
    return f"write `{field.name}: true` for all at once, or how many, such as `{field.name}: 4`"


def _table(node: Node, field: Field) -> str:
    number, text, about = _ONE_FIELD.get(field.table, ("", "", ""))
    if isinstance(node, Scalar):
        inside = number if node.text.strip().isdecimal() else text
        if inside and not _is_flag(node):
            why = f": {about}" if about and inside == number else ""
            return f"write `{field.name}: {{{inside}: {_shown(node)}}}`{why}"
        if _is_flag(node) and field.table in _AS_FLAG:
            on, off = _AS_FLAG[field.table]
            is_on = node.text.lower() in ("true", "yes", "on")
            return f"write `{field.name}: {on if is_on else off}`, or remove it"
    known = [each.name for each in TABLES[field.table].fields if not each.prose]
    return f"write its fields below `{field.name}:`, indented: {', '.join(known)}"


_AS_FLAG = {
    "retry": ("{max_attempts: 3}", "{max_attempts: 1}"),
    "approval": ("{required: true}", "{required: false}"),
}


def _is_flag(node: Scalar) -> bool:
    return node.text.lower() in ("true", "false", "yes", "no", "on", "off")


def _shown(node: Node) -> str:
    text = node.text if isinstance(node, Scalar) else "…"
    return text if _PLAIN_WORD.fullmatch(text) else "'" + text.replace("'", "''") + "'"


def _tables(_node: Node, field: Field) -> str:
    return f"write `{field.name}:` and below it a list, each item behind a dash"


def _anything(_node: Node, _field: Field) -> str:
    return ""


_FIXES: dict[Shape, Callable[[Node, Field], str]] = {
    "text": _text,
    "template": _text,
    "condition": _condition,
    "flag": _flag,
    "count": _number,
    "number": _number,
    "bound": _number,
    "duration": _duration,
    "seconds": _duration,
    "milliseconds": _duration,
    "attempts": _attempts,
    "words": _words,
    "map": _map,
    "texts": _map,
    "choice": _choice,
    "json": _json,
    "items": _items,
    "width": _width,
    "any": _anything,
    "table": _table,
    "tables": _tables,
}
