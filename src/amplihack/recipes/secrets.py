"""What must never be shown, taken out of everything that leaves a run.

Secret are the variables that a recipe lists under `secrets`, whatever they come to hold, and the values of
environment variables whose names say so. A secret is recognised as it is and as JSON, URLs, base64 and shell
quoting would write it; each longer line of a secret counts as one.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, assert_never
from urllib.parse import quote, quote_plus

from amplihack.recipes.events import (
    Event,
    GateDecided,
    GateReached,
    IterationStarted,
    LinePrinted,
    OutputStored,
    RecipeEntered,
    Retrying,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    Warned,
)
from amplihack.recipes.model import Recipe, Step, every_step
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.values import Value, tail, to_text

MASK = "***"
_SHORTEST_GUESS = 8  # a shorter text that nobody declared secret is more likely an ordinary word
_MOST_LINES = 256  # of one secret; a private key has some fifty
_QUOTED = 8_000  # bytes from the end of a step's output that its error may quote
_SHORTEST_NUMBER = 4  # masking every "5" in every line would hide nothing and spoil everything

_KEY_NAME = re.compile(
    r"PASSWORD|PASSWD|PASSPHRASE|APIKEY|(?:^|_)(?:SECRETS?|CREDENTIALS?|PRIVATE_KEY|ACCESS_KEY|API_KEY)(?:_|$)"
    r"|TOKEN(?:_|$)|SECRET$|_(?:KEY|AUTH|PAT|PWD)$|^AUTH$|AUTHORIZATION"
)
_PLACE_NAME = re.compile(r"(?:_|^)(?:FILE|PATH|DIR|DIRECTORY|SOCK|SOCKET|URL|URI|HOST|ENDPOINT)$")
_URL_PASSWORD = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
_COLOUR = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

_StepName: TypeAlias = tuple[str, str]  # a recipe's name and a step's id


def strip_colours(text: str) -> str:
    """The text without the escape sequences that colour it or drive a terminal."""
    return _COLOUR.sub("", text) if "\x1b" in text else text


def secret_values(environment: Mapping[str, str]) -> Iterator[str]:
    """The values of variables whose names look like keys, and passwords inside URLs."""
    for name, value in environment.items():
        upper = name.upper()
        if len(value) >= _SHORTEST_GUESS and _KEY_NAME.search(upper) and not _PLACE_NAME.search(upper):
            yield value
        yield from (each for each in _URL_PASSWORD.findall(value) if len(each) >= _SHORTEST_GUESS)


def forms(secret: str) -> Iterator[str]:
    """Every way in which the secret may appear in a text."""
    for whole in {secret, secret.strip()}:
        yield from _spellings(whole)
    lines = [line.strip() for line in secret.splitlines()[:_MOST_LINES]]
    for line in lines if len(lines) > 1 else []:
        if len(line) >= _SHORTEST_GUESS:
            yield from _spellings(line)


def _spellings(text: str) -> Iterator[str]:
    yield text
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield text.replace("'", "'\\''")
    data = text.encode("utf-8", "surrogateescape")
    yield quote(data, safe="")
    yield quote(data)
    yield quote_plus(data)
    if text:
        yield from _encoded(data)


def _encoded(data: bytes) -> Iterator[str]:
    """The base64 of the bytes, alone and as it looks in the middle of something longer.

    Three bytes become four characters, so a text has three faces, by where it starts among its neighbours;
    characters that mix in bits of a neighbour are left out.
    """
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(data).decode("ascii")
        for before in range(3):
            whole = encode(b"\0" * before + data).decode("ascii")
            face = whole[(before * 8 + 5) // 6 : (before + len(data)) * 8 // 6]
            if len(face) >= _SHORTEST_GUESS:
                yield face


class Redactor:
    """Masks secrets; learns new ones while the run goes on."""

    def __init__(
        self,
        names: Iterable[str] = (),
        *,
        environment: Mapping[str, str] | None = None,
        values: Mapping[str, Value] | None = None,
    ) -> None:
        """`values` are the variables that the run begins with; only those named in `names` are secret."""
        self._names: set[str] = set(names)
        self._forms: dict[str, None] = {}  # longest first
        self._seen: dict[str, Value] = dict(values or {})  # a sub-recipe may call one of them secret later
        self._writers: set[_StepName] = set()
        self._hidden: set[str] = set()  # identities of steps whose output is a secret
        self._add(list(secret_values(environment or {})))
        self._learn_seen(self._names)

    # learning ---------------------------------------------------------------------------------------------

    def know(self, recipe: Recipe) -> None:
        """Takes over what a recipe calls secret, before it runs; `extends` must be merged in."""
        self._names |= recipe.secrets
        self._seen = {**recipe.context, **self._seen}
        self._learn_seen(recipe.secrets)
        for name in recipe.secrets & recipe.context.keys():
            self.learn(name, recipe.context[name])
        self._writers |= {
            (recipe.name, step.id) for step in every_step(recipe.steps) if self._secret_step(step)
        }

    def learn(self, name: str, value: Value) -> None:
        """From now on `name` is a secret variable and `value`, with every text in it, a secret."""
        self._names.add(name)
        self._add(list(_texts(value)))

    def _secret_step(self, step: Step) -> bool:
        collected = step.loop.collect if step.loop else None
        return step.result_name in self._names or collected in self._names

    def _learn_seen(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._seen:
                self.learn(name, self._seen[name])

    def _add(self, secrets: Sequence[str]) -> None:
        new = {form for secret in secrets for form in forms(secret) if form and not form.isspace()}
        if not new <= self._forms.keys():
            known = sorted(new | self._forms.keys(), key=lambda form: (-len(form), form))
            self._forms = dict.fromkeys(known)

    # masking ----------------------------------------------------------------------------------------------

    def redact_text(self, text: str) -> str:
        """The text with every secret masked; one that is broken up by colours loses the colours too."""
        masked = self._mask(text)
        if self._forms and "\x1b" in masked:
            plain = strip_colours(masked)
            without = self._mask(plain)
            return masked if without == plain else without
        return masked

    def _mask(self, text: str) -> str:
        # Looking for each form on its own is faster than one pattern of them all: most texts hold none.
        found = [form for form in self._forms if form in text]
        if len(found) == 1:
            return text.replace(found[0], MASK)
        return _mask_spans(text, _spans(text, found)) if found else text

    def redact_value(self, value: Value) -> Value:
        """The value with secrets masked at any depth, and whatever a secret name holds."""
        if isinstance(value, str):
            return self.redact_text(value)
        if isinstance(value, Mapping):
            return self._redact_values(value)
        if isinstance(value, Sequence):
            return [self.redact_value(item) for item in value]
        return MASK if to_text(value) in self._forms else value

    def _redact_values(self, values: Mapping[str, Value]) -> dict[str, Value]:
        return {
            self.redact_text(name): MASK if name in self._names else self.redact_value(value)
            for name, value in values.items()
        }

    def redact_step(self, result: StepResult) -> StepResult:
        """The result without secrets; nothing remains of the output of a step that writes a secret."""
        hidden = self._is_hidden(result.identity)
        if hidden and result.status == "failed":
            self._add([result.output, tail(result.output, _QUOTED)])  # its error may quote what it printed
        show = _masked if hidden else self.redact_text
        return replace(
            result,
            output=show(result.output),
            stderr=show(result.stderr),
            error=self.redact_text(result.error),
            skip_reason=self.redact_text(result.skip_reason),
            warnings=self._redact_all(result.warnings),
            children=tuple(self.redact_step(child) for child in result.children),
        )

    def redact_result(self, result: RunResult) -> RunResult:
        """The run's result as anyone may see it."""
        return replace(
            result,
            step_results=tuple(self.redact_step(step) for step in result.step_results),
            context=self._redact_values(result.context),
            error=self.redact_text(result.error),
            warnings=self._redact_all(result.warnings),
            summary=self.redact_text(result.summary),
        )

    def redact_event(self, event: Event) -> Event:
        """The event as anyone may see it; learns what it says about secret variables.

        Names that stand in the recipe's own text (ids, identities, recipes) stay as they are.
        """
        match event:
            case RunStarted() | RecipeEntered() | IterationStarted():
                return event
            case RunFinished(result):
                return RunFinished(self.redact_result(result))
            case StepStarted():
                if (event.recipe, event.step_id) in self._writers:
                    self._hidden.add(event.identity)
                return replace(event, title=self._redact_title(event))
            case StepFinished():
                return replace(event, result=self.redact_step(event.result))
            case OutputStored():
                return self._stored(event)
            case Retrying():
                return replace(event, reason=self.redact_text(event.reason))
            case GateReached():
                return replace(event, prompt=self.redact_text(event.prompt))
            case GateDecided():
                return replace(event, message=self.redact_text(event.message))
            case Warned():
                return replace(event, what=self.redact_text(event.what))
            case LinePrinted():
                show = _masked if self._is_hidden(event.identity) else self.redact_text
                return replace(event, line=show(event.line))
            case _:
                assert_never(event)

    def _redact_title(self, event: StepStarted) -> str:
        return event.title if event.title == event.step_id else self.redact_text(event.title)

    def _stored(self, event: OutputStored) -> OutputStored:
        self._seen.update(event.values)
        self._learn_seen(self._names & event.values.keys())
        return replace(event, values=self._redact_values(event.values))

    def _is_hidden(self, identity: str) -> bool:
        return bool(self._hidden) and (
            identity in self._hidden or identity.rpartition("[")[0] in self._hidden
        )

    def _redact_all(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.redact_text(text) for text in texts)


def _masked(text: str) -> str:
    return MASK if text else ""


def _texts(value: Value) -> Iterator[str]:
    """The texts inside a value; truth values and null tell nothing."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)
    elif value is not None and not isinstance(value, bool) and len(to_text(value)) >= _SHORTEST_NUMBER:
        yield to_text(value)


def _spans(text: str, found: Iterable[str]) -> list[tuple[int, int]]:
    spans = []
    for form in found:
        start = text.find(form)
        while start >= 0:
            spans.append((start, start + len(form)))
            start = text.find(form, start + 1)
    return sorted(spans)


def _mask_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """One mask for each stretch of secrets that overlap or touch."""
    parts: list[str] = []
    position, end = 0, -1
    for start, stop in spans:
        if start > end:
            parts += [text[position:start], MASK]
        position = end = max(end, stop)
    return "".join([*parts, text[position:]])
