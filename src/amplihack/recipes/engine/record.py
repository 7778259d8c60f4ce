"""What every step has come to so far, so that a run that is cut short can still tell."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from amplihack.recipes.results import StepResult

CUT_SHORT = "interrupted before it was done"


@dataclass(slots=True)
class Record:
    """Results by the place they belong to: `""`, `deploy/` for a sub-recipe or body, `each[` for rounds."""

    _places: dict[str, dict[str, StepResult]] = field(default_factory=dict)

    def begin(self, place: str, blank: StepResult) -> None:
        unfinished = replace(blank, status="failed", error=CUT_SHORT)
        self._places.setdefault(place, {})[blank.identity] = unfinished

    def end(self, place: str, result: StepResult) -> None:
        """The result holds what happened inside it, so that is forgotten here."""
        self._places.setdefault(place, {})[result.identity] = result
        for inner in (f"{result.identity}/", f"{result.identity}["):
            self._places.pop(inner, None)

    def results(self, place: str = "") -> tuple[StepResult, ...]:
        """Everything that has begun there, in that order; what is not done yet is failed, with its parts."""
        return tuple(self._with_parts(result) for result in self._places.get(place, {}).values())

    def _with_parts(self, result: StepResult) -> StepResult:
        parts = self.results(f"{result.identity}/") + self.results(f"{result.identity}[")
        return replace(result, children=parts) if parts else result
