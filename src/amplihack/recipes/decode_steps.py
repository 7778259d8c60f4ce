"""Decode the steps of a recipe: from a mapping of the file to a `Step` whose parts fit together."""

from __future__ import annotations

import re
from typing import Final

from amplihack.documents import Mapping, Node, Scalar, Sequence, to_value
from amplihack.errors import Problem
from amplihack.recipes.fields import RECURSION, STEP, Dialect, Kind
from amplihack.recipes.model import (
    Action,
    Agent,
    Bash,
    Body,
    ErrorPolicy,
    JsonPick,
    JsonRule,
    Limits,
    Loop,
    Number,
    Retry,
    Step,
    SubRecipe,
    Text,
)
from amplihack.recipes.placeholders import find_variables
from amplihack.recipes.reading import Fields, Report, is_blank, mappings, read_table
from amplihack.recipes.rewritten_numbers import tell_rewritten
from amplihack.recipes.semantics import DEEPEST
from amplihack.recipes.values import Value, to_json

# A step that has fewer than two of these, and none of the others, cannot contradict itself.
_MAY_DISAGREE: Final = frozenset({"on_error", "continue_on_error", "fatal", "timeout", "idle_timeout"})
_OFTEN_DISAGREE: Final = frozenset(
    {
        "output_type",
        "parse_json_required",
        "recheck",
        "idempotent",
        "collect",
        "output_exit_code",
        "output_stderr",
    }
)
WORDS_OF_A_PROMPT = {"task", "skill", "actions", "inputs"}  # of one that is made up, where a step has none
_NEEDED = {"bash": "command", "agent": "prompt", "recipe": "recipe"}
# What the other dialect means, in the words of the line that tells it.
_CONDITIONS = 'conditions take the texts "false" and "0" as false, and numbers in texts as numbers'
_ISOLATION = "sub-recipes see only their `context:`"
_STAGING = "what agents change is not staged"
_JSON = "agents are told to answer with JSON"
_EXIT_CODE = "a command whose exit code is kept still fails its step, unless `on_error:` says otherwise"
_KINDS: dict[type[Action], str] = {Bash: "bash", Agent: "agent", SubRecipe: "recipe", Body: "group"}
_SHOWN_KINDS = {
    "bash": "a bash step",
    "agent": "an agent step",
    "recipe": "a recipe step",
    "group": "a step that holds others",
}
# Fields that belong to every kind of step, but for one on which they look as if they did something.
MISPLACED: Final = {
    ("inputs", "recipe"): "write `context:`, which hands variables to the recipe",
    ("inputs", "bash"): "write `env:`, or use the variables in the command as {{name}}",
    ("inputs", "group"): "remove it: the steps inside see all variables",
    ("type", "group"): "remove it: the steps inside have types of their own",
}
_CHOOSE = "write the word itself; to choose between several, write a step with a `condition:` for each"
_ENV_NAME = "use letters, digits and _"
_NAME_IT = "write the name itself: it is known before the run"
_INSTEAD_OF_PLACEHOLDER: Final = {
    **dict.fromkeys(("agent", "mode", "model", "model_role", "provider", "provider_preferences"), _CHOOSE),
    **dict.fromkeys(("agent_config", "when_tags", "depends_on", "parallel_group"), _CHOOSE),
    **dict.fromkeys(("as", "collect", "output", "output_exit_code", "output_stderr"), _NAME_IT),
}


