"""Keep a run while it happens: how it was started, the recipes that it reads, and its events."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from amplihack.app.run_request import RunRequest
from amplihack.app.run_world import Book
from amplihack.app.workspace import STDIN_NAME, Opened, Workspace
from amplihack.credentials import MASK
from amplihack.errors import AmplihackError
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Recipe, SubRecipe, every_step
from amplihack.recipes.values import Value
from amplihack.records import Record
from amplihack.system.agent_tools.environment import for_commands
from amplihack.system.agent_tools.spec import lasting
from amplihack.system.listeners.fan_out import FanOut

if TYPE_CHECKING:
    from amplihack.system.run_store.journal import RunJournal

# What a run is started with again when it is resumed. The rest belongs to the process, such as its progress.
_OPTIONS = (
    "agent",
    "strict",
    "strict_vars",
    "strict_agents",
    "auto_stage",
    "isolate_agents",
    "max_parallel",
    "max_agents",
    "step_timeout",
    "approve_all",
)
_HIDDEN, _ASIDE = "hidden", "\ue000"
_TAGS = ("include_tags", "exclude_tags")


class Keeper(Record, frozen=False):
    """Writes recipes to the memory of a run, once it has one."""

    workspace: Workspace
    mask: Callable[[str], str]
    memory: RunJournal | None = None

    def opened(self, opened: Opened) -> None:
        """Keep the files of a recipe as they are now, without secrets."""
        from amplihack.system.run_store.values import hash_of  # deferred: as the store itself

        if self.memory is None:
            return
        there = filter(Path.exists, opened.files)  # one that is gone was recorded in an earlier life
        kept = {str(path): self.workspace.library.read(path).data for path in there}
        if opened.piped is not None:
            kept[STDIN_NAME] = opened.piped
        for name, data in kept.items():
            text = self._without_secrets(data.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape"))
            stored = text.encode("utf-8", "surrogateescape")
            self.memory.recipe(name, hash_of(data), text, hash_of(stored))

    def _without_secrets(self, text: str) -> str:
        """Return the text with another word for each secret: the usual mask would be wrong as YAML."""
        return self.mask(text.replace(MASK, _ASIDE)).replace(MASK, _HIDDEN).replace(_ASIDE, MASK)


def begin(
    workspace: Workspace, opened: Opened, values: Mapping[str, Value], request: RunRequest, journal: FanOut
) -> RunJournal | None:
    """Begin to keep a run, if the request says where. Raises StoreError."""
    if request.store is None or request.dry_run:
        return None
    from amplihack.system.run_store.rows import Inputs, NewRun  # deferred: `sqlite3` is slow to load

    recipe = opened.located.recipe
    for each in reachable(workspace, opened.located):
        journal.know(each)  # before anything is written: a value that it calls secret may be given to us
    given = {**_from_environment(workspace, recipe), **values}
    kept = journal.keepable(given)
    return request.store.create(
        NewRun(
            run_id=request.run_id,
            recipe=recipe.name,
            path=opened.located.path if opened.piped is None else STDIN_NAME,
            working_dir=request.working_dir,
            request=_shown(workspace, request),
            inputs=Inputs(kept, tuple(name for name in given if name not in kept)),
        )
    )


def _from_environment(workspace: Workspace, recipe: Recipe) -> dict[str, Value]:
    """Return the inputs that the environment gave: it may be another one when the run is resumed."""
    seen = for_commands(workspace.environment)
    return {
        name: recipe.context[name]
        for name, declared in recipe.declared.items()
        if declared.env and seen.get(declared.env)
    }


def reachable(workspace: Workspace, located: Located) -> Iterator[Recipe]:
    """Yield every recipe that this one calls by a plain name, directly or not."""
    seen: set[str | None] = {located.path}
    waiting = [located]
    while waiting:
        caller = waiting.pop()
        for step in every_step(caller.recipe.steps):
            if not isinstance(step.action, SubRecipe):
                continue
            try:
                child = Book(workspace).sub_recipe(step.action.recipe.text, caller.path)
            except AmplihackError:
                continue  # the step itself will say what is wrong, if it is reached
            if child.path not in seen:
                seen.add(child.path)
                waiting.append(child)
                yield child.recipe


def _shown(workspace: Workspace, request: RunRequest) -> dict[str, Value]:
    return {
        **{name: getattr(request, name) for name in _OPTIONS},
        "agent": lasting(request.agent, workspace.home.cwd) if request.agent else None,
        **{name: sorted(getattr(request, name)) for name in _TAGS},
        "recipe_dirs": [str(path) for path in workspace.library.first],
        "generation": workspace.home.generation,
        "env_files": [str(path) for path in workspace.env_files],
        "adapter": request.adapter.name if request.adapter else None,
    }


def options_of(shown: Mapping[str, Value]) -> dict[str, object]:
    """Return the options of a request that was kept, as arguments of another one."""
    chosen: dict[str, object] = {name: shown[name] for name in _OPTIONS if name in shown}
    for name in _TAGS:
        words = shown.get(name, ())
        chosen[name] = frozenset(words) if isinstance(words, list) else frozenset()
    return chosen
