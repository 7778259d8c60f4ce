from __future__ import annotations

import pytest

from amplihack.errors import RecipeError
from amplihack.recipes.decode import decode_text
from amplihack.recipes.extends import Located, merge, resolve_extends
from amplihack.recipes.model import Bash, Body, Recipe, Text


def resolve(start: str, **files: str) -> Recipe:
    """`start` with its ancestors, found by name among `files`."""
    found = {name: decode_text(text, f"{name}.yaml").required() for name, text in files.items()}

    def find(wanted: Text, _path: str | None) -> Located | None:
        parent = found.get(wanted.text)
        return Located(parent, f"{wanted.text}.yaml") if parent else None

    return resolve_extends(Located(found[start], f"{start}.yaml"), find)


def ids(recipe: Recipe) -> list[str]:
    return [step.id for step in recipe.steps]


def file(name: str, *steps: str, top: str = "") -> str:
    body = "".join(f"\n- {{id: {step}, command: 'echo {name}'}}" for step in steps)
    return f"name: {name}\n{top}\n" + (f"steps:{body}\n" if steps else "")


def test_the_parents_steps_come_first_over_three_levels() -> None:
    merged = resolve(
        "leaf",
        leaf=file("leaf", "l", top="extends: mid"),
        mid=file("mid", "m", top="extends: grand"),
        grand=file("grand", "g1", "g2"),
    )
    assert ids(merged) == ["g1", "g2", "m", "l"]
    assert (merged.name, merged.extends) == ("leaf", None)
    assert len(merged.stages) == 1


def test_a_recipe_that_extends_nothing_is_itself() -> None:
    assert ids(resolve("a", a=file("a", "x"))) == ["x"]


def test_a_child_needs_no_steps_of_its_own() -> None:
    assert ids(resolve("c", c=file("c", top="extends: p"), p=file("p", "x"))) == ["x"]


def test_the_childs_word_counts_and_silence_inherits() -> None:
    child = file("c", "y", top="""\
extends: p
tags: [b, c]
context: {x: child, own: 1}
recursion: {max_depth: 9}
hooks: {on_error: child}
context_validation: {own: nonempty}
secrets: [s2]""")  # fmt: skip
    parent = file("p", "x", top="""\
description: of the parent
version: 7.0.0
tags: [a, b]
context: {x: parent, y: 2}
inputs: [{name: own}, {name: needed}]
recursion: {max_depth: 2, max_total_steps: 50}
hooks: {pre_step: parent, on_error: parent}
context_validation: {x: nonempty}
secrets: [s1]
default_step_timeout: 5
output: "{{x}}\"""")  # fmt: skip
    merged = resolve("c", c=child, p=parent)
    assert merged.tags == ("a", "b", "c")
    assert merged.context == {"x": "child", "y": 2, "own": 1}
    assert merged.inputs == {"needed"}
    assert (merged.limits.max_depth, merged.limits.max_total_steps) == (9, 50)
    assert (merged.hooks.pre_step, merged.hooks.post_step, merged.hooks.on_error) == (
        Text("parent"), None, Text("child"),
    )  # fmt: skip
    assert merged.context_validation == {"x": "nonempty", "own": "nonempty"}
    assert merged.secrets == {"s1", "s2"}
    assert merged.default_step_timeout == 5
    assert merged.summary == Text("{{x}}")
    assert (merged.name, merged.description, merged.version) == ("c", "", "1.0.0")
    assert str(merged.context_places["x"]).startswith("c.yaml:")
    assert str(merged.context_places["y"]).startswith("p.yaml:")


def test_an_unknown_parent_is_located() -> None:
    with pytest.raises(RecipeError, match="Extends error: Parent recipe 'gone' not found") as caught:
        resolve("c", c=file("c", "x", top="extends: gone"))
    assert str(caught.value.where) == "c.yaml:2:10"


@pytest.mark.parametrize(
    "files",
    [
        {"a": file("a", "x", top="extends: a")},
        {"a": file("a", "x", top="extends: b"), "b": file("b", "y", top="extends: a")},
        {
            "a": file("a", "x", top="extends: b"),
            "b": file("b", "y", top="extends: c"),
            "c": file("c", "z", top="extends: b"),
        },
    ],
)
def test_a_cycle_is_refused(files: dict[str, str]) -> None:
    with pytest.raises(RecipeError, match=r"Circular extends detected: '\w' was already visited"):
        resolve("a", **files)


def test_two_steps_of_one_id_clash() -> None:
    with pytest.raises(RecipeError, match=r"Duplicate step id: 'x'") as caught:
        resolve("c", c=file("c", "y", "x", top="extends: p"), p=file("p", "x"))
    assert str(caught.value.where) == "c.yaml:5:8"
    assert "override: true" in caught.value.fix


def test_an_override_replaces_the_step_in_its_place() -> None:
    child = "name: c\nextends: p\nsteps:\n- {id: b, override: true, command: new}\n- {id: d, command: ls}\n"
    merged = resolve("c", c=child, p=file("p", "a", "b", "c"))
    assert ids(merged) == ["a", "b", "c", "d"]
    assert merged.steps[1].action == Bash(Text("new"))