class StepReader:
    """Reads steps of one file; problems go to its report."""

    def __init__(self, dialect: Dialect, report: Report) -> None:
        self.dialect = dialect
        self.report = report
        self.strict_shell = False  # what the file says of steps that say nothing
        self.agents: dict[str, str] = {}  # the short names that the file has for agents
        self.differences: dict[str, None] = {}  # what the dialect changes in this file

    def compare(self, fields: Fields, *names: str) -> None:
        """Note it where a condition among these fields can depend on the dialect."""
        if _CONDITIONS in self.differences:
            return
        tests = list(filter(None, map(fields.test, names)))
        if not tests:
            return
        from amplihack.recipes.conditions.dialects import depends_on_dialect  # deferred: many have none

        if any(depends_on_dialect(test.condition.tree) for test in tests):
            self.differences[_CONDITIONS] = None

    def steps(self, node: Node | None, what: str) -> tuple[Step, ...]:
        found = mappings(node, what, self.report)
        return tuple(self.step(child, index) for index, child in enumerate(found))

    def step(self, node: Mapping, index: int) -> Step:
        """Return the step that a mapping describes, as far as it can be read; the report has the rest."""
        id_node = node.entries.get("id")
        name = id_node.text if isinstance(id_node, Scalar) and not id_node.absent else ""
        owner = f"Step '{name or f'index {index}'}': "
        fields = read_table(node, STEP, owner, self.report)
        if is_blank(id_node):
            from amplihack.recipes.decode_missing import tell_missing_field  # deferred: most steps have one

            what, fix = "Every step must have a non-empty 'id' field", f"add `id: {_id_for(node)}`"
            tell_missing_field(Problem(what, node.where, fix, code="no-id"), "id", node, STEP, self.report)
        self.compare(fields, "condition", "while_condition", "break_when")
        action = self._action(fields, owner)
        self._no_effect(fields, action, owner)
        self._not_filled_in(fields, owner)
        if len(_MAY_DISAGREE & fields.nodes.keys()) > 1 or _OFTEN_DISAGREE & fields.nodes.keys():
            from amplihack.recipes.decode_disagreements import tell_disagreements  # deferred: few steps do

            tell_disagreements(fields, owner, self.report)
        return Step(
            id=name,
            action=action,
            where=id_node.where if id_node is not None and name else node.where,
            title=fields.word("name"),
            description=fields.word("description") or "",
            condition=fields.test("condition"),
            when_tags=fields.words("when_tags"),
            depends_on=fields.words("depends_on"),
            parallel_group=fields.word("parallel_group"),
            always=fields.flag("finally") or False,
            override=fields.flag("override") or False,
            loop=self._loop(fields, owner),
            output=fields.word("output") or None,
            keep_text=fields.word("output_type") == "text",
            json=self._json_rule(fields, owner),
            working_dir=fields.text("working_dir"),
            timeout=_seconds(fields, "timeout"),
            idle_timeout=fields.number("idle_timeout") or None,
            retry=self._retry(fields, owner),
            on_error=_on_error(fields),
            idempotent=fields.flag("idempotent") is not False,
            recheck=fields.flag("recheck") or False,
        )

    def _no_effect(self, fields: Fields, action: Action, owner: str) -> None:
        """Report fields that belong to another kind of step, or to a loop where there is none."""
        kind = _KINDS[type(action)]
        for name in fields.nodes:
            if why := _pointless(name, kind, fields):
                from amplihack.recipes.misplaced_fields import fix_for  # deferred: few steps have such

                what, fix = f"{owner}'{name}' has no effect {why}", fix_for(name, kind, fields)
                self.report.add("no-effect", what, fields.where(name), fix, "warning")

    def _not_filled_in(self, fields: Fields, owner: str) -> None:
        """Report placeholders in fields that are taken as they are written."""
        for name, node in fields.nodes.items():  # of which most steps have two or three
            if name not in _INSTEAD_OF_PLACEHOLDER:
                continue
            text = node.text if isinstance(node, Scalar) else to_json(to_value(node))
            if "{{" not in text or not find_variables(text):
                continue
            what = f"{owner}'{name}' is taken as it is written: placeholders in it are not filled in"
            self.report.add(
                "not-filled-in", what, fields.where(name), _INSTEAD_OF_PLACEHOLDER[name], "warning"
            )

    # what it does

    def _action(self, fields: Fields, owner: str) -> Action:
        body = fields.nodes.get("steps")
        if body is not None:
            return self._body(fields, body, owner)
        kind = _kind(fields)
        self._missing(fields, kind, owner)
        match kind:
            case "bash":
                self._env_names(fields, owner)
                self._joined(fields, owner)
                return self._bash(fields)
            case "agent":
                return self._agent(fields, owner)
            case "recipe":
                return self._sub_recipe(fields, owner)

    def _body(self, fields: Fields, body: Node, owner: str) -> Action:
        if "foreach" not in fields and "while_condition" not in fields:
            self.report.add(
                "body-without-loop",
                f"{owner}steps inside a step need 'foreach' or 'while_condition'",
                body.where,
                "add the loop, or move the steps out",
            )
        if isinstance(body, Sequence) and not body.items:
            what = f"{owner}its loop has no steps to repeat"
            self.report.add("no-steps", what, body.where, "write the steps, or a `command:` in their place")
        return Body(self.steps(body, f"{owner}steps"))

    def _missing(self, fields: Fields, kind: Kind, owner: str) -> None:
        needed = _NEEDED[kind]
        written = fields.text(needed)
        if written is None or written.text.lstrip()[:1] in ("", "#"):
            from amplihack.recipes.decode_missing import tell_missing  # deferred: most steps lack nothing

            tell_missing(fields, kind, needed, owner, self.report)

    def _joined(self, fields: Fields, owner: str) -> None:
        """Report lines of a script that YAML joins, which only a text of several lines without `|` has."""
        node = fields.nodes.get("command")
        if not isinstance(node, Scalar) or node.style == "literal" or node.text.lstrip()[:1] in ("", "#"):
            return  # a script that begins with a comment is told of where a script is missed
        if node.style == "folded" or len(node.text) > len(node.where.text) - node.column:
            from amplihack.recipes.joined_lines import tell_joined  # deferred: few scripts are written so

            tell_joined(node, owner, self.report)

    def _env_names(self, fields: Fields, owner: str) -> None:
        """Report names of variables that no process can be given, and those that no script can name."""
        node = fields.nodes.get("env")
        if not isinstance(node, Mapping):
            return
        for name in node.entries:
            if not name or "=" in name or "\0" in name:
                what = f"{owner}env: '{name}' cannot be the name of a variable"
                before, _, value = name.partition("=")
                fix = f"write `{before}: {value}`" if before and value else _ENV_NAME
                self.report.add("wrong-type", what, fields.where("env"), fix)
            elif not (name.isascii() and name.isidentifier()):
                what = f"{owner}env: the command cannot use '{name}': bash has no variables of such a name"
                plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
                fix = f"write `{plain}:`" if plain.isidentifier() else _ENV_NAME
                self.report.add("no-effect", what, node.where_key(name), fix, "warning")

    def _bash(self, fields: Fields) -> Bash:
        own = fields.flag("strict_shell")
        return Bash(
            fields.text("command") or Text(""),
            fields.map("env"),
            fields.word("output_exit_code"),
            fields.word("output_stderr"),
            fields.count("max_env_value_bytes"),
            strict=self.strict_shell if own is None else own,
            strict_stated=own is not None,
            any_exit="output_exit_code" in fields and self._any_exit(fields),
        )

    def _any_exit(self, fields: Fields) -> bool:
        """Tell whether a kept exit code is no failure. A step that says what then is tried again first."""
        if "on_error" in fields:
            return fields.word("on_error") != "fail" and "retry" not in fields
        self.differences[_EXIT_CODE] = None
        return self.dialect != "amplifier" or _on_error(fields) != "fail"

    def _agent(self, fields: Fields, owner: str) -> Agent:
        from amplihack.recipes.decode_agents import agent_of  # deferred: many recipes ask no agent

        if "auto_stage" not in fields:
            self.differences[_STAGING] = None
        if _wants_json(fields):
            self.differences[_JSON] = None
        return agent_of(fields, owner, self.agents, self.report)

    def _sub_recipe(self, fields: Fields, owner: str) -> SubRecipe:
        default = "isolated" if self.dialect == "amplifier" else "inherit"
        if "context_mode" not in fields:
            self.differences[_ISOLATION] = None
        return SubRecipe(
            recipe=fields.text("recipe") or Text(""),
            context=self._values(fields),
            mode="isolated" if (fields.word("context_mode") or default) == "isolated" else "inherit",
            limits=self.limits(fields, owner),
            recovery=fields.flag("recovery_on_failure") or False,
        )

    def limits(self, fields: Fields, owner: str) -> Limits:
        node = fields.mapping("recursion")
        if node is None:
            return Limits()
        inner = read_table(node, RECURSION, f"{owner}recursion: ", self.report)
        depth = inner.count("max_depth")
        if depth is not None and depth > DEEPEST:
            self.report.add(
                "too-large",
                f"{owner}recursion: there are never more than {DEEPEST} levels of sub-recipes",
                inner.where("max_depth"),
                f"write {DEEPEST} or less",
                "warning",
            )
        return Limits(depth, inner.count("max_total_steps"))

    # how often

    def _loop(self, fields: Fields, owner: str) -> Loop | None:
        if "foreach" not in fields.nodes and "while_condition" not in fields.nodes:
            return None
        from amplihack.recipes.decode_loops import loop_of  # deferred: many recipes have none

        return loop_of(fields, owner, self.report)

    # what becomes of its result

    def _json_rule(self, fields: Fields, owner: str) -> JsonRule | None:
        if not _wants_json(fields):
            return None
        pick: JsonPick = "last" if fields.values.get("parse_json") == "last" else "first"
        required = fields.flag("parse_json_required")
        node = fields.mapping("json_schema")
        if node is None:
            return JsonRule(pick, required or False)
        from amplihack.recipes.decode_answer_schema import read_schema  # deferred: most recipes have none

        if fields.flag("parse_json") is False:
            what = f"{owner}'parse_json: false' stands beside 'json_schema', which is about JSON"
            self.report.add("contradiction", what, fields.where("parse_json"), "remove one of the two")
        return JsonRule(pick, required is not False, read_schema(node, owner, self.report))

    def _values(self, fields: Fields) -> dict[str, Value]:
        tell_rewritten(fields.nodes.get("context"), self.report)
        return fields.map("context")

    # limits and failures

    def _retry(self, fields: Fields, owner: str) -> Retry | None:
        node = fields.mapping("retry")
        if node is None:
            return None
        from amplihack.recipes.decode_retry import retry_of  # deferred: few steps have one

        return retry_of(node, owner, self.report)


