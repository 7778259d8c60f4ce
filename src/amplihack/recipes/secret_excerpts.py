"""Hide the values of declared secrets in messages about a recipe file, which quote its lines.

Used only where something is wrong with the file, so it may take its time, and the file may be no YAML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from amplihack.documents import Document, Mapping, Node, Scalar, Sequence
from amplihack.errors import DocumentError, Problem
from amplihack.patterns import pattern
from amplihack.recipes.model import Recipe
from amplihack.recipes.secret_forms import leaves
from amplihack.recipes.secret_spellings import escaped
from amplihack.recipes.values import to_text
from amplihack.records import replace

_SHORTEST = 4  # as in other texts: hiding every "5" would spoil the message
_LIST = pattern(r"(?m)^[\"']?secrets[\"']?\s*:\s*\[([^\]]*)\]")
_BLOCK = pattern(r"(?m)^[\"']?secrets[\"']?\s*:[ \t]*(?:#.*)?\n((?:[ \t]*-[ \t]*.*\n?|[ \t]*\n)+)")
_NAME = pattern(r"[\w.-]+")


def without_secrets(problems: tuple[Problem, ...], document: Document) -> tuple[Problem, ...]:
    """Return the problems of a file with the values of its secrets hidden."""
    names = _names(document.source.text)
    root = document.root
    return hide(problems, _values(names, root) if names and isinstance(root, Mapping) else ())


def hide_in_error(error: DocumentError, data: bytes | str) -> DocumentError:
    """Return the error about a text that is no YAML, with the values of its secrets hidden."""
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    (hidden,) = hide(error.problems, _guessed(_names(text), text))
    return DocumentError(hidden.what, where=hidden.where, fix=hidden.fix)


def hide_defaults(problems: tuple[Problem, ...], recipe: Recipe) -> tuple[Problem, ...]:
    """Return the findings about a recipe with the defaults of its secrets hidden."""
    values = (recipe.context[name] for name in recipe.secrets & recipe.context.keys())
    return hide(
        problems, (text for value in values for leaf in leaves(value) for text in escaped(to_text(leaf)))
    )


def hide(problems: tuple[Problem, ...], texts: Iterable[str]) -> tuple[Problem, ...]:
    """Return the problems with these texts hidden, and each of their lines."""
    lines = {line.strip() for text in texts for line in (text, *text.splitlines())}
    hidden = sorted((line for line in lines if len(line) >= _SHORTEST), key=len, reverse=True)
    return tuple(_hide(problem, hidden) for problem in problems) if hidden else problems


def _hide(problem: Problem, texts: list[str]) -> Problem:
    where = problem.where
    for text in texts:
        if where is not None and text in where.text:
            where = replace(where, text=where.text.replace(text, "*" * len(text)))
    return replace(problem, what=_masked(problem.what, texts), fix=_masked(problem.fix, texts), where=where)


def _masked(text: str, hidden: list[str]) -> str:
    for each in hidden:
        text = text.replace(each, "***")
    return text


def _names(text: str) -> set[str]:
    """Return what the text seems to call secret, also where it is no YAML."""
    if "secrets" not in text:
        return set()
    lists = [*_LIST.findall(text), *_BLOCK.findall(text)]
    return {
        name for each in lists for line in each.splitlines() for name in _NAME.findall(line.split(" #")[0])
    }


def _values(names: set[str], root: Mapping) -> Iterator[str]:
    """Yield what the file gives these variables, wherever it does."""
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Sequence):
            waiting += node.items
        elif isinstance(node, Mapping):
            waiting += node.entries.values()
            yield from _texts(node.entries[name] for name in names & node.entries.keys())
            yield from _texts(_default(node, names))


def _default(node: Mapping, names: set[str]) -> Iterator[Node]:
    """Yield the default of an input that is written as `{name: …, default: …}`."""
    name = node.entries.get("name")
    if isinstance(name, Scalar) and name.text in names and "default" in node.entries:
        yield node.entries["default"]


def _texts(nodes: Iterable[Node]) -> Iterator[str]:
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Scalar):
            yield from (node.text, _as_written(node))
        else:
            waiting += node.items if isinstance(node, Sequence) else node.entries.values()


def _as_written(node: Scalar) -> str:
    """Return the text of one line with the escapes of its quotes; of a plain one, the comment behind it."""
    line = node.source.lines[node.line][node.column :] if node.line < len(node.source.lines) else ""
    if node.style == "plain" and line.startswith(node.text):
        rest = line[len(node.text) :].strip()
        return rest if rest.startswith("#") else ""  # a comment for YAML, and for its author perhaps not
    if node.style != "quoted" or line[:1] not in ("'", '"'):
        return ""
    end = re.match(r"'((?:[^']|'')*)'|\"((?:[^\"\\]|\\.)*)\"", line)
    return (end[1] or end[2] or "") if end else line[1:]


def _guessed(names: set[str], text: str) -> Iterator[str]:
    """Yield what seems to be the value of a name in a text that cannot be read."""
    for name in names:
        for found in re.finditer(rf"(?m)(?:^|[\s{{,\"'-]){re.escape(name)}[\"']?[ \t]*[:=][ \t]*(.+)$", text):
            yield from (found[1].strip(" \"'{}[],"), re.split(r"[,}]", found[1])[0].strip(" \"'"))
        # A value in the lines below, each further right than the name or an item of a list.
        for found in re.finditer(
            rf"(?m)^([ \t]*)[\"']?{re.escape(name)}[\"']?[ \t]*:.*\n((?:\1(?:[ \t]+|-[ \t]).*\n?|[ \t]*\n)+)",
            text,
        ):
            yield from (
                part.strip(" \"'{}[],-")
                for line in found[2].splitlines()
                for part in re.split(r":\s|,", line)[-8:]
            )
