"""Tell which command was probably meant by words that are none."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from amplihack.documents.suggest import closest

# What people want of a thing whose name they give, and what that name is.
_SHOWN = {
    "recipe": ("run", "the name of a recipe"),
    "bundle": ("show", "the name of a bundle"),
    "runs": ("show", "the id of a run"),
    "session": ("show", "the id of a session"),
    "model": ("pull", "the name of a model"),
}

# What other tools call it.
_ELSEWHERE = {
    **dict.fromkeys(("exec", "execute", "start", "launch"), "recipe run"),
    **dict.fromkeys(("init", "create", "add", "scaffold"), "recipe new"),
    **dict.fromkeys(("lint", "test", "verify"), "recipe check"),
    **dict.fromkeys(("describe", "inspect", "plan", "show", "cat"), "recipe explain"),
    **dict.fromkeys(("ps", "status", "history"), "runs list"),
    **dict.fromkeys(("log", "logs"), "runs show"),
    **dict.fromkeys(("follow", "watch", "attach"), "runs tail"),
    **dict.fromkeys(("stop", "kill", "abort"), "runs cancel"),
    **dict.fromkeys(("continue", "retry", "restart"), "runs resume"),
    **dict.fromkeys(("upgrade", "self-update"), "update"),
}
# The same of verbs that several groups have; the first that a group has counts.
_VERBS = {
    "ls": ("list",),
    "show": ("explain", "list"),
    **dict.fromkeys(("check", "lint", "test", "verify"), ("check", "validate")),
    **dict.fromkeys(("continue", "retry", "restart"), ("resume",)),
    **dict.fromkeys(("log", "logs", "cat", "describe", "inspect"), ("show", "explain")),
    **dict.fromkeys(("rm", "delete", "remove", "del"), ("remove", "prune", "clean")),
    **dict.fromkeys(("get", "fetch", "download", "install"), ("pull", "update")),
    **dict.fromkeys(("view", "info", "open"), ("show", "explain")),
}


def meant_command(
    word: str, rest: Sequence[str], group: str, commands: Sequence[str], verbs: Mapping[str, Sequence[str]]
) -> str:
    """Return how to fix `amplihack [group] word rest…`, where the word is neither a command nor a verb."""
    if word.startswith("-") and group:
        verb = next((each for each in rest if each in verbs[group]), _SHOWN.get(group, ("…",))[0])
        words = [each for each in rest if each != verb]
        return f"flags stand behind the verb: `{_line(group, verb, word, *words)}`"
    if word in ("-v", "-V", "-version"):
        return "`amplihack --version`"
    if word.startswith("-"):
        return "flags stand behind the command, as in `amplihack recipe list --json`"
    if _is_file(word):
        kind = group if group in ("recipe", "bundle") else "bundle" if word.endswith(".md") else "recipe"
        return f"`{_line(kind, _SHOWN[kind][0], word)}`"
    if not group and (groups := [each for each, known in verbs.items() if word in known]):
        return ", or ".join(f"`{_line(each, word, *rest[:1])}`" for each in groups)
    if (other := _ELSEWHERE.get(word)) and group in ("", other.partition(" ")[0]):
        return f"`{_line(*other.split(), *rest[:1])}`"
    if group and (verb := next((each for each in _VERBS.get(word, ()) if each in verbs[group]), "")):
        return f"`amplihack {group} {verb} --help`" if verb == "prune" else f"`{_line(group, verb, *rest)}`"
    if (group, word) == ("bundle", "add"):
        return "name it below `bundle: {added: …}` in settings.yaml; an address or a path needs no name"
    if near := closest(word, verbs[group] if group else commands):
        return f"did you mean '{near}'?"
    if not group:
        return "`amplihack --help` lists the commands"
    verb, name = _SHOWN[group]
    return f"`amplihack {group} --help` shows what there is; `{_line(group, verb, word)}` if that is {name}"


def _is_file(word: str) -> bool:
    return word.endswith((".yaml", ".yml", ".md")) or "/" in word


def _line(*words: str) -> str:
    return shlex.join(("amplihack", *words))
