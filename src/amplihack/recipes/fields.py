"""List every field that a recipe may have, as data.

Validation, `recipe schema` and the reference page are all made from these tables, so they cannot disagree.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, TypeAlias

from amplihack.records import Record

Shape: TypeAlias = Literal[
    "text",  # any scalar, kept as its source text
    "template",  # text in which {{placeholders}} are rendered
    "condition",  # a boolean expression
    "flag",  # true or false
    "count",  # a whole number, 0 or more
    "number",  # a whole or decimal number, 0 or more
    "bound",  # any whole or decimal number
    "duration",  # a number of seconds, or a text such as 5m
    "seconds",  # a duration, or a template that renders to one
    "milliseconds",  # a whole number of milliseconds, or a text such as 5s
    "attempts",  # a whole number, 1 or more, or a template that renders to one
    "words",  # a list of texts
    "map",  # names to any values
    "texts",  # names to texts
    "choice",  # one of `choices`
    "json",  # false, true, first or last
    "items",  # a template that names a list, or a list
    "width",  # true, false, a whole number of 1 or more, or a template
    "any",
    "table",  # a mapping with a table of its own
    "tables",  # a list of such mappings
]
Dialect: TypeAlias = Literal["amplihack", "amplifier"]
Kind: TypeAlias = Literal["bash", "agent", "recipe"]
LoopField: TypeAlias = Literal["foreach", "while_condition"]


class Field(Record, kw_only=True):
    """One field: what it holds, what it means, and where it belongs."""

    name: str
    shape: Shape
    doc: str
    default: str = ""
    required: bool = False
    aliases: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()  # the kinds of step it belongs to; none named means all
    loops: tuple[LoopField, ...] = ()  # the loops it belongs to; without one of them it has no effect
    choices: tuple[str, ...] = ()
    table: str = ""  # the table of a nested mapping
    prose: bool = False  # accepted for the reader's sake; the engine does not act on it
    instead: str = ""  # what to write where such a field looks as if the engine did


class FieldTable(Record, cached=True):  # no slots: `known` is computed once and kept
    """The fields of one kind of mapping."""

    name: str
    doc: str
    fields: tuple[Field, ...]

    @cached_property
    def known(self) -> dict[str, Field]:
        """Return every accepted spelling and the field that it means."""
        return {spelling: each for each in self.fields for spelling in (each.name, *each.aliases)}


RECIPE = FieldTable(
    "recipe",
    "The file as a whole.",
    (
        Field(name="name", shape="text", required=True, doc="What the recipe is called."),
        Field(name="description", shape="text", doc="What it does, in a sentence or two."),
        Field(name="version", shape="text", default="1.0.0", doc="The recipe's version; kept as written."),
        Field(name="author", shape="text", doc="Who to ask about it."),
        Field(name="tags", shape="words", doc="Words to find the recipe by; steps have `when_tags`."),
        Field(name="created", shape="text", prose=True, doc="When it was written."),
        Field(name="updated", shape="text", prose=True, doc="When it was last changed."),
        Field(name="dialect", shape="choice", choices=("amplihack", "amplifier"),
              doc="Which defaults apply where the two communities differ; without it `amplihack`, unless "
                  "only the other community's tool could have meant the file."),
        Field(name="context", shape="map", doc="Variables and their default values."),
        Field(name="parameters", shape="any",
              doc="Declared inputs: a map of names to what is said of them, as in *input*; the defaults "
                  "become variables."),
        Field(name="inputs", shape="any",
              doc="Declared inputs: a list of *input*, each with its `name`, or a map as in `parameters`."),
        Field(name="context_validation", shape="texts",
              doc="Checks of variables before the first step: `nonempty`, `git_repo`, `path` or `optional`."),
        Field(name="secrets", shape="words",
              doc="Variables whose values never appear in events, logs, errors or results."),
        Field(name="recursion", shape="table", table="recursion", doc="Limits for nested recipes."),
        Field(name="hooks", shape="table", table="hooks",
              doc="Shell commands that run around every step."),
        Field(name="extends", shape="text",
              doc="A recipe whose steps come first and whose context, tags, hooks and limits are inherited."),
        Field(name="default_step_timeout", shape="duration",
              doc="How long a step without a `timeout` of its own may run."),
        Field(name="rate_limiting", shape="table", table="rate_limiting",
              doc="How many agents may run at once, and how far apart."),
        Field(name="orchestrator", shape="table", table="orchestrator",
              doc="Settings for agent sessions that this recipe starts."),
        Field(name="strict_shell", shape="flag", default="false",
              doc="Commands run under `set -euo pipefail`: the first that fails, also in a pipe, fails the "
                  "step."),
        Field(name="output", shape="any",
              doc="What the run shows at its end: a template, or a map with a `template`."),
        Field(name="steps", shape="tables", table="step", doc="The steps, in the order in which they run."),
        Field(name="stages", shape="tables", table="stage",
              doc="Groups of steps with approval gates between them; instead of `steps`."),
        Field(name="agents", shape="map", doc="Short names for agents: `name: namespace:name`."),
        Field(name="schema_version", shape="text", prose=True, doc="The schema that another runner expects."),
        Field(name="dependencies", shape="any",
              doc="Bundles that supply its agents: `[{source, required_agents}]`. Nothing is fetched; where "
                  "an agent is not here, the bundle to get it from is named."),
        Field(name="capabilities", shape="any", prose=True, doc="What another runner lets it do."),
        Field(name="outputs", shape="any", prose=True,
              doc="What the recipe yields, for readers; `output` is what the run shows."),
        Field(name="metadata", shape="any", prose=True, doc="Notes for other tools."),
        Field(name="validation", shape="any", prose=True, doc="Notes for other tools."),
        Field(name="config", shape="any", prose=True, doc="Notes for other tools."),
        Field(name="error_handling", shape="any", prose=True, doc="Notes for readers."),
        Field(name="integration", shape="any", prose=True, doc="Notes for readers."),
    ),
)  # fmt: skip

INPUT = FieldTable(
    "input",
    "What a recipe says of one input, in `parameters` or `inputs`. It is checked before the first step.",
    (
        Field(name="name", shape="text", doc="The variable, where `inputs` is a list."),
        Field(name="description", shape="text", doc="What it is for; `recipe run RECIPE --help` shows it."),
        Field(name="type", shape="text",
              doc="`string`, `integer`, `number`, `boolean`, `list`, `map` or `any`; a text that spells it "
                  "counts."),
        Field(name="required", shape="flag", default="false", doc="Nothing runs while it is empty."),
        Field(name="default", shape="any", doc="Its value when nobody gives one."),
        Field(name="enum", shape="any", aliases=("choices", "options"), doc="The values that it may have."),
        Field(name="minimum", shape="bound",
              doc="The least that a number may be; without a `type` the input is a number."),
        Field(name="maximum", shape="bound",
              doc="The most that a number may be; without a `type` the input is a number."),
        Field(name="min_length", shape="count",
              doc="How many characters a text has at least, or items a list; without a `type` it is a text."),
        Field(name="max_length", shape="count",
              doc="How many characters a text has at most, or items a list; without a `type` it is a text."),
        Field(name="pattern", shape="text",
              doc="A regular expression that is found in a text; `^…$` is for the whole. Without a `type` "
                  "it is a text."),
        Field(name="env", shape="text",
              doc="A variable of the environment that gives its default; it counts more than `default`."),
        Field(name="example", shape="any", prose=True, aliases=("examples",), doc="Notes for readers."),
        Field(name="format", shape="any", prose=True, doc="Notes for readers."),
    ),
)  # fmt: skip

RECURSION = FieldTable(
    "recursion",
    "How deep recipes may nest and how many steps they may run in all.",
    (
        Field(
            name="max_depth",
            shape="count",
            default="6",
            doc="Levels of sub-recipes, at most 50; 0 forbids them.",
        ),
        Field(
            name="max_total_steps", shape="count", default="200", doc="Steps of a run, sub-recipes included."
        ),
    ),
)

HOOKS = FieldTable(
    "hooks",
    "Shell commands that know `step_id`, `step_type`, `step_status`, `step_error` and `recipe_name`.",
    (
        Field(name="pre_step", shape="template", doc="Runs before each step that is not skipped."),
        Field(name="post_step", shape="template", doc="Runs after each step that did not fail."),
        Field(name="on_error", shape="template", doc="Runs after each step that failed."),
    ),
)

STAGE = FieldTable(
    "stage",
    "A named group of steps.",
    (
        Field(name="name", shape="text", required=True, doc="Unique among the stages."),
        Field(name="description", shape="text", prose=True, doc="What the stage is for."),
        Field(name="condition", shape="condition", doc="The stage runs only if this holds."),
        Field(name="steps", shape="tables", table="step", required=True, doc="At least one step."),
        Field(name="approval", shape="table", table="approval", doc="A gate that a person opens."),
    ),
)

APPROVAL = FieldTable(
    "approval",
    "A gate: the run goes on when a person approves and ends for good when the person denies.",
    (
        Field(name="required", shape="flag", default="true", doc="`false` takes the gate away."),
        Field(name="prompt", shape="template", default="a question whether to go on",
              doc="What the person is asked."),
        Field(name="when", shape="choice", choices=("after", "before", "after_stage", "before_stage"),
              default="after",
              doc="Whether the gate stands behind the stage's steps or in front of them."),
        Field(name="timeout", shape="duration", default="0", doc="How long to wait; 0 waits for ever."),
        Field(name="default", shape="choice", choices=("deny", "approve"), default="deny",
              doc="The answer when the time is up."),
    ),
)  # fmt: skip

RETRY = FieldTable(
    "retry",
    "How often and how soon a failed step is tried again.",
    (
        Field(name="max_attempts", shape="attempts", default="3", doc="Attempts in all, the first included."),
        Field(name="backoff", shape="choice", choices=("exponential", "linear"), default="exponential",
              doc="Whether the wait doubles after each attempt or stays the same."),
        Field(name="initial_delay", shape="duration", default="5", doc="The wait before the second attempt."),
        Field(name="max_delay", shape="duration", default="300",
              doc="The longest wait; where it is not stated, never less than the first."),
        Field(name="on", shape="choice", choices=("any", "transient"), default="any",
              doc="Whether every failure is tried again or only those that may pass by themselves."),
    ),
)  # fmt: skip

RATE_LIMITING = FieldTable(
    "rate_limiting",
    "One limiter for the whole tree of recipes.",
    (
        Field(name="max_concurrent_llm", shape="count", doc="Agents that may run at the same time."),
        Field(
            name="min_delay_ms",
            shape="milliseconds",
            default="0",
            doc="Pause between two agents.",
        ),
        Field(name="backoff", shape="table", table="backoff", doc="What to do after a rate-limit answer."),
    ),
)

BACKOFF = FieldTable(
    "backoff",
    "How the pause grows when a provider says that there were too many requests.",
    (
        Field(name="enabled", shape="flag", default="true", doc="Whether the pause grows at all."),
        Field(
            name="initial_delay_ms",
            shape="milliseconds",
            default="1000",
            doc="The first pause.",
        ),
        Field(
            name="max_delay_ms",
            shape="milliseconds",
            default="60000",
            doc="The longest pause.",
        ),
        Field(name="multiplier", shape="number", default="2.0", doc="How fast it grows."),
        Field(name="reset_after_success", shape="count", default="3", doc="Successes that end it."),
        Field(name="applies_to", shape="any", prose=True, doc="Notes for readers."),
    ),
)

ORCHESTRATOR = FieldTable(
    "orchestrator",
    "Settings for agent sessions.",
    (Field(name="config", shape="map", doc="Handed to every agent session as it is."),),
)

_BASH: tuple[Kind, ...] = ("bash",)
_AGENT: tuple[Kind, ...] = ("agent",)
_RECIPE: tuple[Kind, ...] = ("recipe",)
_SINGLE: tuple[Kind, ...] = ("bash", "agent", "recipe")  # not a loop that holds steps
_FOREACH: tuple[LoopField, ...] = ("foreach",)
_WHILE: tuple[LoopField, ...] = ("while_condition",)
_LOOP: tuple[LoopField, ...] = (*_FOREACH, *_WHILE)

STEP = FieldTable(
    "step",
    "One piece of work: a shell command, a request to an agent, another recipe, or a loop over these.",
    (
        Field(name="id", shape="text", required=True, doc="Unique in the file; results are stored under it."),
        Field(name="type", shape="choice", choices=("bash", "agent", "recipe"),
              doc="The kind of step; when absent it follows from the fields: `recipe`, then `agent`, then "
                  "`prompt` without `command`, else bash."),
        Field(name="name", shape="text", doc="Shown in progress behind the id; placeholders are filled in."),
        Field(name="description", shape="text", doc="What the step is for."),
        # what it does
        Field(name="command", shape="template", kinds=_BASH,
              doc="Shell source. A placeholder becomes a reference that fits its place; values never enter "
                  "the source."),
        Field(name="env", shape="map", kinds=_BASH,
              doc="Extra environment variables; values are rendered."),
        Field(name="output_exit_code", shape="text", kinds=_BASH,
              doc="The variable that receives the exit code; a failing command then does not fail the step, "
                  "unless it says `on_error: fail` or the file is `dialect: amplifier` and says nothing."),
        Field(name="output_stderr", shape="text", kinds=_BASH,
              doc="The variable that receives what the command wrote to stderr."),
        Field(name="strict_shell", shape="flag", kinds=_BASH, default="the recipe's",
              doc="The command runs under `set -euo pipefail`."),
        Field(name="max_env_value_bytes", shape="count", kinds=_BASH,
              doc="Values larger than this are handed over by file instead of by environment."),
        Field(name="agent", shape="text", kinds=_AGENT,
              doc="Whose persona answers: `namespace:name`, `namespace:category:name`, `self` or a "
                  "short name from `agents` of the recipe."),
        Field(name="prompt", shape="template", kinds=_AGENT, aliases=("instruction", "message"),
              doc="What the agent is asked to do."),
        Field(name="mode", shape="text", kinds=_AGENT, doc="Stands as a `MODE:` line above the prompt."),
        Field(name="model", shape="text", kinds=_AGENT, doc="The model to use."),
        Field(name="provider", shape="text", kinds=_AGENT, doc="The provider to use."),
        Field(name="provider_preferences", shape="any", kinds=_AGENT,
              doc="Providers and models in order of preference: `[{provider, model}]`."),
        Field(name="model_role", shape="text", kinds=_AGENT,
              doc="A role that the host maps to a model, such as `fast` or `reasoning`."),
        Field(name="agent_config", shape="map", kinds=_AGENT,
              doc="Settings for the agent session, handed over as they are."),
        Field(name="spawn_mode", shape="choice", choices=("subprocess",), kinds=_AGENT,
              doc="Runs the agent session in a process of its own."),
        Field(name="auto_stage", shape="flag", kinds=_AGENT, default="the run's setting",
              doc="Whether changes are staged with git after the step."),
        Field(name="recipe", shape="template", kinds=_RECIPE,
              doc="A recipe's name, or a path relative to this file."),
        Field(name="context", shape="map", kinds=_RECIPE, aliases=("sub_context", "step_context"),
              doc="Variables for the sub-recipe; strings are rendered, at any depth."),
        Field(name="context_mode", shape="choice", choices=("inherit", "isolated"), kinds=_RECIPE,
              default="inherit; isolated in `dialect: amplifier`",
              doc="Whether the sub-recipe sees every variable and hands its own back, or only sees `context` "
                  "and returns its results as one value."),
        Field(name="recursion", shape="table", table="recursion", kinds=_RECIPE,
              doc="Tighter limits for this call."),
        Field(name="recovery_on_failure", shape="flag", default="false", kinds=_RECIPE,
              doc="Lets an agent try once to finish the work of a sub-recipe that failed."),
        # whether and when it runs
        Field(name="condition", shape="condition", doc="The step is skipped unless this holds."),
        Field(name="when_tags", shape="words",
              doc="The step runs only if one of these is asked for, or nothing is."),
        Field(name="depends_on", shape="words",
              doc="Steps that must come earlier; in a parallel group the step waits for them."),
        Field(name="parallel_group", shape="text",
              doc="Adjacent steps with the same group run at the same time."),
        Field(name="finally", shape="flag", default="false", aliases=("always_run",),
              doc="The step runs even if a step before it failed; in a loop, in every round. For cleaning up "
                  "and telling."),
        Field(name="override", shape="flag", default="false",
              doc="Replaces the step of the same id in the recipe that this one extends."),
        # loops
        Field(name="foreach", shape="items", doc="Runs the step once for each item."),
        Field(name="as", shape="text", loops=_FOREACH, default="item", aliases=("as_var",),
              doc="The name of the item."),
        Field(name="collect", shape="text", loops=_LOOP,
              doc="The variable that receives the list of all results."),
        Field(name="parallel", shape="width", loops=_FOREACH, default="false",
              doc="Runs the items at the same time: `true` for all at once, or how many."),
        Field(name="max_iterations", shape="count", loops=_FOREACH, default="100",
              doc="A longer list is refused before the first item."),
        Field(name="checkpoint_iterations", shape="flag", loops=_LOOP, default="false",
              doc="Every iteration is kept as it finishes; always so here."),
        Field(name="while_condition", shape="condition",
              doc="Repeats the step as long as this holds."),
        Field(name="max_while_iterations", shape="count", loops=_WHILE, default="100",
              doc="The loop ends after this many rounds, and the step is degraded."),
        Field(name="break_when", shape="condition", loops=_LOOP,
              doc="Ends the loop early."),
        Field(name="update_context", shape="map", loops=_LOOP,
              doc="Variables that change after each round; values are rendered."),
        Field(name="steps", shape="tables", table="step", aliases=("while_steps",),
              doc="The body of a loop, when it is more than one step."),
        # what becomes of its result
        Field(name="output", shape="text", default="the step's id", doc="The variable for the result."),
        Field(name="output_type", shape="choice", kinds=_SINGLE, choices=("auto", "text"), default="auto",
              doc="`text` keeps the result as text even if it reads as JSON."),
        Field(name="parse_json", shape="json", kinds=_SINGLE, default="false",
              doc="Finds JSON in the result; `last` takes the last one instead of the first."),
        Field(name="parse_json_required", shape="flag", kinds=_SINGLE, default="false",
              doc="Fails the step when there is no JSON; otherwise it is degraded. With a `json_schema` it "
                  "is true unless it says false."),
        Field(name="json_schema", shape="map", kinds=("bash", "agent"),
              doc="A JSON Schema that the JSON of the result has to fit; `parse_json` is then on. An agent "
                  "is shown it, and asked once more where its answer does not fit."),
        # limits and failures
        Field(name="working_dir", shape="template", aliases=("cwd",), kinds=("bash", "agent"),
              default="the run's directory",
              doc="Where the step runs; relative to the run's directory."),
        Field(name="timeout", shape="seconds", default="none", doc="How long it may run; 0 is no limit."),
        Field(name="idle_timeout", shape="duration", kinds=("bash", "agent"), default="none",
              doc="How long the step may be silent."),
        Field(name="retry", shape="table", table="retry", doc="Tries again on failure."),
        Field(name="on_error", shape="choice", choices=("fail", "continue", "skip_remaining"), default="fail",
              doc="What a failure does to the run."),
        Field(name="continue_on_error", shape="flag", default="false", aliases=("nonfatal",),
              doc="A failure does not end the run."),
        Field(name="fatal", shape="flag", default="true",
              doc="`false` means the same as `continue_on_error: true`."),
        Field(name="idempotent", shape="flag", default="true",
              doc="`false` means that doing it twice does harm: a resumed run asks before it runs the step "
                  "again, or a step inside it, where it was cut off before its end. A `retry` beside it "
                  "still tries again after a failure."),
        Field(name="recheck", shape="flag", default="false",
              doc="`true` means that a resumed run runs the step again although it has finished: for a check "
                  "of what may have changed meanwhile."),
        # words for the reader
        Field(name="inputs", shape="any", doc="What the step works on; the prompt when there is none."),
        Field(name="outputs", shape="any", prose=True, doc="What the step yields."),
        Field(name="progress", shape="any", prose=True,
              doc="Notes for readers: a step that takes long. Progress is shown of every step."),
        Field(name="task", shape="text", kinds=_AGENT,
              doc="What the agent is asked to do, when there is no `prompt`."),
        Field(name="skill", shape="text", kinds=_AGENT,
              doc="A skill that the agent is told to use, when there is no `prompt`."),
        Field(name="actions", shape="any", kinds=_AGENT,
              doc="What the agent is told to do one after another, when there is no `prompt`."),
        Field(name="until", shape="any", prose=True, doc="Notes for readers; loops use `break_when`.",
              instead="write `break_when:` on a loop, or rename it to x-until to keep it as a note"),
    ),
)  # fmt: skip

TABLES: dict[str, FieldTable] = {
    table.name: table
    for table in (
        RECIPE,
        INPUT,
        STAGE,
        APPROVAL,
        STEP,
        RECURSION,
        HOOKS,
        RETRY,
        RATE_LIMITING,
        BACKOFF,
        ORCHESTRATOR,
    )
}
