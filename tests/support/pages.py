"""The examples on a page of documentation: files to write, and commands with the answers they promise."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

_GENERATOR = Path(__file__).parents[2] / "docs" / "generate.py"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"`([\w.-]+\.yaml)`:?\s*\Z")
_RECIPE_NAME = re.compile(r"^name: *([\w-]+)", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block; `title` is the file that the words in front of it name."""

    language: str
    text: str
    title: str


@dataclass(frozen=True)
class Command:
    line: str
    answer: str  # what the page shows of its stdout; empty if it shows nothing


def blocks(page: str, language: str) -> list[Block]:
    found = []
    for match in _BLOCK.finditer(page):
        if match[1] == language:
            named = _NAME.search(page[: match.start()])
            found.append(Block(language, match[2], named[1] if named else ""))
    return found


def files(page: str) -> dict[str, str]:
    """Every YAML example by the file that it stands for."""
    return {_file_name(block): block.text for block in blocks(page, "yaml")}


def _file_name(block: Block) -> str:
    if block.title:
        return block.title
    name = _RECIPE_NAME.search(block.text)
    assert name, f"an example without a file name or a recipe name:\n{block.text}"
    return f"{name[1]}.yaml"


def commands(page: str) -> list[Command]:
    found: list[Command] = []
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            line, _, answer = part.partition("\n")
            found.append(Command(line.strip(), answer))
    return found


def generator() -> ModuleType:
    """Return the program that writes the generated pages, as a module."""
    spec = importlib.util.spec_from_file_location("docs_generate", _GENERATOR)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
