"""Define immutable value classes at little import cost: `class Point(Record): x: int; y: int = 0`.

A record behaves like a class with `@dataclass(frozen=True, slots=True)`, and type checkers treat it as one.
That decorator writes the methods of each class as text, compiles them and makes the class a second time. It
costs 0.75 ms a class, and with hundreds of classes it was most of a command's start-up time. Here all classes
share their methods. Only a class with many instances gets a compiled `__init__` of its own, if none can be
borrowed.

Options follow the bases of a class: `frozen=False` allows assignment, `kw_only=True` requires field names,
`eq=False` compares by identity, `order=True` adds `<`, `repr=False` shows no fields (some hold whole files),
`cached=True` leaves room for cached properties.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar, Final, NoReturn, TypeVar, dataclass_transform

from amplihack.fillers import filler

_MANY: Final = 8  # instances after which compiling an `__init__` is worth its price


class _Absent:
    """Marks a field that has no default."""


_ABSENT: Final = _Absent()


class RecordField:
    """Tells how one field is filled, compared and shown."""

    __slots__ = ("compare", "default", "factory", "show")

    def __init__(self, default: Any, factory: Any, *, compare: bool, show: bool) -> None:
        self.default, self.factory = default, factory
        self.compare, self.show = compare, show


def field(
    *,
    default: Any = _ABSENT,
    default_factory: Callable[[], Any] | None = None,
    compare: bool = True,
    repr: bool = True,  # noqa: A002 - the word that readers know from dataclasses
) -> Any:
    """Describe a field that needs more than a default value."""
    return RecordField(default, default_factory, compare=compare, show=repr)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class RecordType(type):
    """Turns annotations into slots before the class is made, which a decorator cannot do."""

    __record_defaults__: dict[str, Any]  # for each field its default, or more about it
    # Made when the first record is: most classes that a command loads never have one.
    __record_setters__: tuple[Callable[[Any, Any], None], ...]
    __record_values__: dict[str, Any]  # for each field that has one, the value it gets where none is given
    __record_makers__: dict[str, Callable[[], Any]]  # for others, what makes it
    __record_key__: Callable[[Any], Any]  # what two records are compared by
    __record_kw_only__: bool
    __record_made__: list[
        None
    ]  # one for each instance so far; a number would have to be assigned to the class

    def __new__(
        cls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        frozen: bool = True,
        kw_only: bool = False,
        eq: bool = True,
        order: bool = False,
        repr: bool = True,  # noqa: A002 - the word that readers know from dataclasses
        cached: bool = False,
    ) -> RecordType:
        own = _take_fields(namespace)
        fields = dict(own)
        if bases and bases != (Record,):
            inherited = [getattr(base, "__record_defaults__", {}) for base in bases]
            fields = {name: default for each in (*inherited, own) for name, default in each.items()}
        namespace["__slots__"] = (*own, "__dict__") if cached else tuple(own)
        namespace["__match_args__"] = () if kw_only else tuple(fields)
        namespace |= {"__record_defaults__": fields, "__record_kw_only__": kw_only, "__record_made__": []}
        namespace |= {"__record_setters__": (), "__record_key__": _first_key}
        namespace.setdefault("__init__", _init)  # not inherited: a base may have got one of its own
        if not frozen:
            namespace |= {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
            namespace.setdefault("__hash__", None)
        if not eq:
            namespace |= {"__eq__": object.__eq__, "__hash__": object.__hash__}
        if order:
            namespace["__lt__"] = _less
        if not repr:
            namespace["__repr__"] = object.__repr__
        return super().__new__(cls, name, bases, namespace)

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **_: bool) -> None:
        super().__init__(name, bases, namespace)


def _take_fields(namespace: dict[str, Any]) -> dict[str, Any]:
    """Remove the fields from a class body and return them. A default would block the slot of its name."""
    return {
        name: namespace.pop(name, _ABSENT)
        for name, annotation in namespace.get("__annotations__", {}).items()
        # With `from __future__ import annotations` an annotation is plain text; evaluating it would be slow.
        if "ClassVar" not in str(annotation)
    }


def _prepare(cls: Any) -> tuple[Callable[[Any, Any], None], ...]:
    """Get a class ready for its first record. Returns what fills the fields."""
    defaults: dict[str, Any] = cls.__record_defaults__
    fields = {name: _described(default) for name, default in defaults.items()}
    compared = [name for name, each in fields.items() if each.compare]
    cls.__record_key__ = attrgetter(*compared) if compared else _nothing
    cls.__record_values__ = {
        name: each.default for name, each in fields.items() if each.default is not _ABSENT
    }
    cls.__record_makers__ = {name: each.factory for name, each in fields.items() if each.factory is not None}
    # Slot setters write the fields of a frozen record without going through its `__setattr__`.
    setters = tuple(getattr(cls, name).__set__ for name in defaults)
    cls.__record_setters__ = setters
    return setters


def _described(default: Any) -> RecordField:
    if isinstance(default, RecordField):
        return default
    return RecordField(default, None, compare=True, show=True)


def _first_key(record: Any) -> Any:
    _prepare(type(record))
    return type(record).__record_key__(record)


def _init(self: Any, /, *args: Any, **named: Any) -> None:
    """Fill the fields. Shared by all classes until one has many instances."""
    cls: Any = type(self)
    made: list[None] = cls.__record_made__
    made.append(None)
    setters = cls.__record_setters__ or _prepare(cls)
    own = (len(made) == 1 and _borrowed_init(cls)) or (len(made) > _MANY and _compiled_init(cls))
    if own:
        cls.__init__ = own
        own(self, *args, **named)
        return
    whole = not named and len(args) == len(setters) and not cls.__record_kw_only__
    for put, value in zip(setters, args if whole else _completed(cls, args, named), strict=True):
        put(self, value)
    self.__post_init__()


def _completed(cls: Any, args: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    """Return a value for each field. Raises TypeError if the values given do not fit the fields."""
    given = named
    if args:
        given = dict(zip(cls.__record_defaults__, args))  # noqa: B905 - too many are told below
        given.update(named)
        if cls.__record_kw_only__ or len(given) < len(args) + len(named):
            raise TypeError(f"{cls.__name__}() takes fewer values without a name than {len(args)}")
    values = {**cls.__record_values__, **given}
    for name, make in cls.__record_makers__.items():
        if name not in given:
            values[name] = make()
    try:
        filled = [values[name] for name in cls.__record_defaults__]
    except KeyError as error:
        raise TypeError(f"{cls.__name__}() misses the field '{error.args[0]}'") from None
    if len(values) > len(filled):
        unknown = [name for name in given if name not in cls.__record_defaults__]
        raise TypeError(f"{cls.__name__}() has no place for {', '.join(unknown)}")
    return filled


def _borrowed_init(cls: Any) -> Callable[..., None] | None:
    """Return an `__init__` for a class that anybody may assign to, if nothing has to be made or checked."""
    if not _is_free(cls) or cls.__record_makers__ or cls.__post_init__ is not Record.__post_init__:
        return None
    return filler(cls.__qualname__, field_names(cls), cls.__record_values__, kw_only=cls.__record_kw_only__)


def _is_free(cls: Any) -> bool:
    """Tell whether fields can be assigned to, which takes half the time of the setters of slots."""
    return cls.__setattr__ is object.__setattr__


def _compiled_init(cls: Any) -> Callable[..., None]:
    """Return an `__init__` for this class alone, several times as fast as the shared one.

    One expression fills all fields, and the defaults are set afterwards: that compiles in half the time.
    """
    setters: tuple[Any, ...] = cls.__record_setters__
    free = _is_free(cls)
    scope: dict[str, Any] = {"absent": _ABSENT}
    defaults: dict[str, Any] = cls.__record_defaults__
    optional: dict[str, Any] = {}
    parameters, parts = ["self", "/", *(["*"] if cls.__record_kw_only__ and defaults else [])], []
    for number, (name, put) in enumerate(zip(defaults, setters, strict=True)):
        each = _described(defaults[name])
        scope[f"put{number}"], value = put, name
        parameters.append(name)
        if each.factory is not None:
            scope[f"make{number}"], optional[name] = each.factory, _ABSENT
            value = f"make{number}() if {name} is absent else {name}"
        elif each.default is not _ABSENT:
            optional[name] = each.default
        parts.append(f"self.{name} = {value}" if free else f"put{number}(self, {value})")
    if cls.__post_init__ is not Record.__post_init__:
        parts.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}): {('; ' if free else ', ').join(parts) or 'pass'}", scope)  # noqa: S102 - our own names
    made: Any = scope["__init__"]
    if cls.__record_kw_only__:
        made.__kwdefaults__ = optional
    else:
        made.__defaults__ = tuple(optional.values())
    init: Callable[..., None] = made
    return init


def _less(self: Any, other: Any) -> Any:
    cls = type(self)
    return cls.__record_key__(self) < cls.__record_key__(other) if type(other) is cls else NotImplemented


def _nothing(_record: Any) -> tuple[()]:
    return ()


class _DataclassFields:
    """Lets `dataclasses.replace`, `fields` and `asdict` work on records. Computed on first use."""

    def __get__(self, _record: object, cls: RecordType) -> Any:
        from dataclasses import make_dataclass  # deferred: it costs more than all of this file

        alike: Any = make_dataclass(cls.__name__, field_names(cls))
        return alike.__dataclass_fields__


class Record(metaclass=RecordType):
    """A value that is compared, hashed and shown by its fields."""

    __dataclass_fields__: ClassVar[Any] = _DataclassFields()

    def __post_init__(self) -> None:
        """Run after the fields are filled. A subclass overrides it to check or derive values."""

    def __setattr__(self, name: str, _value: object) -> NoReturn:
        raise AttributeError(f"cannot assign to '{name}': {type(self).__name__} does not change")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete '{name}': {type(self).__name__} does not change")

    def __eq__(self, other: object) -> bool:
        cls = type(self)
        return (
            bool(cls.__record_key__(self) == cls.__record_key__(other))
            if type(other) is cls
            else NotImplemented
        )

    def __hash__(self) -> int:
        return hash(type(self).__record_key__(self))

    def __repr__(self) -> str:
        fields = type(self).__record_defaults__.items()
        shown = (f"{name}={getattr(self, name)!r}" for name, each in fields if _described(each).show)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Let records be copied and pickled, though nobody can assign to them."""
        return _restore, (type(self), _copying(type(self))[0](self))


