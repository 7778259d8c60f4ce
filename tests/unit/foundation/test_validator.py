"""What is wrong with a bundle, and what is missing before it can be mounted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_foundation import (
    Bundle,
    BundleValidationError,
    BundleValidator,
    ValidationResult,
    validate_bundle,
    validate_bundle_or_raise,
)
from amplifier_foundation.validator import (
    validate_bundle_completeness,
    validate_bundle_completeness_or_raise,
)

SESSION = {"orchestrator": "loop-basic", "context": {"module": "context-simple"}}


def test_an_error_makes_a_result_invalid_and_a_warning_does_not() -> None:
    result = ValidationResult()
    result.add_warning("w")
    assert (result.valid, result.warnings) == (True, ["w"])
    result.add_error("e")
    assert (result.valid, result.errors) == (False, ["e"])


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": ""}, "name"),
        ({"providers": [{"config": {}}]}, "providers[0] has no 'module'"),
        ({"tools": [{"module": "t"}, "bare"]}, "tools[1] should be a mapping, got str"),
        ({"hooks": [{"module": "h", "config": "text"}]}, "'config' should be a mapping"),
        ({"tools": "tool-bash"}, "tools should be a list, got str"),
        ({"session": "loop"}, "session should be a dict, got str"),
        ({"session": {"orchestrator": 3}}, "session.orchestrator"),
        ({"session": {"context": {"config": {}}}}, "session.context names neither"),
        ({"agents": {"a": "text"}}, "agents.a should be a mapping"),
        ({"providers": [{"module": "p"}, {"module": "p"}]}, "p is listed 2 times without an id"),
    ],
)
def test_each_structural_mistake_is_an_error(fields: dict[str, Any], said: str) -> None:
    bundle = Bundle(**{"name": "test", **fields})
    result = validate_bundle(bundle)
    assert not result.valid
    assert any(said in error for error in result.errors)
    with pytest.raises(BundleValidationError) as caught:
        validate_bundle_or_raise(bundle)
    assert str(caught.value) == "; ".join(result.errors)


def test_several_providers_of_a_kind_need_ids() -> None:
    assert validate_bundle(Bundle("t", providers=[{"module": "p"}, {"module": "p", "id": "2"}])).valid


def test_context_that_is_not_there_is_a_warning_and_strictly_an_error(tmp_path: Path) -> None:
    (tmp_path / "here.md").write_text("x")
    bundle = Bundle(
        "t", base_path=tmp_path, context={"here": tmp_path / "here.md", "lost": tmp_path / "lost.md"}
    )
    result = BundleValidator().validate(bundle)
    assert result.valid
    assert len(result.warnings) == 1
    assert "'lost'" in result.warnings[0]
    strict = BundleValidator(strict=True).validate(bundle)
    assert (strict.valid, len(strict.errors), strict.warnings) == (False, 1, [])
    bundle.base_path = None
    assert BundleValidator().validate(bundle).warnings == []


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({"providers": [{"module": "p"}]}, ["session", "orchestrator", "context"]),
        ({"providers": [{"module": "p"}], "session": {"context": "c"}}, ["orchestrator"]),
        ({"providers": [{"module": "p"}], "session": {"orchestrator": "o"}}, ["context"]),
        ({"session": SESSION}, ["provider"]),
    ],
)
def test_each_missing_part_makes_a_bundle_incomplete(fields: dict[str, Any], missing: list[str]) -> None:
    bundle = Bundle(**{"name": "partial", **fields})
    assert validate_bundle(bundle).valid
    result = validate_bundle_completeness(bundle)
    assert len(result.errors) == len(missing)
    assert all(word in error for word, error in zip(missing, result.errors, strict=True))
    with pytest.raises(BundleValidationError, match="incomplete for mounting"):
        validate_bundle_completeness_or_raise(bundle)


def test_a_whole_bundle_can_be_mounted() -> None:
    bundle = Bundle("whole", session=SESSION, providers=[{"module": "p"}])
    assert validate_bundle_completeness(bundle) == ValidationResult()
    validate_bundle_completeness_or_raise(bundle)
