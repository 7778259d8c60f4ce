"""Read what an agent step asks, of whom, and of which models."""

from __future__ import annotations

from collections.abc import Mapping as Named

from amplihack.documents import Mapping, Node, Sequence, to_value
from amplihack.documents.suggest import closest
from amplihack.recipes.model import Agent, ModelChoice, Text
from amplihack.recipes.reading import Fields, Report
from amplihack.recipes.values import Value, to_json, to_text


def agent_of(fields: Fields, owner: str, names: Named[str, str], report: Report) -> Agent:
    """Return the action of an agent step; `names` are the short names that the file has for agents."""
    if "message" in fields.node.entries and "agent" not in fields:
        # Elsewhere it is what a step prints or sends, and that would be put to an agent and paid for.
        what = f"{owner}'message' is put to an agent, and the step names none"
        fix = "write `prompt:` if an agent is to be asked, or a `command:` that prints or sends it"
        report.add("foreign-word", what, fields.node.entries["message"].where, fix)
    return Agent(
        prompt=fields.text("prompt") or Text(described(fields)),
        agent=names.get(fields.word("agent") or "", fields.word("agent")),
        mode=fields.word("mode"),
        models=_models(fields, owner, report),
        model_role=fields.word("model_role"),
        config=fields.map("agent_config"),
        own_process=fields.word("spawn_mode") == "subprocess",
        auto_stage=fields.flag("auto_stage"),
    )


def described(fields: Fields) -> str:
    """Return a prompt made of the words that a step without one still has."""
    parts = [fields.word("task") or "", fields.word("description") or ""]
    if actions := fields.data("actions"):
        parts.append("\n".join(f"- {to_text(each)}" for each in _listed(actions)))
    if skill := fields.word("skill"):
        parts.append(f"Use the skill {skill}.")
    if inputs := fields.data("inputs"):
        parts.append("Inputs:\n" + (inputs if isinstance(inputs, str) else to_json(inputs)))
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _listed(value: Value) -> list[Value]:
    return value if isinstance(value, list) else [value]


def _models(fields: Fields, owner: str, report: Report) -> tuple[ModelChoice, ...]:
    provider, model = fields.word("provider"), fields.word("model")
    preferences = fields.nodes.get("provider_preferences")
    if preferences is None:
        return (ModelChoice(provider, model),) if provider or model else ()
    if provider or model:
        report.add(
            "contradiction",
            f"{owner}'provider_preferences' stands beside 'provider' or 'model'",
            preferences.where,
            "keep the list alone",
        )
    if not isinstance(preferences, Sequence):
        report.add(
            "wrong-type",
            f"{owner}'provider_preferences' should be a list",
            preferences.where,
            "write `provider_preferences: [{provider: anthropic, model: claude-…}]`",
        )
        return ()
    for item in preferences.items:
        _tell_strange(item, owner, report)
    return tuple(_model_choice(to_value(item)) for item in preferences.items)


def _tell_strange(item: Node, owner: str, report: Report) -> None:
    """Tell of an entry that names no model, and of words in one that nothing reads."""
    if not isinstance(item, Mapping):
        return
    for key in item.entries.keys() - _OF_MODELS:
        meant = closest(key, _OF_MODELS)
        what = f"{owner}provider_preferences: unrecognized field '{key}' (possible typo)"
        fix = f"did you mean '{meant}'?" if meant else f"write {', '.join(sorted(_OF_MODELS))}"
        report.add("unknown-field", what, item.where_key(key), fix, "warning")
    if item.entries.keys().isdisjoint(_OF_MODELS):
        what = f"{owner}provider_preferences: an entry names neither a provider nor a model"
        report.add("no-effect", what, item.where, "write `{provider: anthropic, model: claude-…}`", "warning")


_OF_MODELS = frozenset({"provider", "model", "class"})


def _model_choice(item: Value) -> ModelChoice:
    if isinstance(item, dict):
        provider, model = item.get("provider"), item.get("model", item.get("class"))
        return ModelChoice(str(provider) if provider else None, str(model) if model else None)
    return ModelChoice(None, str(item))
