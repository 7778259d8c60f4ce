"""List the packages that a module is installed with, in whichever of its files it says so. Nothing is run."""

from __future__ import annotations

import ast
import configparser
import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from amplihack.bundles.ports import FileText, Texts
from amplihack.patterns import pattern
from amplihack.records import Record

_NAME = pattern(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_OTHER_FILE = pattern(r"(?:-r|--requirement)[ =]*(\S+)")
_EDITABLE = pattern(r"(?:-e|--editable)[ =]*")
# What `pip` installs without a name before it: an address or a path, whose last part tells the name.
_PLACE = pattern(r"(?:[a-z+]+://|\.{0,2}/)[^\s;]*", re.IGNORECASE)
_EGG = pattern(r"#(?:.*&)?egg=([^&\[]+)")
_FILE_NAME = pattern(r"(.+?)(?:-\d.*)?(?:\.git|\.whl|\.zip|\.tar\.gz)?")
_FOLLOWED = 3  # files of requirements that name files of requirements
_LISTS = (("project", "dependencies"), ("tool", "flit", "metadata", "requires"))
# Where setuptools and hatch are told which other file lists the dependencies.
_OTHER_LISTS = (
    ("tool", "setuptools", "dynamic", "dependencies", "file"),
    ("tool", "hatch", "metadata", "hooks", "requirements_txt", "files"),
)


class Required(Record):
    """A package in one spelling, and the file that asks for it."""

    name: str
    file: str


def required_packages(directory: str, files: Texts) -> Iterator[Required]:
    """Return what a module needs when it is installed; what only its developers need is left out."""
    yield from _in(f"{directory}/pyproject.toml", files, _of_project)
    yield from _in(f"{directory}/setup.cfg", files, _of_settings)
    yield from _in(f"{directory}/setup.py", files, _of_script)
    for name in dict.fromkeys(("requirements.txt", *_named_lists(f"{directory}/pyproject.toml", files))):
        yield from _of_list(posixpath.normpath(f"{directory}/{name}"), files, _FOLLOWED)


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
    if not isinstance(requirement, str):
        return ""
    text = requirement.strip()
    place = _PLACE.match(text)
    found = _NAME.match(_name_of_place(place[0]) if place else text)
    return one_spelling(found[0]) if found else ""


def _name_of_place(place: str) -> str:
    """Return the name that an address or a path of a package ends with."""
    if egg := _EGG.search(place):
        return egg[1]
    last = place.partition("#")[0].rstrip("/").rpartition("/")[2].partition("@")[0]
    found = _FILE_NAME.fullmatch(last)
    return found[1] if found else ""


def one_spelling(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def required_by(data: Mapping[str, Any]) -> list[str]:
    """Return the packages that a project names, or those of poetry and flit."""
    poetry = at(data, "tool", "poetry", "dependencies")
    return [
        *(package_name(each) for path in _LISTS for each in _texts(at(data, *path))),
        *(package_name(each) for each in (poetry if isinstance(poetry, Mapping) else ())),
    ]


def _texts(value: object) -> list[str]:
    """Return the texts of a list, or the one that stands there alone."""
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]


def _named_lists(file: str, files: Texts) -> list[str]:
    data = _parsed(text_at(file, files) or "")
    return [each for path in _OTHER_LISTS for each in _texts(at(data, *path))]


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}  # told by who reads the rest of it


def _of_project(text: str) -> list[str]:
    return required_by(_parsed(text))


def _of_settings(text: str) -> list[str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return []
    listed = parser.get("options", "install_requires", fallback="")
    # As setuptools parts them; in one line `;` does, and begins no condition.
    return [package_name(each) for each in listed.split("\n" if "\n" in listed else ";")]


def _of_script(text: str) -> list[str]:
    """Return what a script hands to `setup`: the texts of the list, and of variables that make it up."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return []
    variables = {
        target.id: node.value
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    lists = [each for node in nodes for each in _handed_over(node)]
    lists += [variables[each.id] for part in lists for each in ast.walk(part) if _is_one_of(each, variables)]
    texts = [each.value for part in lists for each in ast.walk(part) if isinstance(each, ast.Constant)]
    return [package_name(line) for each in texts if isinstance(each, str) for line in each.splitlines()]


def _handed_over(node: ast.AST) -> Iterator[ast.expr]:
    """Return the values of `install_requires`, as an argument or as a key."""
    match node:
        case ast.keyword(arg="install_requires", value=value):
            yield value
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "install_requires":
                    yield value


def _is_one_of(node: ast.AST, variables: Mapping[str, ast.expr]) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id in variables


def _of_list(file: str, files: Texts, left: int) -> Iterator[Required]:
    for line in (text_at(file, files) or "").splitlines():
        other = _OTHER_FILE.match(line.strip())
        if other and left:
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(file), other[1]))
            yield from _of_list(beside, files, left - 1)
        elif name := package_name(_EDITABLE.sub("", line.strip(), 1)):
            yield Required(name, file)
