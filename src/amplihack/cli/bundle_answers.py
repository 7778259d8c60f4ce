"""Answer `amplihack bundle`, as text for people or JSON for programs."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

from amplihack.app.bundles import asking
from amplihack.app.bundles.command_request import request_here
from amplihack.app.bundles.load import LoadedBundle, LoadRequest, load
from amplihack.app.workspace import Workspace, open_workspace
from amplihack.bundles.errors import BundleError
from amplihack.bundles.masking import masked
from amplihack.bundles.provenance import Entry
from amplihack.cli.near import Near, near, near_problems
from amplihack.cli.show import (
    draw_problems,
    err,
    out,
    out_json,
    printable,
    problem_json,
    show_problems,
    tally,
    tell_failure,
)
from amplihack.errors import AmplihackError, Problem
from amplihack.recipes.values import one_line
from amplihack.records import as_dict, replace

if TYPE_CHECKING:
    from amplihack.app.bundles.checking import BundleVerdict


def in_workspace(
    answer: Callable[[Workspace, argparse.Namespace], int],
) -> Callable[[argparse.Namespace], int]:
    """Open the workspace for an answer; errors show paths relative to the current directory."""

    @wraps(answer)
    def answered(options: argparse.Namespace) -> int:
        workspace = open_workspace((), options.working_dir)
        try:
            return answer(workspace, options)
        except AmplihackError as error:
            tell_failure(_worth_telling(workspace, error.problems), as_json=options.json)
            return error.exit_code

    return answered


def request_for(workspace: Workspace, options: argparse.Namespace) -> LoadRequest:
    """Make the load request for the arguments of a command."""
    return request_here(
        workspace,
        options.source,
        offline=options.offline,
        frozen=options.frozen,
        strict=not options.allow_partial,
    )


def loaded_for(workspace: Workspace, options: argparse.Namespace) -> LoadedBundle:
    """Load the bundle that the arguments of a command name, and tell what is wrong with it."""
    loaded = asyncio.run(load(request_for(workspace, options)))
    tell(workspace, loaded.problems)
    return loaded


def tell(workspace: Workspace, problems: Iterable[Problem]) -> None:
    """Show problems on stderr, except notes, which are for `validate`."""
    show_problems(_worth_telling(workspace, problems))


def _worth_telling(workspace: Workspace, problems: Iterable[Problem]) -> list[Problem]:
    worth = (problem for problem in problems if problem.severity != "note")
    return near_problems(worth, near(workspace.home.cwd))


@in_workspace
def answer_show(workspace: Workspace, options: argparse.Namespace) -> int:
    loaded = loaded_for(workspace, options)
    if options.plan:
        out_json(masked(loaded.plan))
    elif options.prompt:
        out_json({"prompt": loaded.prompt.text}) if options.json else out(loaded.prompt.text)
    elif options.json:
        out_json(_contents_json(loaded, near(workspace.home.cwd)))
    else:
        _show_contents(loaded, near(workspace.home.cwd))
    return 0


def _contents_json(loaded: LoadedBundle, shorten: Near) -> dict[str, Any]:
    contents = loaded.contents
    return {
        "name": loaded.bundle.name,
        "version": loaded.bundle.shown_version,
        "description": loaded.bundle.description,
        "fingerprint": loaded.fingerprint,
        "tokens": contents.total_tokens,
        "parts": [as_dict(replace(row, file=shorten(row.file))) for row in contents.rows],
        "skipped": [
            {"source": each.source, "chain": list(each.chain), "reason": each.reason}
            for each in loaded.composition.skipped
        ],
        "mount_plan": masked(loaded.plan),
    }


def _show_contents(loaded: LoadedBundle, shorten: Near) -> None:
    contents = loaded.contents
    bundle = loaded.bundle
    out(printable(f"{bundle.name or '(no name)'} {bundle.shown_version}"))
    if bundle.description:
        out(printable(bundle.description.strip()))
    width = max((len(row.name) for row in contents.rows), default=0)
    section = ""
    for row in contents.rows:
        if row.section != section:
            section = row.section
            out(f"\n{section}:")
        cost = f"{row.tokens:>6} token{'s' if row.tokens != 1 else ' '}" if row.tokens else " " * 13
        place = f"{row.bundle or '-'} ({shorten(row.file)}:{row.line})"
        out(printable(f"  {row.name:<{width}} {cost}  {place}").rstrip())
    mark = loaded.fingerprint[:12]
    out(f"\nabout {contents.total_tokens} tokens in every prompt; fingerprint {mark}")


@in_workspace
def answer_validate(workspace: Workspace, options: argparse.Namespace) -> int:
    checked = _checked(workspace, options)
    found = near_problems(checked.problems, near(workspace.home.cwd))
    if options.json:
        out_json({"name": checked.name, "problems": [problem_json(problem) for problem in found]})
    else:
        for text in draw_problems(found, sys.stdout):
            out(text)
        err(printable(_verdict(checked.name, found)))
    return checked.exit_code(strict=options.strict)


def _checked(workspace: Workspace, options: argparse.Namespace) -> BundleVerdict:
    """Return all findings about a bundle. A file that is no bundle at all is a finding too."""
    from amplihack.app.bundles.checking import BundleVerdict, check  # deferred: other answers check nothing

    try:
        loaded, found = asyncio.run(check(request_for(workspace, options), complete=options.complete))
    except BundleError as error:
        if error.exit_code != 2:
            raise
        return BundleVerdict("", error.problems, (error,))
    return BundleVerdict(loaded.bundle.name, found, loaded.composition.failures)


def _verdict(name: str, found: Sequence[Problem]) -> str:
    said = tally(found)
    return f"{name or 'the bundle'}: {said}" if said else f"✓ {name or 'the bundle'} is valid"


@in_workspace
def answer_why(workspace: Workspace, options: argparse.Namespace) -> int:
    shorten = near(workspace.home.cwd)
    entries = [
        replace(entry, file=shorten(entry.file))
        for entry in asking.explain(workspace, loaded_for(workspace, options), options.subject)
    ]
    if options.json:
        out_json([entry.as_json() for entry in entries])
    else:
        for entry in entries:
            _show_entry(entry)
    return 0


def _show_entry(entry: Entry) -> None:
    sign = {"used": "=", "replaced": "✗", "removed": "-"}[entry.status]
    place = f"{entry.file}:{entry.line}" if entry.line else entry.file
    value = "" if entry.status == "removed" else f": {one_line(_as_written(entry.value), 100)}"
    out(printable(f"{sign} {entry.path}{value}"))
    out(printable(f"    {entry.status} — {entry.bundle or '(no name)'} ({place})"))
    if len(entry.via) > 1:
        out(printable(f"    via {' -> '.join(entry.via)}"))


def _as_written(value: object) -> str:
    """Return a value as a file would hold it: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


