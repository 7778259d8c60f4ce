"""Offer the bundle of the old API: a mutable record with the work on it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from amplifier_foundation.bundle import _translation as translation
from amplifier_foundation.configurator._types import Origin
from amplihack.bundles import context_files, model, mount_plan, provenance, roster
from amplihack.bundles.compose import compose
from amplihack.bundles.decode import decode_data
from amplihack.bundles.foundation import modes
from amplihack.bundles.foundation.origin_claims import LateClaims
from amplihack.bundles.ports import FileText
from amplihack.bundles.tree import to_plain
from amplihack.errors import Problem
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.files import real
from amplihack.system.home import this_process

if TYPE_CHECKING:
    from amplifier_foundation.bundle._prepared import PreparedBundle

__all__ = ["Bundle"]

_logger = logging.getLogger(__name__)
_path = lru_cache(maxsize=256)(Path)  # bundles that are composed one by one share few directories


@dataclass(repr=False)  # asyncio asks for the repr of every result, and a whole composition takes seconds
class Bundle:
    """A composable configuration, read from files or made by a program."""

    name: str
    version: str = model.DEFAULT_VERSION
    description: str = ""
    includes: list[str | dict[str, Any]] = field(default_factory=list)
    namespace_root: str | None = None
    session: dict[str, Any] = field(default_factory=dict)
    providers: list[dict[str, Any]] = field(default_factory=list)
    tools: list[dict[str, Any]] = field(default_factory=list)
    hooks: list[dict[str, Any]] = field(default_factory=list)
    spawn: dict[str, Any] = field(default_factory=dict)
    agents: dict[str, dict[str, Any]] = field(default_factory=dict)
    context: dict[str, Path] = field(default_factory=dict)
    instruction: str | None = None
    base_path: Path | None = None
    source_base_paths: dict[str, Path] = field(default_factory=dict)
    _pending_context: dict[str, str] = field(default_factory=dict)
    origins: dict[str, list[Origin]] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    load_report: list[dict[str, Any]] = field(default_factory=list, compare=False)
    _source_uri: str | None = field(default=None, init=False, repr=False, compare=False)
    _commits: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)
    _core: model.Bundle | None = field(default=None, init=False, repr=False, compare=False)
    _claims: Mapping[str, Sequence[provenance.Claim]] | LateClaims | None = field(
        default=None, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        """Take None for an empty collection."""
        for each in fields(self):
            if each.default_factory in (list, dict) and getattr(self, each.name) is None:
                setattr(self, each.name, cast(Any, each.default_factory)())

    if not TYPE_CHECKING:  # a type checker knows the fields, and should go on refusing all others

        def __getattr__(self, name: str) -> Any:
            """Make a field of plain data when it is first looked at."""
            core = vars(self).get("_core")
            if core is None or (name != "origins" and name not in translation.ON_DEMAND):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            made = translation.origins_of(self) if name == "origins" else translation.ON_DEMAND[name](core)
            setattr(self, name, made)
            return made

    def __repr__(self) -> str:
        return f"Bundle(name={self.name!r}, version={self.version!r}, base_path={self.base_path!r})"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], base_path: Path | None = None) -> Bundle:
        """Make the bundle that parsed YAML describes. Raises BundleLoadError or BundleValidationError."""
        base = str(real(Path(base_path))) if base_path is not None else None
        decoded = decode_data(data, base_path=base)
        core = decoded.checked(strict=False)
        _log(decoded.problems)
        return cls._from_core(core, claims={})

    @classmethod
    def _from_core(
        cls,
        core: model.Bundle,
        claims: Mapping[str, Sequence[provenance.Claim]] | LateClaims | None = None,
    ) -> Bundle:
        """Wrap one of our bundles. Without `claims`, its own lines tell who brought its items in."""
        known = {
            "name": core.name,
            "version": core.shown_version,
            "description": core.description,
            "namespace_root": core.namespace_root,
            "instruction": core.system_instruction,
            "base_path": _path(core.base_path) if core.base_path is not None else None,
        }
        if cls is Bundle:
            # Not through `__init__`: a program may compose thousands, and the rest is made on demand.
            bundle = cls.__new__(cls)
            vars(bundle).update(known, load_report=[], _source_uri=None, _commits={})
        else:
            bundle = cls(**cast(Any, known))
            for name in ("origins", *translation.ON_DEMAND):
                delattr(bundle, name)  # `__getattr__` makes it when somebody looks
        bundle._core, bundle._claims = core, claims
        return bundle

    def compose(
        self, *others: Bundle, instruction: Literal["replace", "keep", "append"] = "replace"
    ) -> Bundle:
        """Return a new bundle with the others on top, later ones last. It shares nothing with them."""
        parts = [(translation.to_core(each), translation.known_claims(each)) for each in (self, *others)]
        core = compose(*(part for part, _ in parts), instruction=instruction)
        composed = Bundle._from_core(core, LateClaims(parts, core))
        for each in (self, *others):
            composed.load_report += each.load_report
            composed._commits.update(each._commits)
            composed._source_uri = each._source_uri or composed._source_uri
        return composed

    def to_mount_plan(self) -> dict[str, Any]:
        """Return the mount plan of a session: new data, without empty sections."""
        core = translation.to_core(self)
        plan = cast(dict[str, Any], mount_plan.mount_plan(core))
        if "session" in plan:
            plan["session"] = to_plain(core.session)  # names of modules stay as they were written
        return plan

    def resolve_context_path(self, name: str) -> Path | None:
        """Return the file of a context name or of a path in the bundle, or None."""
        found = context_files.context_path(translation.to_core(self), name, BundleFiles())
        return Path(found) if found is not None else None

    def resolve_agent_path(self, name: str) -> Path | None:
        """Return the file of an agent, or None."""
        files = BundleFiles()
        core = translation.to_core(self)
        tried = (path for path in roster.agent_paths(core, name, self.name) if files.is_file(path))
        return next((Path(path) for path in tried if core.reach.allows(path, path, files)), None)

    def get_system_instruction(self) -> str | None:
        return self.instruction

    def resolve_pending_context(self) -> None:
        """Turn references with a known namespace into paths. Others stay and are reported."""
        home = this_process()[0].get("HOME")
        resolved = context_files.resolve_context(translation.to_core(self), home=home)
        reachable = context_files.keep_reachable(resolved.bundle, BundleFiles())
        self.context = {name: Path(path) for name, path in reachable.bundle.resolved_context.items()}
        self._pending_context = reachable.bundle.pending_context
        self._core = reachable.bundle
        self._report((*resolved.problems, *reachable.problems))

    def load_agent_metadata(self) -> None:
        """Load each agent's file. What the bundle itself says about an agent wins."""
        home = this_process()[0].get("HOME")
        filled = roster.fill_roster(translation.to_core(self), BundleFiles(), home=home)
        self.agents, self._core = to_plain(filled.bundle.agents), filled.bundle
        self._report(filled.problems)

    def validate_modes(self) -> list[str]:
        """Return the problems of the bundle's mode files. They are logged too, and never raised."""
        if self.base_path is None:
            return []
        problems = modes.mode_problems(str(self.base_path), BundleFiles())
        _log(problems)
        return [told(problem) for problem in problems]

    async def prepare(
        self,
        install_deps: bool = True,
        source_resolver: Callable[[str, str], str] | None = None,
        progress_callback: Callable[[str, str], None] | None = None,
        strict: bool = False,
    ) -> PreparedBundle:
        """Bring the modules of the bundle here: fetch them and install what they need.

        `source_resolver` may give another source for a module. `progress_callback` hears an action and a
        name. A module that fails is logged, and with `strict` all of them are raised as one error.
        """
        from amplifier_foundation.bundle._prepared import prepare_bundle  # deferred: it needs the sources

        return await prepare_bundle(
            self,
            install_deps=install_deps,
            source_resolver=source_resolver,
            progress_callback=progress_callback,
            strict=strict,
        )

    def fingerprint(self) -> str:
        """Return the sha256 of everything in a session: plan, system text, context, commits."""
        core, files = translation.to_core(self), BundleFiles()
        texts = {name: files.read(path) for name, path in core.resolved_context.items()}
        hashes = {name: text.sha256 for name, text in texts.items() if isinstance(text, FileText)}
        return mount_plan.fingerprint(core, context_hashes=hashes, commits=self._commits)

    @property
    def modified_by(self) -> dict[str, list[str]]:
        """Return, for each item, the bundles other than its introducer that changed it."""
        return provenance.modified_by(translation.to_core(self))

    def _report(self, problems: Iterable[Problem]) -> None:
        _log(self._note(problems))

    def _note(self, problems: Iterable[Problem]) -> list[Problem]:
        """Add problems to the load report, and return those that it did not have."""
        known = {entry["reason"] for entry in self.load_report}
        new = [each for each in problems if each.severity != "note" and each.what not in known]
        for each in new:
            entry = {"source": _place(each), "chain": [self.name], "reason": each.what, "exception": None}
            self.load_report.append(entry)
        return new


def _place(problem: Problem) -> str:
    return problem.where.file if problem.where else ""


def told(problem: Problem) -> str:
    """Return a problem as one line of text."""
    where = f"{problem.where}: " if problem.where else ""
    return f"{where}{problem.what}" + (f" ({problem.fix})" if problem.fix else "")


def _log(problems: Iterable[Problem]) -> None:
    for problem in problems:
        if problem.severity != "note":
            _logger.warning("%s", told(problem))
