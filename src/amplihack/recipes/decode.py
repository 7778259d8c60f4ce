"""Decode the YAML of a recipe to a `Recipe`, with every problem of the file in one report."""

from __future__ import annotations

from typing import TypeVar

from amplihack.documents import Document, Mapping, Node, Scalar, Sequence, read_document
from amplihack.errors import DocumentError, Location, Problem, RecipeError
from amplihack.patterns import pattern
from amplihack.recipes.decode_inputs import read_inputs
from amplihack.recipes.decode_steps import StepReader
from amplihack.recipes.dialect import Verdict, detect
from amplihack.recipes.fields import (
    APPROVAL,
    BACKOFF,
    HOOKS,
    ORCHESTRATOR,
    RATE_LIMITING,
    RECIPE,
    STAGE,
)
from amplihack.recipes.model import (
    Approval,
    Backoff,
    Dependency,
    Hooks,
    RateLimit,
    Recipe,
    Stage,
    Step,
    Text,
    every_step,
)
from amplihack.recipes.reading import Fields, Report, mappings, read_table
from amplihack.recipes.rewritten_numbers import tell_rewritten
from amplihack.records import Record, replace

_N = TypeVar("_N", int, float)
_DESCRIBES_OUTPUT = frozenset({"template", "format", "schema", "type", "description"})
_STRICT_VERSION = pattern(r"\d+\.\d+\.\d+")


class Decoded(Record):
    """What a file says: the recipe, unless an error stands in the way, and all its problems."""

    recipe: Recipe | None
    problems: tuple[Problem, ...]
    verdict: Verdict
    differences: tuple[str, ...] = ()  # what the dialect changes in this file

    @property
    def told_dialect(self) -> str:
        """Say in which dialect the file was read; empty where it says so itself or it does not matter."""
        if self.verdict.stated or self.verdict.dialect == "amplihack" or not self.differences:
            return ""
        return (
            f"read as `dialect: amplifier`, because {self.verdict.reason}: {'; '.join(self.differences)}."
            " State `dialect:` to settle it"
        )

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "warning")

    def required(self) -> Recipe:
        """Return the recipe. Raises RecipeError with every error of the file."""
        errors = tuple(problem for problem in self.problems if problem.severity == "error")
        if self.recipe is None or errors:
            first = errors[0]
            raise RecipeError(first.what, where=first.where, fix=first.fix, found=errors)
        return self.recipe


def decode_text(data: bytes | str, name: str = "<recipe>") -> Decoded:
    """Read a recipe's text. Raises DocumentError when it is not YAML at all."""
    return decode(read_recipe(data, name))


def read_recipe(data: bytes | str, name: str) -> Document:
    """Read the YAML of a recipe. Raises DocumentError, which shows no value of a secret."""
    try:
        return read_document(data, name)
    except DocumentError as error:
        from amplihack.recipes.secret_excerpts import hide_in_error  # deferred: most files can be read

        raise hide_in_error(error, data) from error


def decode(document: Document) -> Decoded:
    """Decode a document. No problem of it shows a value of a secret."""
    decoded = _decode(document)
    if not decoded.problems:
        return decoded
    from amplihack.recipes.secret_excerpts import without_secrets  # deferred: most files have none

    return replace(decoded, problems=without_secrets(decoded.problems, document))


def _decode(document: Document) -> Decoded:
    report = Report(list(document.problems))
    if not isinstance(document.root, Mapping):
        kind = "a list" if isinstance(document.root, Sequence) else "a single value"
        what = f"YAML parse error: a recipe is a mapping, but this file holds {kind}"
        fix = _what_it_is(document.root) or "begin with `name:` and `steps:`"
        report.add("wrong-type", what, document.root.where, fix)
        return Decoded(None, report.in_file_order(), Verdict("amplihack"))
    verdict = detect(document.root)
    reader = StepReader(verdict.dialect, report)
    recipe = _recipe(document.root, verdict, reader, report)
    if " #" in document.source.text:
        from amplihack.recipes.cut_comments import tell_cut  # deferred: many files have no comments

        tell_cut(document.root, report)
    return Decoded(recipe, report.in_file_order(), verdict, tuple(sorted(reader.differences)))


