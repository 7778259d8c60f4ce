"""List every finding that the check knows, by its code."""

from __future__ import annotations

from typing import Final

from amplihack.errors import Location, Problem, Severity

CODES: Final[dict[str, str]] = {
    "bash-arithmetic": "A value that is no number stands where bash calculates.",
    "bash-refused": "A placeholder stands where no value can be safe, so the step cannot run.",
    "bash-source": "A value is run as a program: through eval, bash -c or the like.",
    "bash-syntax": "A script that is wrong by bash's own grammar.",
    "broken-recipe": "A sub-recipe that is there and cannot be read.",
    "carriage-return": "Every line of a script ends with a carriage return, which bash takes for text.",
    "code-source": "A value becomes part of a program in another language.",
    "command-word": "A placeholder stands in place of a command; its value is one word, spaces included.",
    "condition-constant": "A condition, or a part of one, has the same answer whatever the variables hold.",
    "condition-fails": "A condition can only fail: the expression has no value.",
    "endless-recursion": "A recipe calls itself again and again, and no condition can stop it.",
    "failing-recipe": "A call of a recipe that can only fail.",
    "foreach-no-list": "A loop goes over what is no list, or over a list with more items than it may.",
    "json-as-text": "A result that is read as JSON is compared with a text.",
    "may-be-empty": "A variable is empty when the step that sets it is skipped or fails.",
    "missing-input": "A sub-recipe needs a variable that the caller does not give.",
    "never-equal": "Two sides of a comparison can never match, by their kinds or their spelling.",
    "never-runs": "A step, a stage or a loop that nothing can start.",
    "override-nothing": "A step overrides an inherited step that does not exist.",
    "parallel-conflict": "Steps that run at the same time write the same variable, or read each other's.",
    "pointless-retry": "A `retry` that never tries again: one attempt is allowed, or no exit code fails.",
    "reserved-name": "A result or a variable has a name that belongs to the runner.",
    "set-by-caller": "A variable that only a recipe which calls this one sets.",
    "split-group": "Members of a parallel group that do not stand together, or one that is alone.",
    "name-as-text": "The name of a value, where nothing but a placeholder gives the value.",
    "sum-as-text": "A value that looks like a sum, in a place where nothing is calculated.",
    "text-as-flag": 'A text such as "false" is tested as it is, and every text that is not empty holds.',
    "too-deep": "Sub-recipes are nested deeper than the limit allows.",
    "too-many-steps": "A recipe needs more steps than `max_total_steps` allows.",
    "typographic-sign": "A curly quote or a long dash in a script, which bash takes for a letter.",
    "undefined-variable": "A variable that nothing declares and no step sets.",
    "unexported-variable": "A script asks the shell for a variable that it only has under another name.",
    "unknown-agent": "An agent that is not known here.",
    "unknown-dependency": "A step depends on one that does not exist or comes later.",
    "unknown-input": "A caller gives a sub-recipe a variable that it does not use.",
    "unknown-key": "A part of a value that the value does not have.",
    "unknown-recipe": "A sub-recipe that cannot be found.",
    "unknown-rule": "A rule of `context_validation` that nobody knows, so that it checks nothing.",
    "unknown-secret": "A name in `secrets` that nothing sets.",
    "unknown-step": "A mention of a step that the recipe does not have.",
    "unreachable-result": "A result under a name that no placeholder can have.",
    "unsupported-template": "Template syntax of another tool, which stays in the text as it is.",
    "unused-output": "A result that nothing uses.",
    "unused-setting": "A setting of agents, in a recipe that asks none and calls no other.",
    "used-before-set": "A variable is used before the step that sets it has run.",
    "word-loop": "A shell loop goes over one placeholder, whose value is one word, so it has one round.",
    "wrong-input": "A caller gives an input of a sub-recipe a value that it cannot have.",
    "wrong-number": "A time or a count comes from a variable whose value is no such number.",
}

UNREADABLE: Final = "unreadable"  # in JSON and SARIF: what is wrong with the YAML itself has no code


def finding(code: str, severity: Severity, what: str, where: Location, fix: str = "") -> Problem:
    """Make a problem; its code has to be in the table."""
    if code not in CODES:
        raise KeyError(code)
    return Problem(what, where, fix, severity, code)
