"""Which arguments functions of a script evaluate, at a cost that grows with the script alone."""

from __future__ import annotations

from amplihack.recipes.templates.bash.cursor import Body
from amplihack.recipes.templates.bash.function_arguments import EvaluatedArguments
from amplihack.recipes.templates.bash.value_flow import ValueFlow
from amplihack.recipes.templates.bash.whole_script import flow_of


class Reader:
    def __init__(self) -> None:
        self.bodies: list[str] = []

    def __call__(self, body: str) -> ValueFlow | None:
        self.bodies.append(body)
        return flow_of(body)


def functions(bodies: dict[str, str]) -> tuple[EvaluatedArguments, Reader]:
    found: dict[str, list[Body]] = {name: [(body, 0, len(body))] for name, body in bodies.items()}
    reader = Reader()
    return EvaluatedArguments(found, reader), reader


def test_each_function_is_read_once_however_often_it_is_called() -> None:
    bodies = {"f0": " (( n = $1 )) "}
    bodies |= {f"f{i}": f' f{i - 1} "$1"; f{i - 1} "$1"; f{i - 1} "$1"; ' for i in range(1, 30)}
    arguments, reader = functions(bodies)
    assert arguments.of("f29") == {1}
    assert all(arguments.of(name) == {1} for name in bodies)
    assert len(reader.bodies) == 30


def test_functions_that_call_themselves_or_many_others_may_evaluate_all() -> None:
    arguments, _ = functions(
        {"a": ' b "$1"; ', "b": ' a "$1"; '} | {f"f{i}": f" f{i + 1} $1; " for i in range(900)}
    )
    assert arguments.of("a") in (None, {1})
    assert arguments.of("f0") in (None, {1})
