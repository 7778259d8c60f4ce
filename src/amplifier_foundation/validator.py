"""Check whether a bundle is valid, and whether a session can be opened with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from amplifier_foundation.bundle._dataclass import Bundle
from amplifier_foundation.bundle._translation import sections_of, to_core
from amplihack.bundles import validate
from amplihack.bundles.context_files import check_context
from amplihack.bundles.errors import BundleValidationError, error_from
from amplihack.bundles.foundation.plain_bundle import field_problems, shape_problems
from amplihack.errors import Problem
from amplihack.system.bundle_files import BundleFiles

__all__ = [
    "BundleValidator",
    "ValidationResult",
    "validate_bundle",
    "validate_bundle_completeness",
    "validate_bundle_completeness_or_raise",
    "validate_bundle_or_raise",
]


@dataclass
class ValidationResult:
    valid: bool = True
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add_error(self, message: str) -> None:
        self.errors.append(message)
        self.valid = False

    def add_warning(self, message: str) -> None:
        self.warnings.append(message)


class BundleValidator:
    """Validates bundles. `strict` makes missing context files an error."""

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict

    def validate(self, bundle: Bundle) -> ValidationResult:
        return _result(self._problems(bundle))

    def validate_or_raise(self, bundle: Bundle) -> None:
        """Raise BundleValidationError with everything that is wrong."""
        _raise(self._problems(bundle))

    def validate_completeness(self, bundle: Bundle) -> ValidationResult:
        return _result(self._problems(bundle, complete=True))

    def validate_completeness_or_raise(self, bundle: Bundle) -> None:
        """Raise BundleValidationError with everything that is wrong or missing."""
        _raise(self._problems(bundle, complete=True))

    def _problems(self, bundle: Bundle, *, complete: bool = False) -> list[Problem]:
        core = to_core(bundle, tolerant=True)
        found = [*field_problems(vars(bundle)).values(), *shape_problems(sections_of(bundle), bundle.extra)]
        found += validate.validate_completeness(core) if complete else validate.validate(core)
        if bundle.base_path is not None:
            missing = check_context(core, BundleFiles()).problems
            found += [replace(each, severity="error") if self._strict else each for each in missing]
        return found


def validate_bundle(bundle: Bundle) -> ValidationResult:
    return BundleValidator().validate(bundle)


def validate_bundle_or_raise(bundle: Bundle) -> None:
    BundleValidator().validate_or_raise(bundle)


def validate_bundle_completeness(bundle: Bundle) -> ValidationResult:
    return BundleValidator().validate_completeness(bundle)


def validate_bundle_completeness_or_raise(bundle: Bundle) -> None:
    BundleValidator().validate_completeness_or_raise(bundle)


def _result(problems: Iterable[Problem]) -> ValidationResult:
    result = ValidationResult()
    for each in problems:
        add = {"error": result.add_error, "warning": result.add_warning}.get(each.severity)
        if add is not None:
            add(each.what)
    return result


def _raise(problems: list[Problem]) -> None:
    if any(each.severity == "error" for each in problems):
        raise error_from(BundleValidationError, tuple(problems))
