"""Give scripted answers from a file, for tests and demos: `scripted:<file>`.

The file is YAML or JSON: a list of answers, or a mapping with the list under `answers`. The first that fits
is given.

    - match: release notes       # fits a prompt with this text in it, in any letter case
      reply: |
        Two bugs fixed.
    - match: /summari[sz]e (\\w+)/  # a regular expression between slashes; \\1 in the reply is what it caught
      reply: "Summary of \\1."
    - agent: foundation:reviewer # fits a step that names this agent; with `match`, both must fit
      reply: {verdict: approve}  # anything but text is given as JSON
      delay: 0.5                 # seconds before it comes
      times: 2                   # fits so often, and then no more
    - error: 429 too many requests  # fails instead, by the same rules as a tool that prints this
      times: 1
    - reply: done                # without `match` and `agent`: fits everything
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

from amplihack.documents import Mapping, Node, Scalar, Sequence, read_document, to_value
from amplihack.documents.durations import seconds_in
from amplihack.documents.reader import MAX_BYTES
from amplihack.documents.suggest import closest
from amplihack.errors import DocumentError, NotFound
from amplihack.recipes.agent_port import AgentFailed, AgentReply, AgentRequest, kept_answer
from amplihack.recipes.values import Value, one_line, to_text
from amplihack.records import Record, field
from amplihack.system.agent_tools.rate_limits import rate_limited, transient

_FIELDS = ("match", "agent", "reply", "error", "delay", "times")


class ScriptedAnswer(Record, kw_only=True):
    match: re.Pattern[str] | None
    agent: str | None
    reply: str
    error: str
    delay: float
    times: int | None

    def fits(self, request: AgentRequest) -> re.Match[str] | None:
        """Return the match if this answer fits the request."""
        if self.agent is not None and self.agent != request.agent:
            return None
        return (self.match or re.compile("")).search(request.prompt)


class Scripted(Record):
    """Gives scripted answers, and counts how often it gave each."""

    answers: tuple[ScriptedAnswer, ...]
    given: dict[int, int] = field(default_factory=dict)
    name: str = "scripted"

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        answer, match = self._choose(request)
        await asyncio.sleep(answer.delay)
        if answer.error:
            raise _failure(answer.error)
        text = kept_answer(match.expand(answer.reply) if answer.match and match.re.groups else answer.reply)
        if not text:
            raise AgentFailed(
                "scripted ended well but gave an empty answer", fix="give the answer a `reply:`"
            )
        for line in text.splitlines():
            on_line(line)
        return AgentReply(text=text)

    def _choose(self, request: AgentRequest) -> tuple[ScriptedAnswer, re.Match[str]]:
        for index, answer in enumerate(self.answers):
            left = answer.times is None or self.given.get(index, 0) < answer.times
            if left and (match := answer.fits(request)):
                self.given[index] = self.given.get(index, 0) + 1
                return answer, match
        who = f" of {request.agent}" if request.agent else ""
        raise AgentFailed(
            f'no scripted answer fits the prompt{who}: "{one_line(request.prompt, 80)}"',
            fix="add an answer with a `match` for it, or one with only a `reply` at the end",
        )


def _failure(error: str) -> AgentFailed:
    limit = rate_limited(1, error)
    return AgentFailed(
        f"scripted failed: {error}",
        transient=transient(error),
        rate_limited=limit is not None,
        retry_after=limit.retry_after if limit else None,
    )


def load_script(path: Path) -> Scripted:
    """Read the answers in a file. Raises NotFound or DocumentError."""
    try:
        with path.open("rb") as file:  # not all of it: it may be a device that never ends
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise NotFound(
            f"cannot read the scripted answers {path}: {error.strerror}",
            fix="check the path behind `scripted:`; it is relative to the current directory",
        ) from error
    root = read_document(data, str(path), kind="Scripted answers").root
    listed = root.entries.get("answers", root) if isinstance(root, Mapping) else root
    if not isinstance(listed, Sequence):
        raise DocumentError("scripted answers must be a list", where=root.where, fix="begin each with `- `")
    return Scripted(tuple(_answer(item) for item in listed.items))


def _answer(node: Node) -> ScriptedAnswer:
    if not isinstance(node, Mapping):
        raise DocumentError("an answer must be a mapping", where=node.where, fix="such as `- reply: done`")
    for key in node.entries.keys() - set(_FIELDS):
        near = "reply" if key in ("text", "answer", "response") else closest(key, _FIELDS)
        fix = f'did you mean "{near}"?' if near else f"known are {', '.join(_FIELDS)}"
        raise DocumentError(f'an answer has an unknown field "{key}"', where=node.where_key(key), fix=fix)
    if ("reply" in node.entries) == ("error" in node.entries):
        fix = "keep one of them, such as `reply: done`"
        raise DocumentError("an answer needs either a `reply` or an `error`", where=node.where, fix=fix)
    values: dict[str, Value] = {key: to_value(item) for key, item in node}
    return ScriptedAnswer(
        match=_pattern(node),
        agent=to_text(values.get("agent")) or None,
        reply=to_text(values.get("reply")),
        error=to_text(values.get("error")),
        delay=float(_number(node, "delay") or 0),
        times=None if (times := _number(node, "times")) is None else int(times),
    )


def _pattern(node: Mapping) -> re.Pattern[str] | None:
    if "match" not in node.entries:
        return None
    words = to_text(to_value(node.entries["match"]))
    if not (len(words) > 2 and words[0] == words[-1] == "/"):
        return re.compile(re.escape(words), re.IGNORECASE)
    try:
        return re.compile(words[1:-1], re.DOTALL)
    except re.error as error:
        where = node.entries["match"].where
        fix = "correct it, or leave out the slashes to look for plain text"
        raise DocumentError(f"not a regular expression: {error}", where=where, fix=fix) from error


def _number(node: Mapping, key: str) -> float | None:
    """Return a number of an answer; one that is a time may be a duration such as 500ms."""
    if key not in node.entries:
        return None
    item = node.entries[key]
    value = to_value(item)
    if isinstance(value, bool) or not isinstance(value, int | float):
        value = seconds_in(item.text) if isinstance(item, Scalar) and key == "delay" else None
    if value is None or value < 0:
        fix = f"write `{key}: 2`" + (", or a duration such as 500ms" if key == "delay" else "")
        raise DocumentError(f"`{key}` must be a number, 0 or more", where=item.where, fix=fix)
    return value