def _recipe(root: Mapping, verdict: Verdict, reader: StepReader, report: Report) -> Recipe:
    fields = read_table(root, RECIPE, "", report)
    reader.strict_shell = fields.flag("strict_shell") or False
    reader.agents = {name: str(agent) for name, agent in fields.map("agents").items()}
    stages = _stages(fields, reader, report)
    _check_top(fields, stages, verdict, report)
    inputs = read_inputs(fields, reader, report)
    context = {**inputs.defaults, **inputs.values}
    tell_rewritten(fields.nodes.get("context"), report)
    orchestrator = fields.mapping("orchestrator")
    return Recipe(
        name=fields.word("name") or "",
        stages=stages,
        description=fields.word("description") or "",
        version=fields.word("version") or "1.0.0",
        author=fields.word("author") or "",
        tags=fields.words("tags"),
        dialect=verdict.dialect,
        dialect_matters=bool(reader.differences),
        strict_shell=fields.flag("strict_shell"),
        context=context,
        context_places=_places(fields.mapping("context")),
        declared=inputs.declared,
        inputs=frozenset(inputs.declared.keys() - context.keys()),
        context_validation={name: str(rule) for name, rule in fields.map("context_validation").items()},
        rule_places=_places(fields.mapping("context_validation")),
        secrets=frozenset(fields.words("secrets")),
        secret_places=_item_places(fields.nodes.get("secrets")),
        limits=reader.limits(fields, ""),
        hooks=_hooks(fields.mapping("hooks"), report),
        extends=fields.text("extends"),
        default_step_timeout=fields.number("default_step_timeout") or None,
        rate_limit=_rate_limit(fields.mapping("rate_limiting"), report),
        session_config=read_table(orchestrator, ORCHESTRATOR, "orchestrator: ", report).map("config")
        if orchestrator
        else {},
        summary=_summary(fields, report),
        dependencies=_dependencies(fields, report),
        where=root.where,
    )


def _dependencies(fields: Fields, report: Report) -> tuple[Dependency, ...]:
    if "dependencies" not in fields:
        return ()
    from amplihack.recipes.dependencies import read_dependencies  # deferred: most recipes have none

    return read_dependencies(fields.nodes["dependencies"], report)


def _check_top(fields: Fields, stages: tuple[Stage, ...], verdict: Verdict, report: Report) -> None:
    steps = tuple(step for stage in stages for step in stage.steps)
    if not (fields.word("name") or "").strip():
        report.add(
            "no-name", "Recipe must have a 'name' field", fields.where("name"), "add `name: what-it-does`"
        )
    if "extends" not in fields and not _has_items(fields, "steps") and not _has_items(fields, "stages"):
        report.add(
            "no-steps",
            "Recipe must have a 'steps' field with at least one step",
            fields.where("steps"),
            _what_it_is(fields.node) or "add `steps:` with one step",
        )
    _unique_ids(steps, report)
    version = fields.word("version")
    if verdict.dialect == "amplifier" and version and not _STRICT_VERSION.fullmatch(version):
        report.add(
            "version-form",
            f"version '{version}' is not of the form 1.2.3",
            fields.where("version"),
            "other runners of this dialect refuse it",
            "warning",
        )


def _what_it_is(root: Node) -> str:
    """Return what to do with a file of ours that is no recipe; empty for others."""
    name = root.source.name
    if isinstance(root, Mapping) and "bundle" in root.entries:
        return "this is a bundle: `amplihack bundle show` shows it, `bundle validate` checks it"
    items = root.items if isinstance(root, Sequence) else []
    if any(isinstance(each, Mapping) and {"reply", "error"} & each.entries.keys() for each in items):
        return f"these are answers of an agent: `--agent scripted:{name}` gives them to a recipe"
    return ""


def _has_items(fields: Fields, name: str) -> bool:
    node = fields.nodes.get(name)
    return node is not None and not (isinstance(node, Sequence) and not node.items)


