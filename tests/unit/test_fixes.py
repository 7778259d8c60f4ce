"""Every error and every finding says how to fix it, or there is a reason why it cannot."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from amplihack.recipes.check import CODES

SOURCE = Path(__file__).parents[2] / "src" / "amplihack"
# What makes an error or a finding, and the argument, from 0, that is its fix where it is not named.
MAKERS = {"Problem": 2, "finding": 4, "add": 3, "warn": 3, "note": 3}
OF_REPORTS = ("add", "warn", "note")
# Errors of ours end so, or are called what happened.
ERRORS = (
    "NotFound",
    "NothingToUse",
    "AgentFailed",
    "StepFailure",
    "Refused",
    "InvalidReference",
    "NotResolved",
)
NOT_OURS = (
    "ArgumentTypeError", "AssertionError", "AttributeError", "FileExistsError", "FileNotFoundError",
    "KeyError", "OSError", "RuntimeError", "TypeError", "ValueError",
)  # fmt: skip
BUILT_IN = (
    "SourceRefused",
    "StampRefused",
    "SourceUnavailable",
    "GitCloneTimeoutError",
)  # classes that have one by themselves

# The file and the function, and why nobody can know the fix there.
EXEMPT = {
    ("recipes/check/unset_variables.py", ""): "stands for a note that nobody is told",
    ("recipes/check/unset_variables.py", "_by_caller"): "a note that there is nothing to fix",
    ("app/adapter.py", "AdapterShell.run"): "the words of the caller's own adapter",
    ("app/adapter.py", "AdapterAgent.ask"): "the words of the caller's own adapter",
    ("app/adapter.py", "CallersListener.hear"): "the words of the caller's own listener",
    ("app/sessions/in_subprocess.py", "run_in_subprocess"): "the facade shows the words of the ecosystem",
    ("app/sessions/lent_host.py", "DistantApprovals.request_approval"): "the kernel's: the default counts",
    ("bundles/composition.py", "refuse_circles"): "each problem in it has its own",
    ("bundles/errors.py", "error_from"): "a blank, filled from the error",
    ("bundles/foundation/plain_bundle.py", "shape_problems"): "the facade shows the words of the ecosystem",
    ("system/foundation/app_yaml.py", "_mapping"): "the facade shows the words of the ecosystem",
    ("recipes/engine/actions.py", "_within"): "whether more time helps, only the author knows",
    ("recipes/engine/actions.py", "_run_body"): "the error of the step inside it has its own",
    ("recipes/engine/actions.py", "_with_json"): "it shows how the answer begins; the cause is there",
    ("recipes/engine/bash.py", "_environment"): "the fix is part of the text",
    ("recipes/engine/bash.py", "_render"): "the fix is part of the text",
    ("recipes/engine/directories.py", "working_dir"): "it names the directory that is not there",
    ("recipes/engine/job.py", "Job.claim"): "a fixed text that other programs look for",
    ("recipes/engine/job.py", "run_ended"): "the words of the gate that ended the run",
    ("recipes/engine/loops.py", "_note_recalled"): "the recalled error holds its fix",
    ("modules/tools/mcp/connection.py", "service_streams.Limited.__aiter__"): "the call that fails has one",
    ("recipes/engine/recovery.py", "recover"): "the errors of the steps inside have their own",
    ("recipes/engine/sub_recipe.py", "call_recipe"): "the problem is a whole message",
    ("recipes/engine/sub_recipe.py", "_find"): "a fixed text that other programs look for",
    ("recipes/engine/sub_recipe.py", "_after_failure"): "the errors of the steps inside have their own",
    ("system/agent_tools/scripted.py", "_failure"): "the author of the script chose the words",
    ("system/agent_tools/tool.py", "_failure"): "the tool's own last words say what is wrong",
    ("system/kernel/approvals.py", "ApprovalDesk.request_approval"): "the kernel takes the default",
    ("system/kernel/__init__.py", "kernel_problems"): "the words of the kernel",
    ("system/listeners/fan_out.py", "FanOut.result"): "our own bug",
}  # fmt: skip


def calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """Yield each call in a file with the name of the function that it stands in."""
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        name, node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{name}.{node.name}".lstrip(".")
        elif isinstance(node, ast.Call):
            yield name, node
        waiting += [(name, child) for child in ast.iter_child_nodes(node)]


def makers(path: Path) -> Iterator[tuple[str, ast.Call, str]]:
    for function, node in calls(ast.parse(path.read_text("utf-8"))):
        called = node.func
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        of_report = isinstance(called, ast.Attribute) and "report" in ast.unparse(called.value)
        is_error = name.endswith(("Error", *ERRORS)) and name[:1].isupper() and name not in NOT_OURS
        if is_error or (name in MAKERS and (of_report or name not in OF_REPORTS)):
            yield function, node, name


def has_fix(call: ast.Call, name: str) -> bool:
    return (
        name in BUILT_IN
        or any(each.arg in ("fix", None) for each in call.keywords)
        or len(call.args) > MAKERS.get(name, 99)
    )


@cache
def without_fix() -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        file = str(path.relative_to(SOURCE))
        if file in ("recipes/progress_format.py", "recipes/progress_reading.py", "recipes/workstreams.py"):
            continue  # other programs write these files; a person never sees its errors
        for function, call, name in makers(path):
            if not has_fix(call, name):
                found.setdefault((file, function), []).append(call.lineno)
    return found


def test_every_error_and_finding_says_how_to_fix_it_or_is_excused() -> None:
    missing = {f"{file}: {function}": lines for (file, function), lines in without_fix().items()
               if (file, function) not in EXEMPT}  # fmt: skip
    assert missing == {}


def test_no_excuse_is_kept_that_nobody_needs() -> None:
    assert sorted(EXEMPT.keys() - without_fix().keys()) == []


def test_every_code_of_the_check_is_given_somewhere() -> None:
    checks = "".join(path.read_text("utf-8") for path in (SOURCE / "recipes").rglob("*.py"))
    assert [code for code in CODES if checks.count(f'"{code}"') < 2] == []
