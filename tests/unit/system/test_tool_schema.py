from __future__ import annotations

from pathlib import Path

import pytest

from amplihack.bundles.tokens import (
    COLOR_GREEN,
    COLOR_ORANGE,
    COLOR_RED,
    COLOR_YELLOW,
    THRESHOLDS,
    color_tier,
    estimate_tokens,
)
from amplihack.system.tool_schema import estimate_module_tool_tokens

TWO_TOOLS = """
class First:
    name = "first"
    description = "What the first one does."

    @property
    def input_schema(self) -> dict:
        return {"type": "object", "properties": {"x": {"type": "string"}}}


class Second:
    @property
    def name(self) -> str:
        return "second"

    input_schema: dict = build_schema({"type": "object"})


class Hook:
    async def handle(self, event, data): ...
"""


def module(directory: Path, source: str) -> Path:
    package = directory / "amplifier_module_x"
    package.mkdir()
    (package / "__init__.py").write_text(source)
    return directory


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("abc", 0), ("abcde", 1), ("x" * 400, 100)])
def test_four_characters_are_a_token(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@pytest.mark.parametrize(
    ("tokens", "color"),
    [
        (299, COLOR_GREEN),
        (300, COLOR_YELLOW),
        (599, COLOR_YELLOW),
        (600, COLOR_ORANGE),
        (999, COLOR_ORANGE),
        (1000, COLOR_RED),
    ],
)
def test_a_colour_begins_at_its_threshold(tokens: int, color: str) -> None:
    assert color_tier(tokens, "tool_schema") == color


def test_every_category_has_rising_thresholds_and_others_are_refused() -> None:
    assert all(list(limits) == sorted(limits) for limits in THRESHOLDS.values())
    with pytest.raises(KeyError):
        color_tier(1, "nothing")


def test_the_tools_of_a_module_are_read_from_its_source(tmp_path: Path) -> None:
    cost = estimate_module_tool_tokens(module(tmp_path, TWO_TOOLS))
    assert cost is not None
    assert [tool["name"] for tool in cost["tools"]] == ["first", "second"]
    assert all(tool["schema_tokens"] > 0 for tool in cost["tools"])
    assert cost["tools"][0]["description_tokens"] == 6
    assert cost["tool_count"] == 2
    assert cost["total_tokens"] == sum(tool["total_tokens"] for tool in cost["tools"])


@pytest.mark.parametrize("source", ["", "class Hook:\n    pass\n", "class Bad:\n  def input_schema(self:\n"])
def test_a_module_without_readable_tools_costs_nothing_known(tmp_path: Path, source: str) -> None:
    assert estimate_module_tool_tokens(module(tmp_path, source)) is None


def test_a_module_that_is_not_there_costs_nothing_known(tmp_path: Path) -> None:
    assert estimate_module_tool_tokens(tmp_path / "missing") is None


SCHEMA = '{"type": "object", "properties": {"x": {"type": "string", "description": "What is wanted."}}}'
CASES = {
    "a constant": "return %s",
    "a local variable": "schema = %s\n        return schema",
    "a local variable with a type": "schema: dict = %s\n        return schema",
    "a constant of the module": "return SCHEMA",
    "a constant of the class": "return self.OWN",
    "a constant of the class by its name": "return Tool.OWN",
    "an attribute of the instance": "return self._schema",
    "a variable of a variable": "inner = SCHEMA\n        outer = inner\n        return outer",
    "a branch": "if self.x:\n            s = %s\n        else:\n            s = {}\n        return s",
    "one of two variables": "a, s = 1, %s\n        return s",
    "a variable that is set in passing": "return (s := %s)",
    "one of two returns": "if self.x:\n            return %s\n        return {}",
}
ROUGHLY = {
    "a method": "return self.build()",
    "a function": "return build()",
    "a copy": "return SCHEMA.copy()",
    "an update": "s = {}\n        s.update(SCHEMA)\n        return s",
}


@pytest.mark.parametrize("case", [*CASES, *ROUGHLY])
def test_a_schema_behind_a_name_counts(tmp_path: Path, case: str) -> None:
    body = {**CASES, **ROUGHLY}[case].replace("%s", SCHEMA)
    source = f"""
SCHEMA = {SCHEMA}
def build():
    made = SCHEMA
    return made
class Tool:
    OWN = {SCHEMA}
    name = "t"
    def build(self):
        return build()
    def __init__(self):
        self._schema = SCHEMA
    @property
    def input_schema(self):
        {body}
"""
    cost = estimate_module_tool_tokens(module(tmp_path, source))
    assert cost is not None
    found, expected = cost["tools"][0]["schema_tokens"], estimate_tokens(SCHEMA)
    assert found == expected if case in CASES else expected <= found <= expected + 5


IMPORTS = {
    "a name": ("from .schemas import SCHEMA", "SCHEMA"),
    "another name": ("from .schemas import SCHEMA as S", "S"),
    "a file": ("from . import schemas", "schemas.SCHEMA"),
    "the package's own name": ("from amplifier_module_x.schemas import SCHEMA", "SCHEMA"),
    "the package's own name, as another": ("import amplifier_module_x.schemas as s", "s.SCHEMA"),
    "an import of an import": ("from .others import SCHEMA", "SCHEMA"),
}


@pytest.mark.parametrize("case", IMPORTS)
def test_a_schema_of_another_file_of_the_package_counts(tmp_path: Path, case: str) -> None:
    statement, name = IMPORTS[case]
    package = (
        module(tmp_path, f"{statement}\nclass Tool:\n    input_schema = {name}\n") / "amplifier_module_x"
    )
    (package / "schemas.py").write_text(f"from .others import X\nINNER = {SCHEMA}\nSCHEMA = INNER\n")
    (package / "others.py").write_text("from .schemas import SCHEMA\n")
    cost = estimate_module_tool_tokens(tmp_path)
    assert cost is not None
    assert [each["schema_tokens"] for each in cost["tools"]] == [estimate_tokens(SCHEMA)]


def test_tools_of_other_files_of_the_package_count(tmp_path: Path) -> None:
    package = (
        module(tmp_path, "from .inner.tool import Tool\nfrom ... import outside\n") / "amplifier_module_x"
    )
    (package / "inner").mkdir()
    (package / "inner" / "tool.py").write_text(f"class Tool:\n    name = 'it'\n    input_schema = {SCHEMA}\n")
    (tmp_path.parent / "outside.py").write_text(f"class Other:\n    input_schema = {SCHEMA}\n")
    cost = estimate_module_tool_tokens(tmp_path)
    assert cost is not None
    assert [each["name"] for each in cost["tools"]] == ["it"]


def test_a_schema_that_an_instance_is_given_counts(tmp_path: Path) -> None:
    source = f"class Tool:\n    def __init__(self):\n        self.input_schema = {SCHEMA}\n"
    cost = estimate_module_tool_tokens(module(tmp_path, source))
    assert cost is not None
    assert cost["total_tokens"] >= estimate_tokens(SCHEMA)


def test_what_is_added_to_a_schema_counts(tmp_path: Path) -> None:
    source = """
class T:
    def input_schema(self):
        s = {"a": 1}
        s["b"] = {"c": "%s"}
        return s
"""
    cost = estimate_module_tool_tokens(module(tmp_path, source % ("x" * 400)))
    assert cost is not None
    assert cost["tools"][0]["schema_tokens"] > 100


def test_names_that_stand_for_many_names_are_counted_up_to_a_bound(tmp_path: Path) -> None:
    lines = ["a0 = 'x' * 9", *(f"a{n} = [{', '.join([f'a{n - 1}'] * 50)}]" for n in range(1, 9))]
    source = "\n".join((*lines, "class T:", "    input_schema = a8", "    description = b", "b = b", ""))
    cost = estimate_module_tool_tokens(module(tmp_path, source))
    assert cost is not None
    assert 0 < cost["total_tokens"] < 100_000
