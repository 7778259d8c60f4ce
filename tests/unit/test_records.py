"""Records behave like frozen dataclasses with slots, however many instances there are."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle
import subprocess
import sys
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from amplihack.records import Record, RecordType, as_dict, field, field_names, replace

T = TypeVar("T")


class Point(Record):
    x: int
    y: int = 0
    note: str = field(default="", compare=False, repr=False)
    kind: ClassVar[str] = "point"


class Named(Record, kw_only=True):
    tags: list[str] = field(default_factory=list)
    name: str


class Child(Point):
    z: int = 3


class Box(Record, Generic[T], frozen=False):
    value: T


class Token(Record, frozen=False, eq=False):
    value: int


class Version(Record, order=True):
    major: int
    minor: int


class Empty(Record):
    pass


class Measured(Record, frozen=False):
    text: str
    size: int = 0

    def __post_init__(self) -> None:
        self.size = len(self.text)


# Classes change how they are made once they have many instances: every law is tried before and after.
@pytest.fixture(params=["few", "many"], autouse=True)
def instances(request: pytest.FixtureRequest) -> None:
    if request.param == "many":
        for _ in range(40):
            Point(1)
            Named(name="n")
            Child(1)
            Box(1)
            Measured("")


def test_fields_are_filled_by_place_by_name_and_by_default() -> None:
    assert (Point(1).x, Point(1).y, Point(1, 2).y, Point(y=5, x=4).y, Point.kind) == (1, 0, 2, 5, "point")


def test_a_factory_makes_a_new_value_each_time() -> None:
    one, two = Named(name="a"), Named(name="b")
    one.tags.append("x")
    assert (one.tags, two.tags, Named(name="c", tags=["y"]).tags) == (["x"], [], ["y"])


@pytest.mark.parametrize(
    ("cls", "args", "named"),
    [
        (Point, (), {}),
        (Point, (1, 2, "n", 4), {}),
        (Point, (1,), {"z": 1}),
        (Named, ("n",), {}),
        (Named, (), {}),
    ],
)
def test_a_wrong_call_is_refused(cls: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        cls(*args, **named)


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((), {"y": 1}, r"Fresh\(\) misses the field 'x'"),
        ((1,), {"z": 1, "w": 2}, r"Fresh\(\) has no place for z, w"),
        ((), {"y": 1, "z": 1}, r"Fresh\(\) misses the field 'x'"),  # as many as there are fields
        ((1, 2, 3), {}, r"Fresh\(\) takes fewer values without a name than 3"),
        ((1, 2), {"x": 3}, r"Fresh\(\) takes fewer values without a name than 2"),
    ],
)
def test_the_first_record_of_a_class_says_what_was_wrong_with_a_call(
    args: tuple[int, ...], named: dict[str, int], message: str
) -> None:
    class Fresh(Record):
        x: int
        y: int = 0

    made: Any = Fresh
    with pytest.raises(TypeError, match=message):
        made(*args, **named)


def test_a_default_that_is_made_is_made_anew_for_each_record_and_not_where_one_is_given() -> None:
    numbers = itertools.count(1)

    class Counting(Record):
        x: int
        made: int = field(default_factory=lambda: next(numbers))

    made = [Counting(0).made, Counting(x=0).made, Counting(0, 9).made, Counting(0, made=8).made]
    assert made == [1, 2, 9, 8]
    assert next(numbers) == 3


def test_the_same_field_twice_is_refused() -> None:
    with pytest.raises(TypeError):
        Point(1, x=2)  # type: ignore[misc]


def test_records_are_equal_by_their_compared_fields_and_their_class() -> None:
    assert Point(1, 2, "a") == Point(1, 2, "b")
    assert Point(1, 2) != Point(2, 1)
    assert Child(1) != Point(1)
    assert Empty() == Empty()
    assert len({Point(1), Point(1, note="n"), Point(2)}) == 2


def test_nothing_can_be_assigned() -> None:
    point: Any = Point(1)
    with pytest.raises(AttributeError, match="does not change"):
        point.x = 2
    with pytest.raises(AttributeError):
        del point.x
    with pytest.raises(AttributeError):
        point.other = 2


def test_a_mutable_record_can_be_assigned_and_not_hashed() -> None:
    box = Box(1)
    box.value = 2
    assert box == Box(2)
    with pytest.raises(TypeError):
        hash(box)


def test_identity_can_stand_for_equality() -> None:
    token = Token(1)
    assert token != Token(1)
    assert token in {token}


def test_order_follows_the_fields() -> None:
    assert sorted([Version(2, 0), Version(1, 9)]) == [Version(1, 9), Version(2, 0)]


def test_a_record_shows_its_fields() -> None:
    assert repr(Point(1, 2, "hidden")) == "Point(x=1, y=2)"


def test_patterns_match_by_place_and_by_name() -> None:
    match Point(1, 2):
        case Point(x, y=2):
            assert x == 1
        case _:
            raise AssertionError
    match Child(1, 2, "n", 4):
        case Point(_, _, _):
            pass
        case _:
            raise AssertionError


def test_replace_changes_what_it_is_told_and_nothing_else() -> None:
    assert replace(Child(1, 2, "n"), y=5) == Child(1, 5)
    assert replace(Child(1, 2, "n"), y=5).note == "n"
    with pytest.raises(TypeError, match="no field w"):
        replace(Point(1), w=1)


def test_records_can_be_copied_and_pickled() -> None:
    point = Point(1, 2, "n")
    for again in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):  # noqa: S301
        assert again == point
        assert again.note == "n"


def test_a_record_has_no_dictionary() -> None:
    assert not hasattr(Child(1), "__dict__")


def test_as_dict_goes_into_records_lists_and_maps() -> None:
    nested = Box({"points": (Point(1), [Point(2)])})
    flat = {"x": 1, "y": 0, "note": ""}
    assert as_dict(nested) == {"value": {"points": [flat, [{**flat, "x": 2}]]}}
    assert field_names(Child) == ("x", "y", "note", "z")


def test_the_functions_of_dataclasses_work_on_records() -> None:
    point: Any = Point(1, 2)
    assert dataclasses.replace(point, y=3) == Point(1, 3)
    assert dataclasses.asdict(point) == {"x": 1, "y": 2, "note": ""}
    assert [each.name for each in dataclasses.fields(point)] == ["x", "y", "note"]


class Busy(Record):
    fields: int

    def _key(self) -> int:
        return self.fields

    def _made(self) -> int:
        return self.fields + 1


def test_a_record_may_have_methods_of_any_name() -> None:
    assert (Busy(1)._key(), Busy(1)._made(), Busy(1) == Busy(1)) == (1, 2, True)


def test_what_a_record_works_out_is_there_from_the_start_and_after_a_change() -> None:
    assert Measured("abc").size == 3
    assert replace(Measured("abc"), text="ab").size == 2


_WITHOUT_GUARD = """
import sys, pytest
from amplihack.records import drop_guard

