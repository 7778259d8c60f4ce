from __future__ import annotations

import pytest
from tests.support.decoded import recipe

from amplihack.recipes.decode import Decoded, decode_text
from amplihack.recipes.model import Approval, Backoff, RateLimit, Text

# stages

STAGES = "name: n\nversion: 1.0.0\nstages:\n"


def test_stages_hold_steps_conditions_and_gates() -> None:
    found = recipe(
        STAGES
        + """\
- name: one
  condition: "{{x}}"
  steps: [{id: a, command: ls, type: bash}]
  approval: {required: true, prompt: "ok {{a}}?", when: before, timeout: 60, default: approve}
- name: two
  approval: {required: false}
  steps: [{id: b, command: ls, type: bash}]
"""
    )
    assert [stage.name for stage in found.stages] == ["one", "two"]
    assert [each.id for each in found.steps] == ["a", "b"]
    assert found.stages[0].approval == Approval(
        Text("ok {{a}}?"), before=True, timeout=60, approve_by_default=True
    )
    assert found.stages[1].approval is None
    assert found.stages[0].condition is not None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("- name: s\n  steps: [{id: a, command: ls}]\nsteps: [{id: b, command: ls}]",
         "a recipe has steps or stages, not both"),
        ("- {name: s, steps: [{id: a, command: ls}]}\n- {name: s, steps: [{id: b, command: ls}]}",
         'two stages are called "s"'),
        ("- {name: s, steps: [{id: a, command: ls}]}\n- {name: t, steps: [{id: a, command: ls}]}",
         "Duplicate step id: 'a'"),
        ("- {name: s, steps: [{id: a, command: ls}], approval: true}", "'approval' should be a map"),
        ("- {name: s}", "Stage 's': has no steps"),
        ("- {steps: [{id: a, command: ls}]}", "every stage needs a 'name'"),
        ("- word", "each of stages should be a mapping"),
    ],
)  # fmt: skip
def test_stages_that_do_not_fit_together_are_errors(text: str, what: str) -> None:
    found = decode_text(STAGES + text).problems
    assert any(what in problem.what and problem.severity == "error" for problem in found)


# nested tables


def test_rate_limits_have_defaults() -> None:
    def limit(text: str) -> RateLimit | None:
        return recipe(
            f"name: n\nversion: 1.0.0\nrate_limiting: {text}\nsteps: [{{id: a, type: bash, command: ls}}]"
        ).rate_limit

    assert limit("~") is None
    assert limit("{}") == RateLimit(None, 0, Backoff())
    assert limit("{max_concurrent_llm: 2, min_delay_ms: 5, backoff: {enabled: false}}") == RateLimit(
        2, 5, None
    )
    assert limit(
        "{backoff: {initial_delay_ms: 1, max_delay_ms: 2, multiplier: 1.5, reset_after_success: 4}}"
    ) == (RateLimit(None, 0, Backoff(1, 2, 1.5, 4)))
    assert limit(
        "{backoff: {initial_delay_ms: 0, max_delay_ms: 0, multiplier: 0, reset_after_success: 0}}"
    ) == (RateLimit(None, 0, Backoff(0, 0, 0.0, 0)))


def test_settings_for_sessions_are_handed_over() -> None:
    found = recipe(
        "name: n\nversion: 1.0.0\norchestrator: {config: {a: {b: 1}}}\nsteps: [{id: a, command: ls}]"
    )
    assert found.session_config == {"a": {"b": 1}}


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        ("recursion: {max_dept: 1}", "recursion: unrecognized field 'max_dept'", "max_depth"),
        ("hooks: {pre_stp: x}", "hooks: unrecognized field 'pre_stp'", "pre_step"),
        (
            "rate_limiting: {backoff: {enable: true}}",
            "rate_limiting.backoff: unrecognized field 'enable'",
            "enabled",
        ),
        ("orchestrator: {confg: {}}", "orchestrator: unrecognized field 'confg'", "config"),
    ],
)
def test_nested_tables_know_their_fields(text: str, what: str, fix: str) -> None:
    document = decode_text(f"name: n\nversion: 1.0.0\n{text}\nsteps: [{{id: a, command: ls}}]")
    (warning,) = document.warnings
    assert warning.what == f"{what} (possible typo)"
    assert warning.fix == f"did you mean '{fix}'?"


def test_the_fields_of_a_retry_are_known_by_their_step() -> None:
    document = decode_text("name: n\nsteps: [{id: a, command: ls, retry: {max_attemps: 2}}]")
    assert [problem.what for problem in document.warnings] == [
        "Step 'a': retry: unrecognized field 'max_attemps' (possible typo)"
    ]


def test_a_version_of_another_form_is_a_warning_in_the_amplifier_dialect_only() -> None:
    def codes(dialect: str) -> list[str]:
        text = f"name: n\nversion: 1.2\ndialect: {dialect}\nsteps: [{{id: a, command: ls}}]"
        found: Decoded = decode_text(text)
        return [problem.code for problem in found.problems]

    assert codes("amplihack") == []
    assert codes("amplifier") == ["version-form"]


@pytest.mark.parametrize(
    ("approval", "prompt", "before"),
    [
        ("", "Stage 's' is done. Go on?", False),
        ("{}", "Stage 's' is done. Go on?", False),
        ("{required: true}", "Stage 's' is done. Go on?", False),
        ("{when: before}", "Stage 's' is about to begin. Go on?", True),
        ("{when: before_stage}", "Stage 's' is about to begin. Go on?", True),
        ("{when: after_stage}", "Stage 's' is done. Go on?", False),
        ("{prompt: Sure?}", "Sure?", False),
    ],
)
def test_approval_is_a_gate_unless_it_says_otherwise(approval: str, prompt: str, before: bool) -> None:
    text = f"name: n\nstages:\n- name: s\n  approval: {approval}\n  steps: [{{id: a, command: ls}}]\n"
    gate = decode_text(text).required().stages[0].approval
    assert gate is not None
    assert (gate.prompt.text, gate.before) == (prompt, before)


@pytest.mark.parametrize(
    ("gate", "late"),
    [
        ("approval:", True),
        ("approval: {prompt: 'Publish?'}", True),
        ("approval: {when: before}", False),
        ("approval: {when: after}", False),
        ("approval: {required: false}", False),
    ],
)
def test_a_gate_behind_the_last_steps_is_told_unless_it_is_meant(gate: str, late: bool) -> None:
    last = f"- name: two\n  steps: [{{id: b, command: ls}}]\n  {gate}\n"
    found = decode_text(STAGES + last, "r.yaml")
    assert ["late-gate"] * late == [each.code for each in found.warnings]
    earlier = decode_text(STAGES + last + "- name: three\n  steps: [{id: c, command: ls}]\n", "r.yaml")
    assert earlier.warnings == ()
