"""Choose the model of a session: the wished one, else the bundle's own, else what this machine has.

Pure: the wish, the providers of the plan and the facts about the machine in, providers of the plan out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amplihack.errors import NotFound, NothingToUse, UsageError
from amplihack.patterns import pattern
from amplihack.records import Record, field
from amplihack.sessions.models import is_glob_pattern
from amplihack.sessions.preferences import override_provider
from amplihack.sessions.providers import Entry, find_provider_index, priority_of

MODEL_VARIABLE = "AMPLIHACK_MODEL"  # what `--model` says, for every session
SMALL_MODEL = "smollm2-135m"  # the one that is offered to whoever has nothing else
_BASE_URL = "OPENAI_BASE_URL"
_OF_OPENAI = pattern(r"(?:gpt|chatgpt|o\d)[-\w.]*")


class KnownService(Record):
    """A service that needs nothing but a key: its module, its package, and where its key is."""

    module: str
    package: str
    key: str


SERVICES: dict[str, KnownService] = {  # in order of preference
    "anthropic": KnownService("provider-anthropic", "anthropic", "ANTHROPIC_API_KEY"),
    "openai": KnownService("provider-openai", "openai", "OPENAI_API_KEY"),
}


class ModelFacts(Record, kw_only=True):
    """What the choice depends on: variables, packages that are installed, models that are here."""

    environment: Mapping[str, str] = field(repr=False)
    packages: frozenset[str] = frozenset()
    models_here: tuple[str, ...] = ()  # the largest last
    models_known: tuple[str, ...] = ()
    without_tools: frozenset[str] = frozenset()  # models that tools are of no use to

    def has_key(self, service: KnownService) -> bool:
        return bool(self.environment.get(service.key))

    @property
    def base_url(self) -> str:
        return self.environment.get(_BASE_URL, "")


class ChosenModel(Record):
    """The providers of a session, how to call the model that answers, and whether tools are of use to it."""

    providers: list[Entry]
    label: str
    uses_tools: bool = True


def choose_model(planned: Sequence[Entry], wish: str | None, facts: ModelFacts) -> ChosenModel:
    """Return the providers to mount. Raises UsageError for a wish without meaning, or NothingToUse."""
    wish = wish or facts.environment.get(MODEL_VARIABLE) or None
    if wish is not None:
        return _wished(planned, wish, facts)
    if planned:
        return ChosenModel(list(planned), _label(min(planned, key=priority_of)))
    return _found(facts)


def is_configured(facts: ModelFacts) -> bool:
    """Tell whether a service can be asked without any wish: a key, an address, or a wish in a variable."""
    return any(map(facts.has_key, SERVICES.values())) or bool(
        facts.base_url or facts.environment.get(MODEL_VARIABLE)
    )


def has_local(facts: ModelFacts) -> bool:
    """Tell whether a model of this machine can be asked: its weights and its engine are here."""
    return bool(facts.models_here) and "xllamacpp" in facts.packages


def scripted(config: Mapping[str, Any], name: str) -> ChosenModel:
    """Return the provider that answers from a script."""
    return ChosenModel([{"module": "provider-scripted", "config": dict(config)}], name)


# A wish -----------------------------------------------------------------------------------------------------


def _wished(planned: Sequence[Entry], wish: str, facts: ModelFacts) -> ChosenModel:
    provider, slash, model = wish.partition("/")
    if wish.endswith(".gguf"):
        return _local(wish.removeprefix("local/"), facts)
    if wish in facts.models_known:
        return _local(wish, facts)
    if (slash or find_provider_index(planned, wish) is not None) and is_provider(planned, provider):
        return _of_provider(planned, provider, model, facts)
    if len(planned) == 1:
        return _with(planned, 0, wish)
    if wish.startswith("claude"):
        return _of_provider(planned, "anthropic", wish, facts)
    if _OF_OPENAI.fullmatch(wish) or facts.base_url:
        return _of_provider(planned, "openai", wish, facts)
    if is_provider(planned, wish):
        return _of_provider(planned, wish, "", facts)
    raise UsageError(f"which model is {wish!r}?", fix=_how_to_name(planned, facts))


def is_provider(planned: Sequence[Entry], name: str) -> bool:
    """Tell whether a name means a provider: one of the plan, a service that we know, or this machine."""
    return name in SERVICES or name == "local" or find_provider_index(planned, name) is not None


def _of_provider(planned: Sequence[Entry], name: str, model: str, facts: ModelFacts) -> ChosenModel:
    index = find_provider_index(planned, name)
    if index is not None:
        return _with(planned, index, model)
    if name == "local":
        return _local(model, facts)
    return _service(name, model, facts)


def _with(planned: Sequence[Entry], index: int, model: str) -> ChosenModel:
    """Return the plan's providers with one of them first, and this model if one is named."""
    wanted = model or _model_of(planned[index])
    chosen = override_provider({}, planned, index, wanted)["providers"]
    if not wanted:
        del chosen[index]["config"]["default_model"]
    return ChosenModel(chosen, _label(chosen[index]))


