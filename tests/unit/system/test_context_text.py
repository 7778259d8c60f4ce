"""All variables as one JSON map, made of what changed alone."""

from __future__ import annotations

import json
import random

from amplihack.recipes.tracked_variables import TrackedValues
from amplihack.recipes.values import Value
from amplihack.system.context_text import ContextText


def text(context: ContextText, scope: dict[str, Value]) -> str:
    return b"".join(context.parts(scope)).decode("utf-8", "surrogateescape")


def expected(scope: dict[str, Value]) -> str:
    return json.dumps(scope, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def test_whatever_is_written_the_text_is_that_of_all_variables() -> None:
    chance = random.Random(1)
    context = ContextText()
    scope, other = TrackedValues({}), TrackedValues({"é": "\N{SNOWMAN}", "quote": '"'})
    for _ in range(400):
        for _ in range(chance.randrange(60)):
            name = f"v{chance.randrange(500)}"
            match chance.randrange(4):
                case 0:
                    scope.pop(name)
                case 1:
                    scope.update({name: chance.randrange(9), f"{name}_": [name]})
                case _:
                    scope[name] = name * chance.randrange(3)
        assert text(context, scope) == expected(scope)
        if chance.random() < 0.05:  # a step beside it
            assert text(context, other) == expected(other)
    for name in list(scope):
        del scope[name]
    assert text(context, scope) == "{}"


def test_unchanged_variables_are_not_encoded_again() -> None:
    context = ContextText()
    scope = TrackedValues({f"v{number:04}": number for number in range(1_000)})
    before = context.parts(scope)
    scope["v0500"] = "new"
    after = context.parts(scope)
    assert sum(one is other for one, other in zip(before, after, strict=True)) == len(before) - 1
