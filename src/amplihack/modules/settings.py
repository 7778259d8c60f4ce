"""Read the `config` of a module: typed, with all problems told at once and unknown names told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from amplihack.documents.suggest import closest
from amplihack.errors import InputError
from amplihack.modules.notices import tell

T = TypeVar("T")


class ModuleConfigError(InputError):
    """Raised when the `config` of a module cannot be used."""


class ModuleSettings:
    """The settings of one module. Ask for each, then call `done`, which raises what was wrong."""

    def __init__(self, coordinator: Any, module: str, config: Mapping[str, Any] | None) -> None:
        self._coordinator, self.module = coordinator, module
        self._given = dict(config or {})
        self._known: set[str] = set()
        self._problems: list[str] = []

    def flag(self, name: str, default: bool) -> bool:
        return self._read(name, default, lambda value: isinstance(value, bool), "true or false")

    def text(self, name: str, default: str = "") -> str:
        return self._read(name, default, lambda value: isinstance(value, str), "a text")

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        return self._read(name, default, lambda value: value in choices, f"one of {', '.join(choices)}")

    def texts(self, name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        def are_texts(value: object) -> bool:
            return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)

        return tuple(self._read(name, default, are_texts, "a list of texts"))

    def mapping(self, name: str) -> dict[str, Any]:
        return self._read(name, {}, lambda value: isinstance(value, dict), "a mapping")

    def entries(self, name: str) -> list[dict[str, Any]]:
        def are_mappings(value: object) -> bool:
            return isinstance(value, list) and all(isinstance(each, dict) for each in value)

        return self._read(name, [], are_mappings, "a list of mappings")

    def count(self, name: str, default: int, *, least: int = 1) -> int:
        def fits(value: object) -> bool:
            return isinstance(value, int) and not isinstance(value, bool) and value >= least

        return self._read(name, default, fits, f"a whole number from {least}")

    def seconds(self, name: str, default: float | None) -> float | None:
        return self._read(name, default, _is_positive, "a number of seconds above 0")

    def number(self, name: str, default: float | None) -> float | None:
        return self._read(name, default, _is_positive, "a number above 0")

    def anything(self, name: str, default: Any = None) -> Any:
        """Return a value that the module checks itself."""
        return self._read(name, default, lambda _: True, "")

    def wrong(self, problem: str) -> None:
        """Add a problem that the module found itself."""
        self._problems.append(problem)

    def done(self) -> None:
        """Tell of names that nobody asked for, and raise ModuleConfigError if anything was wrong."""
        for name in self._given.keys() - self._known:
            meant = closest(name, self._known)
            hint = f"did you mean {meant!r}?" if meant else f"it knows {', '.join(sorted(self._known))}"
            tell(self._coordinator, self.module, f"the setting {name!r} is ignored: {hint}")
        if self._problems:
            raise ModuleConfigError(
                f"{self.module}: {'; '.join(self._problems)}", fix=f"correct the `config` of {self.module}"
            )

    def _read(self, name: str, default: T, fits: Callable[[object], bool], wanted: str) -> T:
        self._known.add(name)
        value = self._given.get(name)
        if value is None:
            return default
        if not fits(value):
            self._problems.append(f"{name!r} must be {wanted}, not {value!r:.80}")
            return default
        return value  # type: ignore[no-any-return]  # `fits` has looked at it


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
