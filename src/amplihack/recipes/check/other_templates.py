"""Report template syntax of other tools, in texts that look as if it was meant for this one."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from amplihack.errors import Problem, Severity
from amplihack.patterns import pattern
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.foreign_braces import OPPOSITES, Unsupported, find_comments, find_erb, unsupported
from amplihack.recipes.model import Agent, Bash, Recipe, Text, every_step
from amplihack.recipes.placeholders import find_literal, find_variables, show
from amplihack.recipes.templates.text import literal_fix

_CLOSING = pattern(r"\{\{[ \t]*(?:/|else\b)")
_TAG = pattern(r"\{%[-+]?[ \t]*(?:if|for|set|unless|assign|macro|include|block|with)\b(?P<rest>[^%\n]*)%\}")
_NAME = r"([A-Za-z_]\w*)"
_SIGNS = pattern(  # each with the name of a variable
    rf"(?<![{{$%#@\\\w])(?:\{{{_NAME}\}}(?!\}})|\${_NAME}|\$\{{{_NAME}(?:\.\w+)*\}}|%{_NAME}%"
    rf"|\$\({_NAME}\)|[#@]\{{{_NAME}\}}|\[\[{_NAME}\]\](?!\()|<<{_NAME}>>|\{{\{{[ \t]*\.{_NAME}[ \t]*\}}\}})"
)
_FIRST_NAME = pattern(r"[A-Za-z_][\w-]*")


def other_templates(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find blocks and filters of other template languages, which stay in the text as they are."""
    for text in _texts(subject.recipe):
        if "{{" in text.text:
            yield from _expressions(text, subject.names)
        for found in (*find_erb(text.text), *find_comments(text.text)):
            yield _problem(found, text, subject.names)
        if "{%" in text.text:
            yield from _tags(text, subject.names)
    for step in subject.steps:  # what scripts have of this is judged with their quotes
        if isinstance(step.action, Agent):
            yield from _literal(step.action.prompt, subject.names)
            yield from _other_signs(step.action.prompt, subject.names)


def signs_in_prompts(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find those of them in prompts that a run does not tell when it asks the agent."""
    for step in subject.steps:
        if isinstance(step.action, Agent):
            yield from _tags(step.action.prompt, subject.names)
            yield from _other_signs(step.action.prompt, subject.names)


def _expressions(text: Text, known: Collection[str]) -> Iterator[Problem]:
    """Find `{{x | upper}}`, `{{#if x}}` and their like; of the blocks of a text, the first speaks for all."""
    told: set[int | Severity] = set()
    for found in unsupported(text.text):
        if found.what == "empty" or (found.what == "block" and _CLOSING.match(found.text)):
            continue
        problem = _problem(found, text, known)
        key = problem.severity if found.what == "block" else found.start
        if key not in told:
            told.add(key)
            yield problem


def _tags(text: Text, known: Collection[str]) -> Iterator[Problem]:
    """Find `{% if x %}` and its like; the first of a text speaks for all."""
    if found := _TAG.search(text.text):
        ours = any(name in known for name in _FIRST_NAME.findall(found["rest"]))
        what = f"{found.group()} stays in the text as it is: only {{{{name}}}} is filled in"
        where = text.at(found.start())
        yield finding("unsupported-template", "warning" if ours else "note", what, where, OPPOSITES)


def _literal(text: Text, known: Collection[str]) -> Iterator[Problem]:
    for found in find_literal(text.text):
        if found.path[0] in known:
            name = show(found.path)
            what = f"${{{{{name}}}}} stays in the text as it is, although there is a variable {name}"
            where, fix = text.at(found.start), literal_fix(text.text, found)
            yield finding("unsupported-template", "warning", what, where, fix)


def _other_signs(prompt: Text, known: Collection[str]) -> Iterator[Problem]:
    """Find `{name}`, `$name`, `[[name]]` and their like for our variables, which stay in a prompt.

    A prompt that has the variable as a placeholder too may well speak of such a sign.
    """
    filled = {found.path[0] for found in find_variables(prompt.text)}
    for found in _SIGNS.finditer(prompt.text):
        name = found[found.lastindex or 0]
        if name in known and name not in filled:
            what = f"{found[0]} stays in the prompt as it is: only {{{{{name}}}}} is filled in"
            where, fix = prompt.at(found.start()), f"write {{{{{name}}}}}"
            yield finding("unsupported-template", "warning", what, where, fix)


def _texts(recipe: Recipe) -> Iterator[Text]:
    for stage in recipe.stages:
        if stage.approval:
            yield stage.approval.prompt
    for step in every_step(recipe.steps):
        if step.working_dir:
            yield step.working_dir
        match step.action:
            case Bash(command):
                yield command
            case Agent(prompt):
                yield prompt
    if recipe.summary:
        yield recipe.summary


def _problem(found: Unsupported, text: Text, known: Collection[str]) -> Problem:
    what, fix = found.explained()
    ours = found.is_ours(known) or (found.what == "comment" and _fills_in(text, known))
    level: Severity = "warning" if ours else "note"
    return finding("unsupported-template", level, what, text.at(found.start), fix)


def _fills_in(text: Text, known: Collection[str]) -> bool:
    """Tell whether a text is a template of this recipe, and not only speaks of one."""
    return any(found.path[0] in known for found in find_variables(text.text))
