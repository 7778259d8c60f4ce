"""Answer `amplihack run`: one prompt, one answer."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from amplihack.cli.arguments import Parser, add_json, positive
from amplihack.cli.commands import verbs
from amplihack.cli.guard import FAILED, INTERRUPTED, keep_results_apart
from amplihack.cli.offering import asked_or_offered, is_interactive
from amplihack.cli.session_display import SessionDisplay
from amplihack.cli.show import err, failure_json, out, out_json, show_problems
from amplihack.errors import AmplihackError, UsageError

if TYPE_CHECKING:
    from amplihack.app.sessions.asking import AskRequest
    from amplihack.app.sessions.talk import Talk, TurnAnswer
    from amplihack.app.workspace import Workspace


_OF_BASH = "Allow bash: "  # how a question about a command begins
_AT_GATES = ("Allow recipes: approve ", "Allow recipes: deny ")

# Flags ------------------------------------------------------------------------------------------------------


def ask_flags(parser: Parser) -> None:
    parser.intermixed = True
    add_json(parser)
    what = "what to ask; - or nothing: all of stdin; what is piped in comes with a prompt"
    parser.add_argument("prompt", metavar="PROMPT", nargs="*", help=what)
    add_session_flags(parser)
    add_resume(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print the final answer, and no more")


def add_resume(parser: Parser) -> None:
    what = "go on with a session: its id, the beginning of it, or last"
    parser.add_argument("--resume", metavar="SESSION", help=what)


def add_session_flags(parser: Parser) -> None:
    """Add the flags of every command that opens a session."""
    parser.add_argument(
        "-B",
        "--bundle",
        metavar="BUNDLE",
        help="a name, a path or an address (default: the active one, or foundation)",
    )
    parser.add_argument(
        "-m",
        "--model",
        metavar="MODEL",
        help="provider/model, such as anthropic/claude-sonnet-4-5, openai/gpt-5, local/smollm2-135m; "
        "a .gguf file; scripted:FILE",
    )
    parser.add_argument(
        "-C",
        "--cwd",
        "--working-dir",
        dest="working_dir",
        metavar="DIR",
        help="the directory to work in (default: here, or where the resumed session was)",
    )
    group = parser.add_argument_group("what it may do")
    group.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="TOOL[:PATTERN]",
        help="allow a tool without asking, such as write_file or 'bash:git *' (repeatable); "
        "a command of bash that redirects, substitutes or has several lines only by its whole text: "
        "'bash:make > log'",
    )
    group.add_argument(
        "--deny", action="append", default=[], metavar="TOOL[:PATTERN]", help="never allow it (repeatable)"
    )
    group.add_argument(
        "--approval",
        choices=("ask", "auto-edit", "plan", "yolo"),
        help="ask before anything that changes something; auto-edit: files may be edited without asking; "
        "plan: nothing is changed; yolo: everything is allowed, but to decide at gates of recipes",
    )
    group.add_argument("--yes", action="store_true", help="the same as --approval yolo")
    group.add_argument(
        "--max-turns", type=positive, metavar="N", help="how often the model is asked for one answer"
    )
    group.add_argument("--budget-usd", type=_dollars, metavar="USD", help="stop when so much is spent")
    group.add_argument("--offline", action="store_true", help="fetch no bundle and no module")
    group.add_argument("--strict", action="store_true", help="a module that fails is an error")


def _dollars(text: str) -> str:
    try:
        if 0 < float(text) < float("inf"):
            return text
    except ValueError:
        pass
    raise UsageError(f"--budget-usd cannot be '{text}'", fix="give an amount such as 0.50")


def ask_request(options: argparse.Namespace, workspace: Workspace) -> AskRequest:
    """Return what the flags of `add_session_flags` and `add_resume` ask for."""
    from amplihack.app.sessions.asking import AskRequest  # deferred: a help page needs none of it
    from amplihack.sessions.host_plan import HostWishes

    if options.yes and options.approval not in (None, "yolo"):
        raise UsageError("--yes and --approval say different things", fix="give one of them")
    return AskRequest(
        bundle=options.bundle,
        model=options.model,
        resume=options.resume,
        working_dir=None if options.working_dir is None else workspace.directory,
        offline=options.offline,
        strict=options.strict,
        wishes=HostWishes(
            approval="yolo" if options.yes else options.approval,
            allow=tuple(options.allow),
            deny=tuple(options.deny),
            most_steps=options.max_turns,
            budget_usd=options.budget_usd,
        ),
    )


# The answer -------------------------------------------------------------------------------------------------


def answer_ask(options: argparse.Namespace) -> int:
    """Ask, show the answer as it comes, and tell what it took."""
    # Deferred, as above.
    from amplihack.app.workspace import open_workspace

    prompt, attached = _prompt(options)
    workspace = open_workspace(directory=options.working_dir)
    return asked_or_offered(
        workspace,
        ask_request(options, workspace),
        lambda request: _asked(options, workspace, request, prompt, attached),
        as_json=options.json,
    )


def _prompt(options: argparse.Namespace) -> tuple[str, str]:
    """Return the prompt, and what comes with it. Raises UsageError for a recipe, or for nothing at all."""
    from amplihack.system.stdin import attached_stdin, prompt_of_stdin  # deferred, as above

    words = " ".join(options.prompt).strip()
    if len(options.prompt) == 1 and words.endswith((".yaml", ".yml")):
        fix = f"`amplihack recipe run {words}` runs it; more words make it a prompt"
        raise UsageError(f"{words} is a recipe, and `amplihack run` asks an agent", fix=fix)
    if words in verbs("runs") and not options.resume:
        fix = f"`amplihack runs {words}` is a command; more words make it a prompt"
        raise UsageError(
            f"'{words}' is a verb of `amplihack runs`, and `amplihack run` asks an agent", fix=fix
        )
    if words and words != "-":
        return words, attached_stdin()
    if not words and sys.stdin.isatty():
        raise UsageError(
            "there is no prompt",
            fix="give one, such as `amplihack run 'what is in here?'`; recipes: `amplihack recipe run`",
        )
    if sys.stdin.isatty():
        err("reading the prompt from the terminal; Ctrl-D on a line of its own ends it")
    piped = prompt_of_stdin()
    if not piped:
        fix = "pipe a text, or give a prompt; recipes: `amplihack recipe run`"
        raise UsageError("the prompt is empty: nothing came on stdin", fix=fix)
    return "", piped


def _asked(
    options: argparse.Namespace, workspace: Workspace, request: AskRequest, prompt: str, attached: str
) -> int:
    from amplihack.app.sessions.asking import TalkHost, open_talk  # deferred, as above
    from amplihack.system.event_loop import run_until_signal

    keep_results_apart()
    display = SessionDisplay(answers=not (options.json or options.quiet), quiet=options.quiet)
    approvals = approvals_here(display)
    host = TalkHost(
        approvals=approvals, display=display, on_happening=display.happened, progress=display.progress
    )
    talks: list[Talk] = []
    known: dict[str, Any] = {"response": "", "session_id": None, "usage": None, "cost_usd": None}

    async def work() -> TurnAnswer:
        async with await open_talk(workspace, request, host) as talk:
            talks.append(talk)
            known.update(session_id=talk.session_id, bundle=talk.bundle, model=talk.model)
            show_problems(talk.problems)
            try:
                return await talk.ask(prompt, attached=attached)
            finally:
                cost = await talk.cost_usd()
                known.update(usage=talk.usage.to_dict(), cost_usd=None if cost is None else float(cost))

    try:
        said = run_until_signal(work(), stopping=lambda: err("stopping …"))
    except KeyboardInterrupt:
        display.end_line()
        if options.json:
            out_json({"status": "interrupted", **known, "denied": approvals.denied})
        err("interrupted" + (f"; session {known['session_id']}" if talks else ""))
        return INTERRUPTED
    except AmplihackError as error:
        display.end_line()
        if not talks:
            raise
        known["response"] = getattr(error, "answer", "")  # of a turn that only could not be kept
        if known["response"] and not options.json and not display.has_shown:
            out(known["response"])
        _tell_failure(options, error, {**known, "denied": approvals.denied})
        return error.exit_code
    except Exception:
        display.end_line()
        if talks:
            err(f"session {known['session_id']}")
        raise
    known["response"] = said.text
    _tell(options, display, said, {**known, "denied": approvals.denied})
    return FAILED if said.unfinished else 0


def _tell(
    options: argparse.Namespace, display: SessionDisplay, said: TurnAnswer, known: dict[str, Any]
) -> None:
    display.end_line()
    if options.json:
        status = {"status": "unfinished", "reason": said.unfinished} if said.unfinished else {"status": "ok"}
        out_json({**status, **known})
    elif not display.has_shown:
        out(said.text)
    if said.unfinished:
        err(f"unfinished: {said.unfinished}")
    elif not said.text.strip():
        err("the model ended its turn without a word")
    if known["denied"]:
        err(how_to_allow(known["denied"]))
    if not options.quiet:
        err(summary(said, known))


def how_to_allow(denied: Sequence[str]) -> str:
    """Return how to allow what was denied: of commands that redirect, only the very same are allowed."""
    from amplihack.modules.approval_rules import command_parts  # deferred, as above

    fix = "fix: allow what was denied with --allow TOOL[:PATTERN], or everything with --yes"
    asked = [each.removeprefix(_OF_BASH).removesuffix("?") for each in denied if each.startswith(_OF_BASH)]
    exact = [each for each in asked if command_parts(each) is None]
    if any(each.startswith(_AT_GATES) for each in denied):
        fix += " (decisions at gates of recipes only with --allow 'recipes:approve*' or 'recipes:deny*')"
    if not exact:
        return fix
    words = " ".join(f"--allow {shlex.quote(f'bash:{each}')}" for each in dict.fromkeys(exact))
    return f"{fix}; commands that redirect, substitute or have several lines by their whole text: {words}"


def _tell_failure(options: argparse.Namespace, error: AmplihackError, known: dict[str, Any]) -> None:
    """Tell why there is no answer, and what the session has paid for all the same."""
    from amplihack.sessions.spending import spent  # deferred, as above
    from amplihack.sessions.usage import usage_from

    show_problems(error.problems)
    if options.json:
        out_json({"status": "failed", **known, **failure_json(error.problems)})
    used = usage_from(known["usage"])
    if used.calls:
        err(f"{known['model']}: {spent(used)}; session {known['session_id']}")
    else:
        err(f"session {known['session_id']}")


def summary(said: TurnAnswer, known: dict[str, Any]) -> str:
    """Return what a turn took, in a line."""
    from amplihack.records import replace  # deferred, as above
    from amplihack.sessions.spending import price, tokens

    used = replace(said.usage, cost_usd=said.cost_usd)
    cost = "" if said.cost_usd is None else f", {price(used)}"
    return f"{known['model']}: {tokens(used)}{cost}; session {known['session_id']}"


# Who is asked -----------------------------------------------------------------------------------------------


def approvals_here(display: SessionDisplay) -> Any:
    """Return whom a session asks: the person at the terminal, if there is one."""
    from amplihack.system.session_approvals import NobodyAllows, PersonAllows  # deferred, as above

    if is_interactive():
        return PersonAllows(before=display.pause, after=display.resume)
    return NobodyAllows(display.tell)