def test_an_override_reaches_into_the_body_of_a_loop() -> None:
    parent = (
        "name: p\nsteps:\n- {id: l, foreach: [1], steps: [{id: a, command: old}, {id: b, command: ls}]}\n"
    )
    child = "name: c\nextends: p\nsteps:\n- {id: a, override: true, command: new}\n"
    merged = resolve("c", c=child, p=parent)
    assert ids(merged) == ["l"]
    body = merged.steps[0].action
    assert isinstance(body, Body)
    assert [(step.id, step.action) for step in body.steps] == [
        ("a", Bash(Text("new"))),
        ("b", Bash(Text("ls"))),
    ]


def test_a_step_inside_a_loop_of_the_child_cannot_replace_one_of_the_parent() -> None:
    loop = "{id: l, foreach: [1], steps: [{id: x, override: true, command: ls}]}"
    child = f"name: c\nextends: p\nsteps:\n- {loop}\n"
    with pytest.raises(RecipeError, match="Duplicate step id: 'x'"):
        resolve("c", c=child, p=file("p", "x"))


def test_stages_of_the_parent_come_before_those_of_the_child() -> None:
    parent = "name: p\nstages:\n- {name: one, steps: [{id: a, command: ls}]}\n"
    child = "name: c\nextends: p\nstages:\n- {name: two, steps: [{id: b, command: ls}]}\n"
    merged = resolve("c", c=child, p=parent)
    assert [stage.name for stage in merged.stages] == ["one", "two"]
    flat = resolve("c", c=file("c", "b", top="extends: p"), p=parent)
    assert [(stage.name, [step.id for step in stage.steps]) for stage in flat.stages] == [
        ("one", ["a"]),
        ("", ["b"]),
    ]


def test_the_same_relative_name_in_two_folders_is_not_a_circle() -> None:
    files = {
        ("a/base", None): Located(
            decode_text(file("inner", "i", top="extends: base")).required(), "a/base.yaml"
        ),
        ("base", "a/base.yaml"): Located(decode_text(file("outer", "o")).required(), "base.yaml"),
    }
    child = Located(decode_text(file("leaf", "l", top="extends: a/base")).required(), None)
    assert ids(resolve_extends(child, lambda wanted, path: files.get((wanted.text, path)))) == ["o", "i", "l"]


def test_an_override_that_replaced_something_is_done() -> None:
    parent = "name: p\nsteps:\n- {id: a, command: ls}\n"
    child = "name: c\nextends: p\nsteps:\n- {id: a, override: true, command: new}\n"
    typo = child + "- {id: aa, override: true, command: new}\n"
    merged = merge(decode_text(parent).required(), decode_text(typo).required())
    assert [(step.id, step.override) for step in merged.steps] == [("a", False), ("aa", True)]


def strict(recipe: Recipe) -> dict[str, bool]:
    return {step.id: step.action.strict for step in recipe.steps if isinstance(step.action, Bash)}


@pytest.mark.parametrize(
    ("parent", "child", "holds"),
    [
        ("strict_shell: true", "", True),
        ("", "strict_shell: true", True),
        ("strict_shell: true", "strict_shell: false", False),
        ("", "", False),
    ],
)
def test_what_is_said_of_the_shell_holds_for_own_and_inherited_steps(
    parent: str, child: str, holds: bool
) -> None:
    merged = resolve(
        "leaf",
        leaf=file("leaf", "l", top=f"extends: base\n{child}"),
        base=file("base", "b", top=parent),
    )
    assert strict(merged) == {"b": holds, "l": holds}


def test_a_step_that_says_itself_what_shell_it_wants_keeps_it() -> None:
    loose = "{id: b, command: ls, strict_shell: false}"
    base = f"name: base\nsteps:\n- {loose}\n- {{id: each, foreach: [1], steps: [{{id: c, command: ls}}]}}\n"
    merged = resolve("leaf", leaf="name: leaf\nextends: base\nstrict_shell: true\n", base=base)
    (first, loop) = merged.steps
    assert isinstance(first.action, Bash)
    assert isinstance(loop.action, Body)
    (inner,) = loop.action.steps
    assert isinstance(inner.action, Bash)
    assert (first.action.strict, inner.action.strict) == (False, True)


MARKED = "name: base\nsteps:\n- {id: b, command: 'echo $AMPLIFIER_PYTHON'}\n- {id: c, %scommand: ls}\n"


def test_a_step_that_would_mean_another_thing_in_the_dialect_of_the_child_is_not_inherited() -> None:
    child = file("leaf", "l", top="extends: base")
    with pytest.raises(RecipeError, match='"base" is read as `dialect: amplifier`') as caught:
        resolve("leaf", leaf=child, base=MARKED % "condition: flag, ")
    assert caught.value.fix == "state `dialect: amplifier` here, or `dialect: amplihack` there"


def test_two_dialects_that_make_no_difference_are_merged() -> None:
    child = file("leaf", "l", top="extends: base")
    assert ids(resolve("leaf", leaf=child, base=MARKED % "")) == ["b", "c", "l"]
    stated = file("leaf", "l", top="extends: base\ndialect: amplifier")
    assert ids(resolve("leaf", leaf=stated, base=MARKED % "condition: flag, ")) == ["b", "c", "l"]
