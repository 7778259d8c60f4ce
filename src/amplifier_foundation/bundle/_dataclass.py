"""Offer the bundle of the old API: a mutable record with the work on it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from amplifier_foundation.bundle import _translation as translation
from amplifier_foundation.configurator._types import Origin
from amplihack.bundles import context_files, model, mount_plan, provenance, roster
from amplihack.bundles.decode import decode_data
from amplihack.bundles.errors import BundleLoadError
from amplihack.bundles.foundation import modes
from amplihack.bundles.foundation.late_bundle import LateBundle
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
    _made: translation.Whole | None = field(default=None, init=False, repr=False, compare=False)
    _claims: Mapping[str, Sequence[provenance.Claim]] | LateBundle | None = field(
        default=None, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        """Take None for an empty collection."""
        held = vars(self)
        for name in _COLLECTIONS:
            if held.get(name, self) is None:
                held[name] = _COLLECTIONS[name]()

    def __repr__(self) -> str:
        return f"Bundle(name={self.name!r}, version={self.version!r}, base_path={self.base_path!r})"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], base_path: Path | None = None) -> Bundle:
        """Make the bundle that parsed YAML describes. Raises BundleLoadError or BundleValidationError."""
        if base_path is not None and not isinstance(base_path, str | Path):
            what = f"base_path should be a path, got {type(base_path).__name__}: {base_path!r}"
            raise BundleLoadError(what, fix="give the directory of the bundle file")
        base = str(real(Path(base_path))) if base_path is not None else None
        decoded = decode_data(data, base_path=base)
        core = decoded.checked(strict=False)
        log_problems(_logger, decoded.problems)
        return cls._from_core(core, claims={})

    @classmethod
    def _from_core(
        cls,
        made: translation.Whole,
        claims: Mapping[str, Sequence[provenance.Claim]] | LateBundle | None = None,
    ) -> Bundle:
        """Wrap one of our bundles. Without `claims`, its own lines tell who brought its items in."""
        if cls is Bundle:
            bundle = cls.__new__(cls)  # not through `__init__`: fields are made on demand
        else:
            bundle = cls(**{name: make(made) for name, make in translation.SIMPLE.items()})
            for name in ("origins", *translation.ON_DEMAND):
                delattr(bundle, name)
        vars(bundle).update(_made=made, _claims=claims)
        return bundle

    def compose(
        self, *others: Bundle, instruction: Literal["replace", "keep", "append"] = "replace"
    ) -> Bundle:
        """Return a new bundle with the others on top, later ones last. It shares nothing with them."""
        bundles = (self, *others)
        late = LateBundle([translation.operand(each) for each in bundles], instruction)
        composed = Bundle._from_core(late, late)
        for each in bundles:
            if len(vars(each)) > len(translation.UNSEEN):
                composed._take_report(vars(each))
        return composed

    def _take_report(self, held: Mapping[str, Any]) -> None:
        """Add what was told of a bundle that is part of this one."""
        if held.get("load_report"):
            self.load_report += held["load_report"]
        if held.get("_commits"):
            self._commits.update(held["_commits"])
        self._source_uri = held.get("_source_uri") or self._source_uri

    def to_mount_plan(self) -> dict[str, Any]:
        """Return the mount plan of a session: new data, without empty sections."""
        return translation.plan_of(translation.whole_of(self))

    def resolve_context_path(self, name: str) -> Path | None:
        """Return the file of a context name or of a path in the bundle, or None."""
        found = context_files.context_path(translation.to_core(self), name, BundleFiles())
        return Path(found) if found is not None else None

    def resolve_agent_path(self, name: str) -> Path | None:
        """Return the file of an agent, or None."""
        files = BundleFiles()
        core = translation.to_core(self)
        tried = (path for path in roster.agent_paths(core, name, self.name) if files.is_file(path))
        return next((Path(path) for path in tried if roster.is_inside(core, path, files)), None)

    def get_system_instruction(self) -> str | None:
        return self.instruction

    def resolve_pending_context(self) -> None:
        """Turn references with a known namespace into paths. Others stay and are reported."""
        home = this_process()[0].get("HOME")
        resolved = context_files.resolve_context(translation.to_core(self), home=home)
        reachable = context_files.keep_reachable(resolved.bundle, BundleFiles())
        self.context = {name: Path(path) for name, path in reachable.bundle.resolved_context.items()}
        self._pending_context = reachable.bundle.pending_context
        self._made = reachable.bundle
        self._report((*resolved.problems, *reachable.problems))

    def load_agent_metadata(self) -> None:
        """Load each agent's file. What the bundle itself says about an agent wins."""
        home = this_process()[0].get("HOME")
        filled = roster.fill_roster(translation.to_core(self), BundleFiles(), home=home)
        self.agents, self._made = to_plain(filled.bundle.agents), filled.bundle
        self._report(filled.problems)

    def validate_modes(self) -> list[str]:
        """Return the problems of the bundle's mode files. They are logged too, and never raised."""
        if self.base_path is None:
            return []
        problems = modes.mode_problems(str(self.base_path), BundleFiles())
        log_problems(_logger, problems)
        return [problem.in_one_line for problem in problems]

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
        log_problems(_logger, self._note(problems))

    def _note(self, problems: Iterable[Problem]) -> list[Problem]:
        """Add problems to the load report, and return those that it did not have."""
        known = {entry["reason"] for entry in self.load_report}
        new = [each for each in problems if each.severity != "note" and each.what not in known]
        for each in new:
            entry = {"source": _place(each), "chain": [self.name], "reason": each.what, "exception": None}
            self.load_report.append(entry)
        return new


_COLLECTIONS: Mapping[str, Callable[[], Any]] = {
    each.name: each.default_factory for each in fields(Bundle) if each.default_factory in (list, dict)
}
for _name, _make in {**translation.ON_DEMAND, **translation.BESIDE, "origins": None}.items():
    setattr(
        Bundle, _name, translation.OnDemand(_name, _make)
    )  # instead of the defaults, which `__init__` has


def _place(problem: Problem) -> str:
    return problem.where.file if problem.where else ""


def log_problems(logger: logging.Logger, problems: Iterable[Problem]) -> None:
    for problem in problems:
        if problem.severity != "note":
            logger.warning("%s", problem.in_one_line)