def _unique_ids(steps: tuple[Step, ...], report: Report) -> None:
    first: dict[str, int] = {}
    for step in every_step(steps):
        if step.id and step.id in first:
            report.add(
                "duplicate-id",
                f'two steps are called "{step.id}"; the first is on line {first[step.id]}'
                f" (Duplicate step id: '{step.id}')",
                step.where,
                "give each step an id of its own",
            )
        first.setdefault(step.id, step.where.line)


def _stages(fields: Fields, reader: StepReader, report: Report) -> tuple[Stage, ...]:
    steps = reader.steps(fields.nodes.get("steps"), "steps")
    if "stages" not in fields.nodes:
        return (Stage("", steps, where=fields.where("steps")),)
    if steps:
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
    names: set[str] = set()
    for stage in found:
        if stage.name in names:
            report.add(
                "duplicate-stage",
                f'two stages are called "{stage.name}"',
                stage.where,
                "give each stage a name of its own",
            )
        names.add(stage.name)
    if found and "extends" not in fields:
        _tell_late_gate(found[-1], fields.nodes["stages"], report)
    return tuple(found)


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
    if not name.strip():
        report.add("no-name", "every stage needs a 'name'", node.where, "add `name: what-it-does`")
    if not steps and "steps" not in fields.nodes:
        report.add("no-steps", f"{owner}has no steps", node.where, "add `steps:` with one step")
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


def _hooks(node: Mapping | None, report: Report) -> Hooks:
    if node is None:
        return Hooks()
    fields = read_table(node, HOOKS, "hooks: ", report)
    return Hooks(fields.text("pre_step"), fields.text("post_step"), fields.text("on_error"))


def _rate_limit(node: Mapping | None, report: Report) -> RateLimit | None:
    if node is None:
        return None
    fields = read_table(node, RATE_LIMITING, "rate_limiting: ", report)
    if fields.count("max_concurrent_llm") == 0:
        what = "rate_limiting: 'max_concurrent_llm: 0' limits nothing"
        fix = "remove it, or write how many agents may run at the same time"
        report.add("no-effect", what, fields.where("max_concurrent_llm"), fix, "warning")
    inner = fields.mapping("backoff")
    return RateLimit(
        fields.count("max_concurrent_llm") or None,
        fields.count("min_delay_ms") or 0,
        _backoff(inner, report) if inner else Backoff(),
    )


def _backoff(node: Mapping, report: Report) -> Backoff | None:
    fields = read_table(node, BACKOFF, "rate_limiting.backoff: ", report)
    if fields.flag("enabled") is False:
        return None
    own = Backoff()
    return Backoff(
        _or(fields.count("initial_delay_ms"), own.initial_delay_ms),
        _or(fields.count("max_delay_ms"), own.max_delay_ms),
        _or(fields.number("multiplier"), own.multiplier),
        _or(fields.count("reset_after_success"), own.reset_after_success),
    )


def _or(value: _N | None, default: _N) -> _N:
    """Return what the file says, be it 0, or else the default."""
    return default if value is None else value


def _places(node: Mapping | None) -> dict[str, Location]:
    return {key: scalar.where for key, scalar in node.keys.items()} if node else {}


def _item_places(node: Node | None) -> dict[str, Location]:
    items = node.items if isinstance(node, Sequence) else [node]
    return {item.text: item.where for item in items if isinstance(item, Scalar)}


def _summary(fields: Fields, report: Report) -> Text | None:
    node = fields.nodes.get("output")
    described = isinstance(node, Mapping) and not _DESCRIBES_OUTPUT.isdisjoint(node.entries)
    if isinstance(node, Mapping | Sequence) and not described:
        what = "'output' is a text, or a map with a `template`, and does nothing in this form"
        fix = "write `output: |` and the text below it, with placeholders such as {{name}}"
        report.add("no-effect", what, node.where, fix, "warning")
    if isinstance(node, Mapping):
        node = node.entries.get("template")
    return Text(node.text, node) if isinstance(node, Scalar) and node.text else None