def _local(model: str, facts: ModelFacts) -> ChosenModel:
    """Return the provider with this model of the machine, or with the largest that is here.

    Raises NotFound for a model that nobody knows, NothingToUse for one that is not here. No file is read.
    """
    model = model or (facts.models_here[-1] if facts.models_here else "")
    _require_local(model, facts)
    entry: Entry = {"module": "provider-local", "config": {"model": model} if model else {}}
    return ChosenModel([entry], _label(entry), model not in facts.without_tools)


def _require_local(model: str, facts: ModelFacts) -> None:
    is_name = not model.endswith(".gguf") and not is_glob_pattern(model)
    if model and is_name and model not in facts.models_known:
        fix = f"there are {', '.join(facts.models_known)}; or give the path of a .gguf file"
        raise NotFound(f"there is no local model {model!r}", fix=fix)
    if is_name and model not in facts.models_here:
        fix = f"`amplihack model pull {model or SMALL_MODEL}` fetches it"
        raise NothingToUse(f"the model {model} is not here" if model else "there is no local model", fix=fix)
    if "xllamacpp" not in facts.packages:
        what = "the package 'xllamacpp' is missing, which runs models on this machine"
        raise NothingToUse(what, fix="pip install 'amplihack[local]'")


def _service(name: str, model: str, facts: ModelFacts) -> ChosenModel:
    service = SERVICES[name]
    own = name == "openai" and facts.base_url and not facts.has_key(service)
    if own and not model:
        what = f"{_BASE_URL} is set, but not which model to ask there"
        raise UsageError(what, fix=f"name it with --model openai/NAME, or in {MODEL_VARIABLE}")
    if not own and not facts.has_key(service):
        raise NothingToUse(f"there is no key for {name}", fix=f"set {service.key}, or choose another --model")
    if service.package not in facts.packages:
        what = f"the package {service.package!r} is missing, which asks models of {name}"
        raise NothingToUse(what, fix=f"pip install 'amplihack[{name}]'")
    config: dict[str, Any] = {"default_model": model} if model else {}
    if own:
        config |= {"base_url": facts.base_url, "name": "openai"}
    entry: Entry = {"module": "provider-chat-completions" if own else service.module, "config": config}
    return ChosenModel([entry], f"{name}/{model}" if model else name)


def _how_to_name(planned: Sequence[Entry], facts: ModelFacts) -> str:
    names = [str(entry.get("module", "")).removeprefix("provider-") for entry in planned]
    forms = dict.fromkeys([*(f"{each}/MODEL" for each in names), "anthropic/MODEL", "openai/MODEL"])
    known = [f"local/{each}" for each in facts.models_known]
    return f"write it as {', '.join([*forms, *known])}, a .gguf file or scripted:FILE"


# Nothing is wished -----------------------------------------------------------------------------------------


def _found(facts: ModelFacts) -> ChosenModel:
    keyed = [name for name, service in SERVICES.items() if facts.has_key(service)]
    ready = [name for name in keyed if SERVICES[name].package in facts.packages]
    if ready or keyed:
        return _service((ready or keyed)[0], "", facts)
    if facts.base_url:
        return _service("openai", "", facts)
    if has_local(facts):
        return _local("", facts)
    raise NothingToUse("there is no model to ask", fix=f"there are two ways:\n{ways_to_a_model(facts)}")


def ways_to_a_model(facts: ModelFacts) -> str:
    """Say how to get a model, in two lines. The commands can be copied."""
    extra = "" if "xllamacpp" in facts.packages else "pip install 'amplihack[local]', then "
    pull = "" if facts.models_here else f"`amplihack model pull {SMALL_MODEL}`"
    local = f"{extra}{pull}".removesuffix(", then ") or "--model local"
    return (
        f"    a key          set ANTHROPIC_API_KEY or OPENAI_API_KEY ({_BASE_URL} for your own service)\n"
        f"    this machine   {local}: no account, no network afterwards"
    )


def _model_of(entry: Mapping[str, Any]) -> str:
    config = entry.get("config")
    found = config.get("default_model") or config.get("model") if isinstance(config, Mapping) else None
    return found if isinstance(found, str) else ""


def _label(entry: Mapping[str, Any]) -> str:
    name = str(entry.get("instance_id") or entry.get("id") or entry.get("module", ""))
    model = _model_of(entry)
    short = name.removeprefix("provider-")
    return f"{short}/{model}" if model else short
