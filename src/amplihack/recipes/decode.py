"""Decode the YAML of a recipe to a `Recipe`, with every problem of the file in one report."""

from __future__ import annotations

from amplihack.documents import Document, Mapping, Node, Scalar, Sequence, read_document
from amplihack.errors import DocumentError, Location, Problem, RecipeError
from amplihack.patterns import pattern
from amplihack.recipes.decode_inputs import read_inputs
from amplihack.recipes.decode_steps import StepReader
from amplihack.recipes.dialect import Verdict, detect
from amplihack.recipes.fields import (
    HOOKS,
    ORCHESTRATOR,
    RECIPE,
)
from amplihack.recipes.model import (
    Dependency,
    Hooks,
    RateLimit,
    Recipe,
    Stage,
    Step,
    Text,
    every_step,
)
from amplihack.recipes.reading import Fields, Report, is_blank, read_table
from amplihack.recipes.rewritten_numbers import tell_rewritten
from amplihack.records import Record, replace

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
        document = read_document(data, name)
    except DocumentError as error:
        if name.endswith(".md"):
            raise _is_markdown(name) from error
        from amplihack.recipes.secret_excerpts import hide_in_error  # deferred: most files can be read

        raise hide_in_error(error, data) from error
    if name.endswith(".md") and not _could_be_recipe(document.root):
        raise _is_markdown(name)  # a few lines of it are often YAML as well
    return document


def _is_markdown(name: str) -> DocumentError:
    what = "a recipe is a YAML file, but this one is Markdown"
    fix = "give the path of a .yaml file; a step names an agent with `agent:`"
    return DocumentError(what, where=Location(name, 1, 1), fix=fix)


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
    if _is_bundle(document.root):
        fix = f"`amplihack bundle show {document.source.name}` shows it, `bundle validate` checks it"
        report.add("no-steps", "this file is a bundle, not a recipe", document.root.where, fix)
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
        rate_limit=_rate_limit(fields, report),
        session_config=read_table(orchestrator, ORCHESTRATOR, "orchestrator: ", report).map("config")
        if orchestrator
        else {},
        summary=_summary(fields, report),
        dependencies=_dependencies(fields, report),
        where=root.where,
    )


def _rate_limit(fields: Fields, report: Report) -> RateLimit | None:
    node = fields.mapping("rate_limiting")
    if node is None:
        return None
    from amplihack.recipes.decode_rate_limit import read_rate_limit  # deferred: most recipes have none

    return read_rate_limit(node, report)


def _dependencies(fields: Fields, report: Report) -> tuple[Dependency, ...]:
    if "dependencies" not in fields:
        return ()
    from amplihack.recipes.dependencies import read_dependencies  # deferred: most recipes have none

    return read_dependencies(fields.nodes["dependencies"], report)


def _check_top(fields: Fields, stages: tuple[Stage, ...], verdict: Verdict, report: Report) -> None:
    steps = tuple(step for stage in stages for step in stage.steps)
    if is_blank(fields.node.entries.get("name")):
        _tell_missing("name", "Recipe must have a 'name' field", fields, report)
    if "extends" not in fields and not _has_items(fields, "steps") and not _has_items(fields, "stages"):
        what = "Recipe must have a 'steps' field with at least one step"
        _tell_missing("steps", what, fields, report)
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


def _tell_missing(needed: str, what: str, fields: Fields, report: Report) -> None:
    from amplihack.recipes.decode_missing import tell_missing_part  # deferred: most recipes lack nothing

    tell_missing_part(needed, what, fields, RECIPE, report)


def _could_be_recipe(root: Node) -> bool:
    return isinstance(root, Mapping) and bool({"name", "steps", "stages", "bundle"} & root.entries.keys())


def _is_bundle(root: Mapping) -> bool:
    return "bundle" in root.entries and not {"steps", "stages", "extends"} & root.entries.keys()


def _what_it_is(root: Node) -> str:
    """Return what to do with a file of ours that is no recipe; empty for others."""
    name = root.source.name
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
    from amplihack.recipes.decode_stages import read_stages  # deferred: most recipes have none

    return read_stages(fields, reader, report, beside=bool(steps))


def _hooks(node: Mapping | None, report: Report) -> Hooks:
    if node is None:
        return Hooks()
    fields = read_table(node, HOOKS, "hooks: ", report)
    return Hooks(fields.text("pre_step"), fields.text("post_step"), fields.text("on_error"))


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
