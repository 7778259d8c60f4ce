"""Decode the stages of a recipe, and the gates between them."""

from __future__ import annotations

from amplihack.documents import Mapping, Node, Scalar, Sequence
from amplihack.recipes.decode_missing import tell_missing_part
from amplihack.recipes.decode_steps import StepReader
from amplihack.recipes.fields import APPROVAL, STAGE
from amplihack.recipes.model import Approval, Stage, Text
from amplihack.recipes.reading import Fields, Report, is_blank, mappings, read_table


def read_stages(fields: Fields, reader: StepReader, report: Report, *, beside: bool) -> tuple[Stage, ...]:
    """Return the stages of a recipe; `beside` tells that it has steps as well, which is an error."""
    if beside:
        report.add(
            "steps-and-stages",
            "a recipe has steps or stages, not both",
            fields.where("stages"),
            "move the steps into a stage",
        )
    found = [
        _stage(node, reader, report)
        for node in mappings(fields.nodes["stages"], "stages", report, key="name")
    ]
    _unique_names(found, report)
    if found and "extends" not in fields:
        _tell_late_gate(found[-1], fields.nodes["stages"], report)
    return tuple(found)


def _unique_names(stages: list[Stage], report: Report) -> None:
    names: set[str] = set()
    for stage in stages:
        if stage.name in names:
            report.add(
                "duplicate-stage",
                f'two stages are called "{stage.name}"',
                stage.where,
                "give each stage a name of its own",
            )
        names.add(stage.name)


def _tell_late_gate(last: Stage, stages: Node, report: Report) -> None:
    """Warn of a gate behind the last stage by default: what it should guard is done by then."""
    node = stages.items[-1] if isinstance(stages, Sequence) else None
    gate = node.entries.get("approval") if isinstance(node, Mapping) else None
    stated = isinstance(gate, Mapping) and "when" in gate.entries
    if gate is not None and last.approval is not None and not stated:
        report.add(
            "late-gate",
            f"Stage '{last.name}': its gate stands behind the last steps, so nothing waits for it",
            gate.where,
            "add `when: before` to ask before its steps, or `when: after` if that is meant",
            "warning",
        )


def _stage(node: Mapping, reader: StepReader, report: Report) -> Stage:
    name_node = node.entries.get("name")
    name = name_node.text if isinstance(name_node, Scalar) else ""
    owner = f"Stage '{name}': "
    fields = read_table(node, STAGE, owner, report)
    reader.compare(fields, "condition")
    steps = reader.steps(fields.nodes.get("steps"), "steps")
    if is_blank(name_node):
        tell_missing_part("name", "every stage needs a 'name'", fields, STAGE, report)
    if not steps and "steps" not in fields.nodes:
        tell_missing_part("steps", f"{owner}has no steps", fields, STAGE, report)
    return Stage(
        name,
        steps,
        fields.test("condition"),
        _approval(node, name, owner, report),
        node.where,
    )


def _approval(stage: Mapping, name: str, owner: str, report: Report) -> Approval | None:
    """Return the gate of a stage. `approval:` is one by itself, so that none is lost by a forgotten word."""
    node = stage.entries.get("approval")
    if isinstance(node, Scalar) and node.absent:
        return Approval(Text(_question(name, before=False)))
    if not isinstance(node, Mapping):
        return None
    fields = read_table(node, APPROVAL, f"{owner}approval: ", report)
    if fields.flag("required") is False:
        return None
    if fields.word("default") == "approve" and not fields.number("timeout"):
        what = f"{owner}approval: 'default' has no effect without a 'timeout': the gate waits for an answer"
        fix = "add a `timeout:`, or remove it"
        report.add("no-effect", what, fields.where("default"), fix, "warning")
    before = fields.word("when") in ("before", "before_stage")
    return Approval(
        fields.text("prompt") or Text(_question(name, before=before)),
        before=before,
        timeout=fields.number("timeout") or 0.0,
        approve_by_default=fields.word("default") == "approve",
    )


def _question(stage: str, *, before: bool) -> str:
    return f"Stage '{stage}' is about to begin. Go on?" if before else f"Stage '{stage}' is done. Go on?"
