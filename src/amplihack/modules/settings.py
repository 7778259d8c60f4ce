"""Read the `config` of a module: typed, with all problems told at once and unknown names told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from amplihack.documents.suggest import closest
from amplihack.errors import InputError
from amplihack.modules.notices import tell

T = TypeVar("T")


class ModuleConfigError(InputError):
    """Raised when the `config` of a module cannot be used."""


class ModuleSettings:
    """The settings of one module. Ask for each, then call `done`, which raises what was wrong.

    Bundles of the ecosystem have other names for some: `also` maps theirs to ours, and what they write inside
    of one of `groups` counts as if it were written outside.
    """

    def __init__(
        self,
        coordinator: Any,
        module: str,
        config: Mapping[str, Any] | None,
        *,
        also: Mapping[str, str] | None = None,
        groups: tuple[str, ...] = (),
    ) -> None:
        self._coordinator, self.module = coordinator, module
        self._given = dict(config or {})
        self._known: set[str] = set()
        self._problems: list[str] = []
        for group in groups:
            inner = self._given.pop(group, None)
            if isinstance(inner, Mapping):
                self._given = {**inner, **self._given}
            elif inner is not None:
                self.wrong(f"{group!r} must be a mapping, not {inner!r:.80}")
        for theirs, ours in (also or {}).items():
            if theirs in self._given and ours not in self._given:
                self._given[ours] = self._given.pop(theirs)

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

    def no_approval(self) -> None:
        """Read `require_approval` of other modules of this name: asking is what hooks-approval is for."""
        if self.flag("require_approval", default=False):
            self.wrong("'require_approval' is what hooks-approval is for: add that under `hooks` instead")

    def wrong(self, problem: str) -> None:
        """Add a problem that the module found itself."""
        self._problems.append(problem)

    def done(self) -> None:
        """Tell of names that nobody asked for, and raise ModuleConfigError if anything was wrong."""
        for ignored in self._ignored():
            tell(self._coordinator, self.module, ignored)
        if self._problems:
            raise ModuleConfigError(
                f"{self.module}: {'; '.join(self._problems)}", fix=f"correct the `config` of {self.module}"
            )

    def _ignored(self) -> Iterator[str]:
        said = {str(name) for name, value in self._given.items() if value is not None}
        unknown = sorted(said - self._known)
        meant = {name: close for name in unknown if (close := closest(name, self._known))}
        for name, close in meant.items():
            yield f"the setting {name!r} is ignored: did you mean {close!r}?"
        if others := [repr(name) for name in unknown if name not in meant]:
            many = len(others) > 1
            what = f"the setting{'s' if many else ''} {', '.join(others)} {'are' if many else 'is'} ignored"
            yield f"{what}: it knows {', '.join(sorted(self._known))}"

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