@in_workspace
def answer_graph(workspace: Workspace, options: argparse.Namespace) -> int:
    from amplihack.bundles.drawing import dot, mermaid, svg  # deferred: other answers draw nothing

    found = asking.graph(loaded_for(workspace, options))
    if options.json:
        shorten = near(workspace.home.cwd)
        boxes = [as_dict(replace(box, file=shorten(box.file))) for box in found.boxes]
        out_json({"boxes": boxes, "edges": [list(edge) for edge in found.edges]})
    else:
        out(printable({"dot": dot, "mermaid": mermaid, "svg": svg}[options.format](found).rstrip()))
    return 0


@in_workspace
def answer_list(workspace: Workspace, options: argparse.Namespace) -> int:
    known = asking.known_bundles(workspace)
    if options.json:
        out_json([as_dict(each) for each in known])
        return 0
    shorten = near(workspace.home.cwd)
    width = max((len(each.name) for each in known), default=0)
    for each in known:
        out(printable(f"{each.name:<{width}}  {shorten(each.source)}  {each.uri}"))
    if not known:
        out("No bundle has a name here.")
    return 0


@in_workspace
def answer_agents(workspace: Workspace, options: argparse.Namespace) -> int:
    found = asking.agents(loaded_for(workspace, options))
    shorten = near(workspace.home.cwd)
    listed = [replace(each, file=shorten(each.file)) for each in found]
    if options.json:
        out_json([as_dict(each) for each in listed])
        return 0
    width = max((len(each.name) for each in listed), default=0)
    for each in listed:
        out(printable(f"{each.name:<{width}}  {one_line(each.description, 100)}".rstrip()))
        out(printable(f"{'':<{width}}  {each.bundle} ({each.file}:{each.line})"))
    if not listed:
        out("This bundle has no agents.")
    return 0
