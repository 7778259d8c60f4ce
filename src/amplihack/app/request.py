"""What the user asked of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from amplihack.recipes.engine import Options
from amplihack.recipes.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What the user asked for on the command line."""

    overrides: Mapping[str, Value] = field(default_factory=dict)
    agent: str | None = None
    include_tags: frozenset[str] = frozenset()
    exclude_tags: frozenset[str] = frozenset()
    dry_run: bool = False
    strict: bool = False
    strict_vars: bool = False
    strict_agents: bool = False
    auto_stage: bool = True
    isolate_agents: bool = False
    max_parallel: int = 50
    max_agents: int = 8
    step_timeout: float | None = None
    approve_all: bool = False

    def options(self, directory: Path, run_id: str) -> Options:
        """The part that concerns the engine."""
        return Options(
            run_id=run_id,
            working_dir=str(directory),
            include_tags=self.include_tags,
            exclude_tags=self.exclude_tags,
            dry_run=self.dry_run,
            strict_vars=self.strict_vars,
            strict_agents=self.strict_agents,
            auto_stage=self.auto_stage,
            max_parallel=self.max_parallel,
            max_agents=self.max_agents,
            step_timeout=self.step_timeout,
            approve_all=self.approve_all,
        )
