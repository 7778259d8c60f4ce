"""Find out how this program was installed, and how it is upgraded the same way.

What was found is one value and what to do about it another: the whole table can be tested without a machine.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from amplihack.patterns import pattern
from amplihack.records import Record

Kind: TypeAlias = Literal[
    "checkout", "source", "uv tool", "uvx", "pipx", "conda", "system", "pip", "pip --user", "read-only"
]
DISTRIBUTION = "amplihack"
_SAID = pattern(r"(?:\+ amplihack==|Would install (?:.* )?amplihack-)([^\s,]+)")


class InstallEvidence(Record, kw_only=True):
    """What is known of the environment that the program runs in. Programs are absolute paths, or None."""

    python: str
    prefix: str
    location: str = ""  # where the distribution lies
    checkout: str | None = None  # that the program runs from
    is_installed: bool = True  # False for a package that no distribution has brought
    fetched_from: str | None = None  # an address of version control, or a directory, that it was built from
    has_uv_receipt: bool = False
    in_uv_cache: bool = False
    has_pipx_metadata: bool = False
    has_conda_meta: bool = False
    is_externally_managed: bool = False
    installer: str = ""  # as the distribution names it
    in_venv: bool = False
    in_user_site: bool = False
    is_writable: bool = True
    has_pip: bool = False
    uv: str | None = None
    pipx: str | None = None


class InstallMethod(Record, kw_only=True):
    """How the program was installed. `upgrade` is empty where it must not, or cannot, upgrade itself.

    `newest` asks the same tool which version it would install; its answer holds `amplihack==1.2.3`, or is
    the report of pip. `advice` tells people what to run.
    """

    kind: Kind
    advice: str
    upgrade: tuple[str, ...] = ()
    newest: tuple[str, ...] = ()


def method_of(found: InstallEvidence) -> InstallMethod:
    """Return how the program was installed; the first sign that fits counts."""
    for method in _METHODS:
        if (answer := method(found)) is not None:
            return answer
    return _pip(found)


def _checkout(found: InstallEvidence) -> InstallMethod | None:
    if found.checkout is not None:
        advice = f"pull the checkout {found.checkout}, then run `amplihack install`"
        return InstallMethod(kind="checkout", advice=advice)
    if not found.is_installed:
        return InstallMethod(kind="source", advice="upgrade the source that it runs from")
    return None


def _uv_tool(found: InstallEvidence) -> InstallMethod | None:
    if not found.has_uv_receipt:
        return None
    advice = f"uv tool upgrade {DISTRIBUTION}"
    if found.uv is None:
        return InstallMethod(kind="uv tool", advice=f"put uv on the PATH, or run `{advice}`")
    return InstallMethod(
        kind="uv tool",
        advice=advice,
        upgrade=(found.uv, "tool", "upgrade", DISTRIBUTION),
        newest=_uv_newest(found, found.uv),
    )


def _uvx(found: InstallEvidence) -> InstallMethod | None:
    if not found.in_uv_cache:
        return None
    advice = f"uvx {DISTRIBUTION}@latest …, or `uv tool install {DISTRIBUTION}` to keep it"
    return InstallMethod(kind="uvx", advice=advice)


def _pipx(found: InstallEvidence) -> InstallMethod | None:
    if not found.has_pipx_metadata:
        return None
    advice = f"pipx upgrade {DISTRIBUTION}"
    if found.pipx is None:
        return InstallMethod(kind="pipx", advice=f"put pipx on the PATH, or run `{advice}`")
    # Behind `runpip` may be pip or uv: these flags are those of both.
    newest = (found.pipx, "runpip", DISTRIBUTION, "install", *_DRY)
    return InstallMethod(
        kind="pipx", advice=advice, upgrade=(found.pipx, "upgrade", DISTRIBUTION), newest=newest
    )


def _managed(found: InstallEvidence) -> InstallMethod | None:
    if found.has_conda_meta and not found.in_venv:
        return InstallMethod(kind="conda", advice=f"conda update {DISTRIBUTION}")
    if found.is_externally_managed or found.installer not in ("", "pip", "uv"):
        who = found.installer if found.installer not in ("", "pip", "uv") else "the system"
        advice = f"upgrade it with the packages of {who}, or `uv tool install {DISTRIBUTION}` beside it"
        return InstallMethod(kind="system", advice=advice)
    if not found.is_writable:
        advice = f"whoever may write to {found.location} must upgrade it"
        return InstallMethod(kind="read-only", advice=advice)
    return None


_METHODS = (_checkout, _uv_tool, _uvx, _pipx, _managed)
_DRY = ("--upgrade", "--dry-run", "--no-deps", DISTRIBUTION)


def _pip(found: InstallEvidence) -> InstallMethod:
    kind: Kind = "pip --user" if found.in_user_site else "pip"
    user = ("--user",) if found.in_user_site else ()
    shown = " ".join((found.python, "-m", "pip", "install", "--upgrade", *user))
    if found.fetched_from is not None:
        return InstallMethod(kind=kind, advice=f"{shown} {found.fetched_from}")
    if found.has_pip:
        pip = (found.python, "-m", "pip", "--disable-pip-version-check")
        return InstallMethod(
            kind=kind,
            advice=f"{shown} {DISTRIBUTION}",
            upgrade=(*pip, "install", "--upgrade", *user, DISTRIBUTION),
            newest=(*pip, "install", "--quiet", "--report", "-", *_DRY),
        )
    if found.uv is not None and not found.in_user_site:
        command = (found.uv, "pip", "install", "--python", found.python, "--upgrade", DISTRIBUTION)
        return InstallMethod(
            kind=kind, advice=" ".join(command), upgrade=command, newest=_uv_newest(found, found.uv)
        )
    return InstallMethod(kind=kind, advice=f"install pip or uv, then `{shown} {DISTRIBUTION}`")


def _uv_newest(found: InstallEvidence, uv: str) -> tuple[str, ...]:
    return (uv, "pip", "install", "--python", found.python, *_DRY)


def newest_version(answer: str, current: str) -> str:
    """Return the version that a tool would install, from its answer; the current one if it names none.

    pip writes a report, or `Would install amplihack-1.2.3`; uv writes `+ amplihack==1.2.3`.
    """
    import json  # deferred: few commands ask

    try:
        report = json.loads(answer)
    except ValueError:
        found = _SAID.search(answer)
        return found[1] if found else current
    listed = report.get("install", []) if isinstance(report, dict) else []
    named = [each.get("metadata", {}) for each in listed if isinstance(each, dict)]
    return next((str(each["version"]) for each in named if each.get("name") == DISTRIBUTION), current)