def _kind(fields: Fields) -> Kind:
    match fields.word("type"):
        case "bash" | "agent" | "recipe" as stated:
            return stated
    if "recipe" in fields.nodes:
        return "recipe"
    if "type" in fields.nodes and "command" not in fields.nodes and fields.nodes.keys() & WORDS_OF_A_PROMPT:
        return "agent"  # of a type that is not known, such as `skill`: that is told, and nothing else
    if "agent" in fields.nodes or ("prompt" in fields.nodes and "command" not in fields.nodes):
        return "agent"
    return "bash"


def _pointless(name: str, kind: str, fields: Fields) -> str:
    """Return where a field has no effect, if it stands there."""
    field = STEP.known[name]
    if field.kinds and kind not in field.kinds and not _for_recovery(name, fields):
        return f"on {_SHOWN_KINDS[kind]}"
    if field.loops and not any(loop in fields.nodes for loop in field.loops):
        return f"without {' or '.join(field.loops)}"
    if name in WORDS_OF_A_PROMPT and "prompt" in fields.nodes:
        return "beside 'prompt'"
    return f"on {_SHOWN_KINDS[kind]}" if (name, kind) in MISPLACED else ""


def _for_recovery(name: str, fields: Fields) -> bool:
    """Tell whether a directory is that of the agent which may finish the work of a failed sub-recipe."""
    return name == "working_dir" and bool(fields.flag("recovery_on_failure"))


def _wants_json(fields: Fields) -> bool:
    asked = fields.values.get("parse_json") not in (None, False)
    return asked or bool(fields.flag("parse_json_required")) or "json_schema" in fields


def _seconds(fields: Fields, name: str) -> Number | None:
    value = fields.values.get(name)
    return value if isinstance(value, str | float) else None


def _on_error(fields: Fields) -> ErrorPolicy:
    """Return what a failure does: as `on_error` says, else `continue_on_error: true` or `fatal: false`."""
    match fields.word("on_error"):
        case "fail" | "continue" | "skip_remaining" as stated:
            return stated
    if fields.flag("continue_on_error") or fields.flag("fatal") is False:
        return "continue"
    return "fail"


def _id_for(node: Mapping) -> str:
    """Return an id for a step without one: its name, if it has one, in letters that an id may have."""
    name = node.entries.get("name")
    words = re.findall(r"[A-Za-z0-9]+", name.text) if isinstance(name, Scalar) else []
    return "-".join(words).lower()[:40] or "what-it-does"
