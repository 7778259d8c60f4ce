"""Decide whether a tool may do something. Pure: the call and the rules in, the decision out.

The first rule that fits wins; without one the mode decides. `match` is a glob on what the tool would do: the
command, the path, the address. A command is split at `;`, `&&`, `||` and `|`, and an allowing rule must fit
every part of it, so that `git status*` does not allow `git status; rm -rf .`. A command with anything that
the shell would replace or redirect is one part, and only a rule that is written exactly so allows it; one
that denies or asks fits it wherever its words stand in it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import PurePath
from typing import Any, Literal, TypeAlias

from amplihack.records import Record
from amplihack.sessions.compaction import shortened

Action: TypeAlias = Literal["allow", "deny", "ask"]
MODES = ("ask", "auto-edit", "plan", "yolo")

_READING = {"read_file", "grep", "glob", "todo"}
_EDITING = {"write_file", "edit_file"}
_LOOKING = {"list", "validate", "status"}  # actions of the tool `recipes`
_DECIDING = {"approve", "deny"}
# What says everything that matters of a call. Of other tools, all arguments matter.
_SUBJECTS = {
    "bash": "command",
    "read_file": "file_path",
    "write_file": "file_path",
    "edit_file": "file_path",
    "web_fetch": "url",
    "grep": "pattern",
    "glob": "pattern",
}
_HOUSE = {".git", ".amplihack"}
_TRICKY = set("$`<>(){}\n\\!")
_LONGEST = 20_000  # characters that are taken apart, which takes quadratic time
_BETWEEN = {";", "&&", "||", "|"}


class ApprovalRule(Record):
    tool: str  # a glob
    match: str  # a glob
    action: str


class ToolDecision(Record):
    action: Action
    reason: str = ""


def decide(mode: str, rules: Sequence[ApprovalRule], tool: str, arguments: Mapping[str, Any]) -> ToolDecision:
    """Return what to do about a call."""
    subject = subject_of(tool, arguments)
    for rule in rules:
        if fnmatchcase(tool, rule.tool) and _fits(rule, tool, subject):
            why = f"a rule denies {tool}: {rule.match}" if rule.action == "deny" else ""
            return ToolDecision(_ACTIONS[rule.action], why)
    return _by_mode(mode, tool, arguments)


_ACTIONS: dict[str, Action] = {"allow": "allow", "deny": "deny", "ask": "ask"}


def _by_mode(mode: str, tool: str, arguments: Mapping[str, Any]) -> ToolDecision:
    at_gate = tool == "recipes" and arguments.get("action") in _DECIDING  # for a person, in any mode
    harmless = tool in _READING or (tool == "recipes" and arguments.get("action") in _LOOKING)
    plain_edit = tool in _EDITING and not _is_of_the_house(str(arguments.get("file_path", "")))
    if (mode == "yolo" and not at_gate) or harmless or (mode == "auto-edit" and plain_edit):
        return ToolDecision("allow")
    if mode == "plan":
        return ToolDecision("deny", f"{tool} is not used while planning: say what you would do")
    return ToolDecision("ask")


def _is_of_the_house(path: str) -> bool:
    """Tell whether a file decides what runs later, unasked: hooks of git, and settings of ours."""
    return not _HOUSE.isdisjoint(part.casefold() for part in PurePath(path).parts)


def subject_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return what a call is about, whole: the end of a long command counts as much as its beginning."""
    found = arguments.get(_SUBJECTS.get(tool, ""))
    if found:
        return str(found)
    if tool == "recipes":  # as the command that it runs
        words = [str(arguments[name]) for name in ("action", "recipe", "run", "stage") if name in arguments]
        told = {"message": arguments["message"]} if arguments.get("message") else {}
        return " ".join([*words, *_named(arguments.get("context")), *_named(told)])
    return ", ".join(_named(arguments))


def _named(values: Any) -> list[str]:
    return [f"{name}={value}" for name, value in values.items()] if isinstance(values, Mapping) else []


def shown(subject: str) -> str:
    """Return it for a person to read, with both ends of a long one.

    Two that differ are never shown alike: an answer may be remembered by what was shown.
    """
    brief = shortened(subject, 2_000)
    return brief if brief == subject else f"{brief} [sha256 {sha256(subject.encode()).hexdigest()[:16]}]"


def _fits(rule: ApprovalRule, tool: str, subject: str) -> bool:
    if tool != "bash":
        return fnmatchcase(subject, rule.match)
    parts = command_parts(subject)
    if rule.action != "allow":  # what refuses need not be exact: any part is enough
        return fnmatchcase(subject, rule.match) or _is_in(rule.match, subject, parts)
    if parts is None:
        return subject == rule.match
    return rule.match == "*" or all(fnmatchcase(part, rule.match) for part in parts)


def command_refusal(command: str, allowed: Sequence[str], denied: Sequence[str]) -> str:
    """Return why the settings of a shell refuse a command, or nothing: all must be allowed, none denied.

    A pattern without a star means the command and whatever follows it. Of what the shell would make something
    else of, only the very same text is allowed, and a denied one must not be anywhere in it.
    """
    if not allowed and not denied:
        return ""
    parts = command_parts(command)
    for pattern in denied:
        if _is_in(pattern, command, parts) or any(_begins(part, pattern) for part in parts or ()):
            return f"the settings deny this command: {pattern}"
    if not allowed or (parts is None and command in allowed):
        return ""
    if parts is not None and all(any(_begins(part, pattern) for pattern in allowed) for part in parts):
        return ""
    return f"the settings allow only {', '.join(allowed)}" + (
        "; this command redirects, substitutes or has several lines" if parts is None else ""
    )


def _is_in(pattern: str, command: str, parts: Sequence[str] | None) -> bool:
    """Tell whether a part fits; of a command that nobody can take apart, whether it is anywhere in it."""
    if parts is None:
        words = pattern.rstrip("* ")
        after = "" if pattern.removeprefix(words) == "*" else r"(?![\w.-])"
        return re.search(rf"(?<![\w.-]){re.escape(words)}{after}", command) is not None
    return any(fnmatchcase(part, pattern) for part in parts)


def _begins(part: str, pattern: str) -> bool:
    return fnmatchcase(part, pattern) or part == pattern or part.startswith(f"{pattern} ")


def command_parts(command: str) -> list[str] | None:
    """Return the commands of a line, or None if the shell would make something else of it."""
    if len(command) > _LONGEST or _TRICKY & set(command):
        return None
    try:
        words = list(shlex.shlex(command, posix=False, punctuation_chars=";&|"))
    except ValueError:  # a quote that never ends
        return None
    parts: list[list[str]] = [[]]
    for word in words:
        if word in _BETWEEN:
            parts.append([])
        elif set(word) <= set(";&|"):  # in the background, or a mistake
            return None
        else:
            parts[-1].append(word)
    return [" ".join(part) for part in parts if part]