drop_guard()
others = "not nothing_can_be_assigned and not says_what_was_wrong and not process_of_our_own"
sys.exit(pytest.main([sys.argv[1], "-q", "-n", "0", "-p", "no:cacheprovider", "-k", others]))
"""


@pytest.mark.parametrize("count", range(1, 30))
@pytest.mark.parametrize("kw_only", [False, True])
def test_every_number_of_fields_is_filled_in_order(count: int, *, kw_only: bool) -> None:
    names = [f"field_{number}" for number in range(count)]
    body: dict[str, Any] = {"__annotations__": dict.fromkeys(names, "object"), names[-1]: "at last"}
    many: Any = RecordType("Many", (Record,), body, frozen=False, kw_only=kw_only)
    values = range(count - 1)
    given = dict(zip(names, values, strict=False)) if kw_only else {}
    for _ in range(12):
        made = many(**given) if kw_only else many(*values)
        assert [getattr(made, name) for name in names] == [*values, "at last"]
    with pytest.raises(TypeError):
        many(**given, field_0=1, field_x=2)
    if kw_only:
        with pytest.raises(TypeError):
            many(1)


def test_in_a_process_of_our_own_records_are_not_guarded_and_all_other_laws_hold() -> None:
    run = subprocess.run([sys.executable, "-c", _WITHOUT_GUARD, __file__], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
