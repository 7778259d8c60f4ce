"""Mask secrets in everything that leaves a run.

Secret are the variables that a recipe lists under `secrets`, whatever values they get, and the values of
environment variables whose names look like keys. A secret is found as it is and as JSON, URLs, base64 and
shell quoting write it, whole or cut into lines. Each longer line of a secret counts as one.

Credentials in addresses are hidden in what is shown: printed lines, errors, warnings, questions. Values stay
as they are, since other steps use them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, assert_never

from amplihack.credentials import MASK, hide_credentials
from amplihack.recipes.events import (
    AgentAsked,
    AgentPaid,
    AgentPaused,
    Event,
    GateDecided,
    GateReached,
    IterationFinished,
    IterationStarted,
    LinesPrinted,
    NeverReached,
    OutputStored,
    RecipeEntered,
    Retrying,
    RunFinished,
    RunStarted,
    Staged,
    StepFinished,
    StepStarted,
    Warned,
    WorkTreeLeft,
)
from amplihack.recipes.model import Recipe, Step, every_step
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.secret_guesses import secret_values
from amplihack.recipes.values import Value, tail, to_text
from amplihack.records import replace

if TYPE_CHECKING:
    from amplihack.recipes.secret_forms import KnownForms

_QUOTED = 8_000  # bytes from the end of a step's output that its error may quote

_StepName: TypeAlias = tuple[str, str]  # a recipe's name and a step's id


class Redactor:
    """Masks secrets, and learns new ones during the run."""

    def __init__(
        self,
        names: Iterable[str] = (),
        *,
        environment: Mapping[str, str] | None = None,
        values: Mapping[str, Value] | None = None,
    ) -> None:
        """Begin with the variables of the run in `values`; only those named in `names` are secret."""
        self._names: set[str] = set(names)
        self._forms: KnownForms | None = None  # loaded with the first secret: most runs have none
        self._seen: dict[str, Value] = dict(values or {})  # a sub-recipe may call one of them secret later
        self._writers: set[_StepName] = set()
        self._weak: dict[str, str] = {}  # secrets that cannot be masked well, and why
        self._told: set[str] = set()
        self._hidden: set[str] = set()  # identities of steps whose output is a secret
        self._find([*secret_values(environment or {})])
        self._learn_seen(self._names)

    # learning ---------------------------------------------------------------------------------------------

    def know(self, recipe: Recipe) -> None:
        """Learn what a recipe calls secret, before it runs. Its `extends` must be merged in."""
        self._names |= recipe.secrets
        # Values given to the run win over the recipe's defaults.
        self._seen = {**recipe.context, **self._seen}
        self._learn_seen(recipe.secrets)
        for name in recipe.secrets & recipe.context.keys():
            self._learn_default(name, recipe.context[name])
        self._writers |= {
            (recipe.name, step.id) for step in every_step(recipe.steps) if self._secret_step(step)
        }

    def learn(self, name: str, value: Value) -> None:
        """Treat the variable `name`, and every text inside `value`, as secret from now on."""
        from amplihack.recipes.secret_forms import weakness  # deferred, as the forms

        self._names.add(name)
        self._known_forms().learn(value)
        if name not in self._told and (why := weakness(value)):
            self._weak[name] = why

    def _learn_default(self, name: str, value: Value) -> None:
        """Treat a default as secret, unless it only holds the place of another value."""
        from amplihack.recipes.secret_forms import weakness  # deferred, as the forms

        if value == self._seen[name] or not weakness(value):
            self.learn(name, value)

    def _find(self, texts: Sequence[str]) -> None:
        if texts:
            self._known_forms().add(texts)

    def _known_forms(self) -> KnownForms:
        if self._forms is None:
            from amplihack.recipes.secret_forms import KnownForms  # deferred: most runs have no secret

            self._forms = KnownForms()
        return self._forms

    def weak(self) -> list[str]:
        """Return what to say about secrets that cannot be masked well, each once."""
        if not self._weak:
            return []
        found = [f"the secret '{name}' {why}" for name, why in self._weak.items()]
        self._told |= self._weak.keys()
        self._weak = {}
        return found

    def named(self) -> dict[str, str]:
        """Return the secret texts that variables hold, by the name of the variable and their number in it."""
        from amplihack.recipes.secret_forms import leaves  # deferred, as the forms

        held = {name: self._seen[name] for name in sorted(self._names & self._seen.keys())}
        return {
            f"{name}/{number}": text
            for name, value in held.items()
            for number, text in enumerate(leaves(value))
            if isinstance(text, str)
        }

    def _secret_step(self, step: Step) -> bool:
        collected = step.loop.collect if step.loop else None
        return step.result_name in self._names or collected in self._names

    def _learn_seen(self, names: Iterable[str]) -> None:
        for name in sorted(names):
            if name in self._seen:
                self.learn(name, self._seen[name])

    # masking ----------------------------------------------------------------------------------------------

    def redact_text(self, text: str) -> str:
        """Return the text with every secret masked. If colour codes split a secret, they are removed."""
        if not text or not self._forms:
            return text
        masked = self._forms.mask(text)
        if "\x1b" in masked:
            from amplihack.recipes.secret_forms import strip_colours  # deferred, as the forms

            plain = strip_colours(masked)
            without = self._forms.mask(plain)
            return masked if without == plain else without
        return masked

    def redact_shown(self, text: str) -> str:
        """Return a text that is only shown with every secret masked, and every credential in an address."""
        return hide_credentials(self.redact_text(text)) if "://" in text else self.redact_text(text)

    def redact_value(self, value: Value) -> Value:
        """Return the value with secrets masked at any depth, also values of secret names."""
        if isinstance(value, str):
            return self.redact_text(value)
        if isinstance(value, Mapping):
            return self._redact_values(value)
        if isinstance(value, Sequence):
            return [self.redact_value(item) for item in value]
        return MASK if self._forms and to_text(value) in self._forms else value

    def _redact_values(self, values: Mapping[str, Value]) -> dict[str, Value]:
        return {
            self.redact_text(name): MASK if name in self._names else self.redact_value(value)
            for name, value in values.items()
        }

    def redact_step(self, result: StepResult) -> StepResult:
        """Return the result without secrets. The output of a step that writes a secret is masked whole."""
        if _says_nothing(result) and not (self._forms or self._hidden):
            return result  # as most do, and each is seen again in those around it
        self._notice_quoted(result)
        show = _masked if self._is_hidden(result.identity) else self.redact_text
        masked = {
            "output": show(result.output),
            "stderr": show(result.stderr),
            "error": self.redact_shown(result.error),
            "skip_reason": self.redact_shown(result.skip_reason),
            "warnings": self._redact_all(result.warnings),
            "children": tuple(self.redact_step(child) for child in result.children),
        }
        # Most results hold no secret, and each is seen again in those around it: that needs no copy.
        changed = {name: each for name, each in masked.items() if each != getattr(result, name)}
        return replace(result, **changed) if changed else result

    def redact_result(self, result: RunResult) -> RunResult:
        """Return the run's result without secrets."""
        return replace(self._redact_told(result), context=self._redact_values(result.context))

    def notice(self, event: Event) -> None:
        """Learn what an event says about secret variables, though nobody may hear it."""
        match event:
            case OutputStored():
                self._seen.update(event.values)
                self._learn_seen(self._names & event.values.keys())
            case StepStarted():
                if (event.recipe, event.step_id) in self._writers:
                    self._hidden.add(event.identity)
            case StepFinished(result) | IterationFinished(result):
                self._notice_quoted(result)
            case RecipeEntered():
                for name, value in event.secrets.items():
                    self.learn(name, value)
            case IterationStarted(item=item):
                for name in self._names & item.keys():
                    self.learn(name, item[name])
            case _:
                pass

    def _notice_quoted(self, result: StepResult) -> None:
        """Learn the secret output of a failed step: its error, and that of those around it, may quote it."""
        if result.status == "failed" and self._is_hidden(result.identity):
            self._find([result.output, tail(result.output, _QUOTED)])

    def redact_event(self, event: Event) -> Event:
        """Return the event without secrets, and learn what it says about secret variables.

        Names from the recipe's own text (ids, identities, recipes) stay as they are.
        """
        if type(event) is OutputStored and not (self._names or self._forms):  # at the end of most steps
            self._seen.update(event.values)
            return event
        self.notice(event)
        if not (self._names or self._forms or self._hidden):  # nothing is secret, as in most runs
            return event if type(event) is StepStarted else self._without_credentials(event)
        match event:
            case StepStarted():
                title = self._redact_title(event)
                return event if title == event.title else replace(event, title=title)
            case StepFinished(result) | IterationFinished(result):
                masked = self.redact_step(result)
                return event if masked is result else replace(event, result=masked)
            case OutputStored():
                return replace(
                    event,
                    values=self._redact_values(event.values),
                    ledger=self._redact_values(event.ledger),
                )
            case LinesPrinted():
                return self._printed(event)
            case RunStarted() | AgentPaid() | NeverReached():
                return event
            case IterationStarted(item=item):
                return replace(event, item=self._redact_values(item)) if item else event
            case RecipeEntered():
                return replace(event, secrets={})
            case RunFinished(result):
                return RunFinished(self.redact_result(result))
            case Retrying():
                return replace(event, reason=self.redact_shown(event.reason))
            case GateReached():
                return replace(event, prompt=self.redact_shown(event.prompt))
            case GateDecided():
                return replace(event, message=self.redact_text(event.message))
            case Warned():
                return replace(event, what=self.redact_shown(event.what))
            case AgentAsked():
                return replace(event, prompt=self.redact_text(event.prompt))
            case AgentPaused(state=state):
                # A conversation that is not what was said cannot be gone on with.
                return event if self.redact_text(state) == state else AgentPaused(event.identity)
            case Staged():
                return replace(event, files=self._redact_all(event.files))
            case WorkTreeLeft():
                return replace(event, staged=self._plain(event.staged), left=self._plain(event.left))
            case _:
                assert_never(event)

    def _without_credentials(self, event: Event) -> Event:
        """Return an event of a run without secrets."""
        match event:
            case LinesPrinted():
                return _hide_in_lines(event)
            case StepFinished(result) | IterationFinished(result):
                masked = self.redact_step(result)
                return event if masked is result else replace(event, result=masked)
            case RunFinished(result):
                return RunFinished(self._redact_told(result))
            case Retrying():
                return replace(event, reason=hide_credentials(event.reason))
            case GateReached():
                return replace(event, prompt=hide_credentials(event.prompt))
            case Warned():
                return replace(event, what=hide_credentials(event.what))
            case _:
                return event

    def _redact_told(self, result: RunResult) -> RunResult:
        return replace(
            result,
            step_results=tuple(self.redact_step(step) for step in result.step_results),
            error=self.redact_shown(result.error),
            warnings=self._redact_all(result.warnings),
            summary=self.redact_text(result.summary),  # its own result: somebody may use it as it is
        )

    def _printed(self, event: LinesPrinted) -> LinesPrinted:
        if self._is_hidden(event.identity):
            return replace(event, lines=tuple(map(_masked, event.lines)))
        event = _hide_in_lines(event)
        if (text := "\n".join(event.lines)) == self.redact_text(text):
            return event  # most output holds no secret, and one look at all of it is faster than many
        lines = self._known_forms().mask_wrapped(text).split("\n")
        return replace(event, lines=tuple(map(self.redact_text, lines)))

    def _redact_title(self, event: StepStarted) -> str:
        return event.title if event.title == event.step_id else self.redact_text(event.title)

    def _is_hidden(self, identity: str) -> bool:
        return bool(self._hidden) and (
            identity in self._hidden or identity.rpartition("[")[0] in self._hidden
        )

    def _plain(self, marks: Mapping[str, str]) -> dict[str, str]:
        """Return the marks of those files whose names hold no secret; a masked name would be another file."""
        return {path: mark for path, mark in marks.items() if self.redact_shown(path) == path}

    def _redact_all(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.redact_shown(text) for text in texts)


def redactor_for(environment: Mapping[str, str], recipe: Recipe, values: Mapping[str, Value]) -> Redactor:
    """Return what masks the secrets of a recipe and of the environment."""
    redactor = Redactor(recipe.secrets, environment=environment, values={**recipe.context, **values})
    redactor.know(recipe)
    return redactor


def _hide_in_lines(event: LinesPrinted) -> LinesPrinted:
    """Hide credentials in each line by itself: what stands in another has nothing to do with an address."""
    if not any("://" in line for line in event.lines):
        return event
    return replace(event, lines=tuple(map(hide_credentials, event.lines)))


def _says_nothing(result: StepResult) -> bool:
    """Tell whether a result has no words beside its output, which alone are searched for credentials."""
    return not (result.error or result.skip_reason or result.warnings or result.children)


def _masked(text: str) -> str:
    return MASK if text else ""