def drop_guard() -> None:
    """Let records be assigned to, in this whole process: filling a frozen one takes twice as long.

    For a process that runs our code alone, in which the type checker has refused every assignment.
    """
    del Record.__setattr__, Record.__delattr__


_R = TypeVar("_R", bound=Record)


def _restore(cls: type[_R], values: tuple[Any, ...]) -> _R:
    made = cls.__new__(cls)
    for put, value in zip(cls.__record_setters__ or _prepare(cls), values, strict=True):
        put(made, value)
    return made


def replace(record: _R, /, **changes: Any) -> _R:
    """Return a copy of a record with some fields changed. Raises TypeError for an unknown field name."""
    cls = type(record)
    values, setters = _copying(cls)
    made = _restore(cls, values(record))
    try:
        for name, value in changes.items():
            setters[name](made, value)
    except KeyError as error:
        raise TypeError(f"{cls.__name__} has no field {error.args[0]}") from None
    made.__post_init__()
    return made


@cache
def _copying(
    cls: RecordType,
) -> tuple[Callable[[Any], tuple[Any, ...]], Mapping[str, Callable[[Any, Any], None]]]:
    """Return what gets all fields of a record at once, and the setters of its fields by name."""
    names = field_names(cls)
    setters = dict(zip(names, cls.__record_setters__ or _prepare(cls), strict=True))
    if len(names) > 1:
        return attrgetter(*names), setters
    return lambda record: tuple(getattr(record, name) for name in names), setters


def field_names(cls: RecordType) -> tuple[str, ...]:
    """Return the names of the fields, in order."""
    return tuple(cls.__record_defaults__)


def as_dict(record: Record) -> dict[str, Any]:
    """Return the fields by name, with nested records converted too, ready for JSON."""
    return {name: _plain(getattr(record, name)) for name in field_names(type(record))}


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return as_dict(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
