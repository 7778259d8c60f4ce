"""Makes the parts of framework.md that are drawn from the recipes: the routes, the inputs and the cost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from amplihack import Recipe, Step, parse_condition, parse_recipe
from amplihack.recipes.conditions import And, Expression, Not, Or, evaluate, references
from amplihack.recipes.model import Agent, Body, Foreach, Stage, SubRecipe, While, every_step
from amplihack.recipes.values import Value, to_json

FOLDER = Path(__file__).parents[1] / "amplifier-bundle" / "recipes"
PAGE = Path(__file__).with_name("framework.md")
RECIPES = {path.stem: parse_recipe(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.yaml"))}
START = "smart-orchestrator"

# A run in which all goes well: what the variables hold when a condition asks for them.
_WELL: dict[str, Value] = {
    "adaptive_recipe": "",
    "adapted": 0,
    "change": "a change",
    "changed_files": "a.py",
    "decomposition_json": {"task_type": "Development"},
    "difference": "a difference",
    "findings": ["found"],
    "goal_status": "ACHIEVED",
    "ops_modified_files": "",
    "plan": {"questions": ["one", "two"]},
    "review": {"verdict": "approve", "findings": []},
    "round_2_result": "",
    "round_3_result": "",
    "route": "development",
    "stream_type": "Development",
    "task_type": "Development",
    "tests_status": "passed",
    "workstreams": ["one", "two"],
    "worth_reflecting": True,
}
_ONE_ROUND: dict[str, Value] = {"round_2_result": "", "round_3_result": ""}
# What holds in every run of a route, whatever goes wrong.
_ROUTES: dict[str, dict[str, Value]] = {
    "question": {"task_type": "Q&A", "worth_reflecting": False, **_ONE_ROUND},
    "operations": {"task_type": "Operations"},
    "investigation": {"task_type": "Investigation"},
    "development": {"task_type": "Development"},
    "parallel": {
        **_ONE_ROUND,
        "task_type": "Development",
        "changed_files": "",
        "stream_type": "Development",
        "workstreams": ["one", "two"],
    },
}
_IN_ALL: dict[str, Value] = {"adaptive_recipe": ""}  # no route without a workflow


def framework_page() -> str:
    """Return framework.md with its generated blocks made anew."""
    page = PAGE.read_text("utf-8")
    for name, text in {"routes": _picture(), "costs": _costs(), "recipes": _recipes()}.items():
        pattern = rf"(<!-- {name}: .*? -->\n).*?(<!-- end of {name} -->)"
        page, count = re.subn(
            pattern, lambda found, text=text: f"{found[1]}{text}{found[2]}", page, flags=re.DOTALL
        )
        if count != 1:
            raise ValueError(f"framework.md has {count} blocks called {name}, not one")
    return page


# the routes -------------------------------------------------------------------------------------------------


def _picture() -> str:
    lines = ["```mermaid", "flowchart TD"]
    seen: list[str] = []
    for caller, step, called in _calls_below(START):
        for name in (caller, called):
            if name not in seen:
                seen.append(name)
                lines.append(f'  {_node(name)}["{name}{_asks(name)}"]')
        edge = f"  {_node(caller)} -->{_label(step)} {_node(called)}"
        if edge not in lines:
            lines.append(edge)
    return "\n".join([*lines, "```", ""])


def _calls_below(name: str, done: set[str] | None = None) -> Iterator[tuple[str, Step, str]]:
    done = set() if done is None else done
    if name in done:
        return
    done.add(name)
    calls = [(step, step.action) for step in every_step(RECIPES[name].steps)]
    called = [(step, action.recipe.text) for step, action in calls if isinstance(action, SubRecipe)]
    yield from ((name, step, target) for step, target in called)
    for _, target in called:
        yield from _calls_below(target, done)


def _node(name: str) -> str:
    return name.replace("-", "_")


def _asks(name: str) -> str:
    recipe = RECIPES[name]
    agents = sum(isinstance(step.action, Agent) for step in every_step(recipe.steps))
    gates = sum(stage.approval is not None for stage in recipe.stages)
    notes = [f"{agents} agent step{'s' * (agents > 1)}"] * bool(agents) + ["a gate"] * bool(gates)
    return f"<br/>{', '.join(notes)}" if notes else ""


def _label(step: Step) -> str:
    if step.condition is None:
        return ""
    words = " ".join(step.condition.text.split()).replace('"', "'")
    return f'|"{words if len(words) <= 60 else words[:57] + "…"}"|'


# the cost ---------------------------------------------------------------------------------------------------


def _costs() -> str:
    rows = [
        f"| {route} | {_asked(START, {**_WELL, **_usual(route)}, most=False)} "
        f"| {_asked(START, {**_IN_ALL, 'route': route, **values}, most=True)} |"
        for route, values in _ROUTES.items()
    ]
    return "\n".join(["| route | if all goes well | at most |", "| --- | --- | --- |", *rows, ""])


def _usual(route: str) -> dict[str, Value]:
    unchanged: dict[str, Value] = {"worth_reflecting": False} if route == "operations" else {}
    return {"route": route, **_ROUTES[route], **unchanged}


def _asked(name: str, known: Mapping[str, Value], *, most: bool) -> int:
    """Return how many agents a recipe asks; `most` counts all that the known values do not rule out."""
    return sum(
        _asked_by_step(step, RECIPES[name], known, most=most)
        for stage in RECIPES[name].stages
        for step in stage.steps
        if _may_run(stage, known, most=most)
    )


def _asked_by_step(step: Step, recipe: Recipe, known: Mapping[str, Value], *, most: bool) -> int:
    if not _may_run(step, known, most=most):
        return 0
    match step.action:
        case Agent():
            once = 1
        case SubRecipe(called):
            once = _asked(called.text, known, most=most)
        case Body(steps):
            once = sum(_asked_by_step(each, recipe, known, most=most) for each in steps)
        case _:
            once = 0
    return once * _rounds(step, recipe, known, most=most)


def _rounds(step: Step, recipe: Recipe, known: Mapping[str, Value], *, most: bool) -> int:
    match step.loop and step.loop.over:
        case None:
            return 1
        case While(test):
            [limit] = re.findall(r"loop\.index <= (\w+)", test.text)  # every loop here has such an end
            begins = _holds(parse_condition(test.text).tree, {**known, "loop": {"index": 1}})
            return int(str(recipe.context.get(limit, limit))) if most or begins else 0
        case Foreach(items):
            value = evaluate(parse_condition(str(getattr(items, "text", items))).tree, known)
            return len(value) if isinstance(value, list) else step.loop.max_iterations if step.loop else 1
    return 1


def _may_run(what: Step | Stage, known: Mapping[str, Value], *, most: bool) -> bool:
    if what.condition is None:
        return True
    answer = _holds(parse_condition(what.condition.text).tree, known)
    return answer is not False if most else answer is True


def _holds(tree: Expression, known: Mapping[str, Value]) -> bool | None:
    """Return whether a condition holds, or None where the known values do not tell."""
    match tree:
        case And(operands) | Or(operands):
            answers = [_holds(operand, known) for operand in operands]
            decisive = isinstance(tree, Or)
            if decisive in answers:
                return decisive
            return None if None in answers else not decisive
        case Not(operand):
            answer = _holds(operand, known)
            return None if answer is None else not answer
    if any(reference.path[0] not in known for reference in references(tree)):
        return None
    return bool(evaluate(tree, known))


# the recipes ------------------------------------------------------------------------------------------------


def _recipes() -> str:
    groups = {
        "orchestration": "The orchestrator and its four phases",
        "development": "Development",
        "investigation": "Investigation",
        "everyday": "Everyday recipes",
        "helper": "Parts that the others use",
    }
    left = dict(RECIPES)
    parts = []
    for tag, title in groups.items():
        chosen = [name for name, recipe in left.items() if tag in recipe.tags]
        parts += [f"### {title}\n", *(_recipe(left.pop(name)) for name in chosen)]
    if left:
        raise ValueError(f"these recipes have no tag that this page knows: {sorted(left)}")
    return "\n".join(parts)


def _recipe(recipe: Recipe) -> str:
    rows = [
        f"| `{name}` | {said.description} | {_default(recipe, name)} |"
        for name, said in recipe.declared.items()
    ]
    table = ["| input | what it is | default |", "| --- | --- | --- |", *rows, ""]
    asked = _asked(recipe.name, {}, most=True)
    agents = f" At most {asked} agent call{'s' * (asked > 1)}." if asked else " No agent takes part."
    cost = "" if "orchestration" in recipe.tags or recipe.name == "parallel-workstreams" else agents
    return "\n".join([f"**`{recipe.name}`** — {recipe.description}{cost}\n", *table])


def _default(recipe: Recipe, name: str) -> str:
    if recipe.declared[name].required:
        return "required"
    value = recipe.context.get(name)
    shown = value if isinstance(value, str) else to_json(value)
    choices = ", ".join(f"`{each}`" for each in recipe.declared[name].choices if each != value)
    return (f"`{shown}`" if shown else "") + (f" (or {choices})" if choices else "")
