"""List the packages that a module is installed with, in whichever of its files it says so. Nothing is run."""

from __future__ import annotations

import ast
import configparser
import posixpath
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from amplihack.bundles.ports import FileText, Texts
from amplihack.patterns import pattern
from amplihack.records import Record

_NAME = pattern(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_OTHER_FILE = pattern(r"(?:-r|--requirement)[ =]*(\S+)")
_FOLLOWED = 3  # files of requirements that name files of requirements


class Required(Record):
    """A package in one spelling, and the file that asks for it."""

    name: str
    file: str


def required_packages(directory: str, files: Texts) -> Iterator[Required]:
    """Return what a module needs when it is installed; what only its developers need is left out."""
    yield from _in(f"{directory}/pyproject.toml", files, _of_project)
    yield from _in(f"{directory}/setup.cfg", files, _of_settings)
    yield from _in(f"{directory}/setup.py", files, _of_script)
    yield from _of_list(f"{directory}/requirements.txt", files, _FOLLOWED)


def _in(file: str, files: Texts, read: Any) -> Iterator[Required]:
    text = text_at(file, files)
    yield from (Required(name, file) for name in (read(text) if text is not None else ()) if name)


def text_at(file: str, files: Texts) -> str | None:
    """Return the text of a file, None if there is none that can be read."""
    found = files.read(file) if files.is_file(file) else None
    return found.content if isinstance(found, FileText) else None


def at(data: object, *path: str) -> Any:
    """Return what lies under a path of keys, None if nothing does."""
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


def package_name(requirement: object) -> str:
    """Return the name of a required package in one spelling; empty for what names none."""
    found = _NAME.match(requirement.strip()) if isinstance(requirement, str) else None
    return one_spelling(found[0]) if found else ""


def one_spelling(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def required_by(data: Mapping[str, Any]) -> list[str]:
    """Return the packages that a project names, or those of poetry."""
    listed, poetry = at(data, "project", "dependencies"), at(data, "tool", "poetry", "dependencies")
    return [
        *(package_name(each) for each in (listed if isinstance(listed, list) else ())),
        *(package_name(each) for each in (poetry if isinstance(poetry, Mapping) else ())),
    ]


def _of_project(text: str) -> list[str]:
    try:
        return required_by(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError):
        return []  # told by who reads the rest of it


def _of_settings(text: str) -> list[str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return []
    listed = parser.get("options", "install_requires", fallback="")
    return [package_name(line) for line in listed.splitlines()]


def _of_script(text: str) -> list[str]:
    """Return what a script hands to `setup` as a list of texts."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    lists = [
        each.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for each in node.keywords
        if each.arg == "install_requires" and isinstance(each.value, ast.List | ast.Tuple)
    ]
    items = [item for each in lists for item in each.elts if isinstance(item, ast.Constant)]
    return [package_name(item.value) for item in items]


def _of_list(file: str, files: Texts, left: int) -> Iterator[Required]:
    for line in (text_at(file, files) or "").splitlines():
        other = _OTHER_FILE.match(line.strip())
        if other and left:
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(file), other[1]))
            yield from _of_list(beside, files, left - 1)
        elif name := package_name(line):
            yield Required(name, file)
