"""`amplihack session list|show|fork|prune`: what is kept of sessions, and what to do with it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from amplihack.cli.arguments import Parser, add_json, positive
from amplihack.cli.guard import FAILED
from amplihack.cli.pruning import add_pruning, pruning_limits
from amplihack.cli.session_pages import session_json, session_page, session_table
from amplihack.cli.show import err, out, out_json, printable, show_problems
from amplihack.errors import UsageError

if TYPE_CHECKING:
    from amplihack.system.session_store.store import SessionStore


def list_flags(parser: Parser) -> None:
    add_json(parser)
    parser.add_argument("--limit", type=positive, metavar="N", help="only the newest N")
    parser.add_argument("--all", action="store_true", help="also the sessions of agents inside others")


def show_flags(parser: Parser) -> None:
    add_json(parser)
    add_session_name(parser)
    parser.add_argument(
        "--full", action="store_true", help="everything that tools were given and gave back, not in a line"
    )


def fork_flags(parser: Parser) -> None:
    add_json(parser)
    add_session_name(parser)
    parser.add_argument(
        "--turn", type=positive, metavar="N", help="the last turn to take over (default: all of them)"
    )


def prune_flags(parser: Parser) -> None:
    add_json(parser)
    parser.add_argument(
        "sessions", nargs="*", metavar="SESSION", help="remove these: ids, beginnings of them, or last"
    )
    add_pruning(parser, "sessions", "were used last")


def add_session_name(parser: Parser) -> None:
    parser.add_argument(
        "session",
        nargs="?",
        default="last",
        metavar="SESSION",
        help="its id, the beginning of it, or last (default: last)",
    )


def open_store() -> SessionStore:
    """Return the sessions of our home root."""
    # Deferred, as below: a help page needs none of it.
    from amplihack.system.home import Home, this_process
    from amplihack.system.session_store.store import SessionStore

    return SessionStore(Home.from_environment(*this_process()).root / "sessions")


def answer_list(options: argparse.Namespace) -> int:
    """List the sessions, newest first; those that are damaged as well, with what is wrong."""
    from amplihack.system.session_store.listing import kept_sessions

    everything = kept_sessions(open_store())
    kept = [each for each in everything if options.all or not each.is_inside]
    hidden = len(everything) - len(kept)
    kept = kept[: options.limit]
    if options.json:
        out_json([session_json(each) for each in kept])
    elif kept:
        for line in session_table(kept):
            out(line)
    else:
        err("there are no sessions; `amplihack chat` begins one")
    if hidden and not options.json:
        were = "sessions of agents are" if hidden > 1 else "session of an agent is"
        err(f"{hidden} {were} not shown: --all shows them")
    # A turn that was cut off is in the column of states; resuming and `session show` say more.
    show_problems(problem for each in kept if each.status == "damaged" for problem in each.problems)
    return 0


def answer_show(options: argparse.Namespace) -> int:
    from amplihack.sessions.conversation import retold
    from amplihack.system.session_store.listing import described

    store = open_store()
    stored = store.read(options.session)
    kept = described(stored, is_open=store.is_open(stored.session_id))
    if options.json:
        out_json({**session_json(kept), "messages": stored.messages})
    else:
        for line in session_page(kept, retold(stored.messages), full=options.full):
            out(printable(line))
    show_problems(kept.problems)
    return 0


def answer_fork(options: argparse.Namespace) -> int:
    """Fork a session and print the id of the new one."""
    store = open_store()
    session_id = store.find(options.session)
    try:
        forked = store.fork(session_id, turn=options.turn)
    except ValueError as error:
        fix = f"`amplihack session show {session_id}` shows its turns"
        raise UsageError(f"session {session_id} cannot be forked there: {error}", fix=fix) from error
    show_problems(forked.problems)
    if options.json:
        turn, count = forked.forked_from_turn, forked.message_count
        told = {"forked_from": session_id, "turn": turn, "messages": count}
        out_json({"session_id": forked.session_id, **told})
    else:
        out(forked.session_id)
        turns = f"{forked.forked_from_turn} turn{'s' if forked.forked_from_turn != 1 else ''}"
        err(f"it has {turns} of {session_id}; `amplihack session resume {forked.session_id}` goes on")
    return 0


def answer_prune(options: argparse.Namespace) -> int:
    """Remove old sessions, or those that are named. What is open stays, and is told."""
    from amplihack.system.session_store.pruning import prune_named, prune_sessions

    store, named = open_store(), options.sessions
    if named and (options.older_than is not None or options.keep is not None):
        what = "amplihack session prune: --older-than and --keep choose sessions themselves"
        raise UsageError(what, fix="name sessions, or say which are too old")
    if named:
        pruned = prune_named(store, named)
    else:
        age, keep = pruning_limits(options, "session")
        pruned = prune_sessions(store, older_than=age, keep=keep)
    if options.json:
        out_json([session_json(each) for each in pruned.removed])
    else:
        count = len(pruned.removed)
        out(f"removed {count} session{'s' if count != 1 else ''}")
    for why in pruned.kept:
        err(f"not removed: {why}")
    return FAILED if named and pruned.kept else 0
