"""Add agents, context and skills to a running session, scope by scope, and take them away again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeAlias

from amplihack.records import Record, field

RUNTIME_CONTEXT_OVERLAY_CAPABILITY = "runtime_context_overlay"
RUNTIME_SKILL_OVERLAY_CAPABILITY = "runtime_skill_overlay"
_LISTS = {"context": RUNTIME_CONTEXT_OVERLAY_CAPABILITY, "skills": RUNTIME_SKILL_OVERLAY_CAPABILITY}
_SINGULAR = {"agents": "agent", "context": "context", "skills": "skill"}
_RESERVED = frozenset({"tools", "config"})
Item: TypeAlias = tuple[str, str]  # a category and a name in it
Warn: TypeAlias = Callable[[str], None]


class TransitionResult(Record):
    """What a change of scopes did: what came, what went, and what was undone because of an error."""

    success: bool
    scope: str
    mounted: list[str] = field(default_factory=list)
    unmounted: list[str] = field(default_factory=list)
    rolled_back: list[str] = field(default_factory=list)
    error: str | None = None


class ScopedOverlay:
    """Counts who wants what: something is added with its first scope and removed with its last.

    `origins` holds who brought each item of a bundle in; `origin` makes the entry for a scope.
    """

    def __init__(
        self,
        coordinator: Any,
        *,
        success_event: str,
        failure_event: str,
        origins: Callable[[], dict[str, list[Any]]] | None = None,
        origin: Callable[[str], Any] = lambda scope: scope,
        warn: Warn = lambda _: None,
    ) -> None:
        self._coordinator = coordinator
        self._events = {True: success_event, False: failure_event}
        self._origins, self._origin, self._warn = origins, origin, warn
        self._refcounts: dict[Item, int] = {("agents", name): 1 for name in self._agents()}
        self._owned: dict[str, list[Item]] = {}

    async def apply(self, scope: str, contributions: Mapping[str, Any]) -> TransitionResult:
        """Add what a scope contributes, all of it or nothing. A scope that is there changes nothing."""
        if scope in self._owned:
            return TransitionResult(True, scope)
        done: list[Item] = []
        mounted: list[str] = []
        try:
            for item, value in self._items(contributions):
                if self._increment(item, value):
                    mounted.append(_shown(item))
                done.append(item)
                self._claim(item, scope)
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing of the scope stays
            undone = [_shown(item) for item in reversed(done) if self._give_back(item, scope)]
            failed = TransitionResult(
                False, scope, rolled_back=undone, error=str(error) or type(error).__name__
            )
            return await self._told(failed)
        self._owned[scope] = done
        return await self._told(TransitionResult(True, scope, mounted))

    async def revoke(self, scope: str) -> TransitionResult:
        """Take away what a scope contributed, unless somebody else wants it too."""
        if scope not in self._owned:
            return TransitionResult(True, scope)
        gone = [_shown(item) for item in reversed(self._owned.pop(scope)) if self._give_back(item, scope)]
        return await self._told(TransitionResult(True, scope, unmounted=gone))

    def get_refcount(self, category: str, key: str) -> int:
        return self._refcounts.get((category, key), 0)

    def dump_state(self) -> dict[str, Any]:
        counts: dict[str, dict[str, int]] = {}
        for (category, key), count in self._refcounts.items():
            counts.setdefault(category, {})[key] = count
        scopes = {scope: [_shown(item) for item in items] for scope, items in self._owned.items()}
        return {"refcounts": counts, "scopes": scopes}

    def _items(self, contributions: Mapping[str, Any]) -> Iterator[tuple[Item, Any]]:
        """Yield what is to be added. Raises TypeError for contributions of a wrong shape."""
        for category, value in contributions.items():
            if category in _RESERVED:
                continue
            if category not in _SINGULAR:
                self._warn(f"an overlay contributes {category!r}, which is no category: it is ignored")
            elif category == "agents":
                yield from ((("agents", name), each) for name, each in _agents_in(value))
            else:
                yield from (((category, each), each) for each in _texts_in(category, value))

    def _increment(self, item: Item, value: Any) -> bool:
        """Count one more; returns whether that added it."""
        count = self._refcounts.get(item, 0)
        if count == 0:
            self._add(item, value)
        self._refcounts[item] = count + 1
        return count == 0

    def _decrement(self, item: Item) -> bool:
        """Count one less; returns whether that removed it."""
        count = self._refcounts.get(item, 0) - 1
        if count > 0:
            self._refcounts[item] = count
            return False
        self._refcounts.pop(item, None)
        self._remove(item)
        return True

    def _give_back(self, item: Item, scope: str) -> bool:
        self._disclaim(item, scope)
        return self._decrement(item)

    def _agents(self) -> dict[str, Any]:
        config: dict[str, Any] = self._coordinator.config
        if not isinstance(config.get("agents"), dict):
            config["agents"] = {}
        agents: dict[str, Any] = config["agents"]
        return agents

    def _add(self, item: Item, value: Any) -> None:
        category, key = item
        if category == "agents":
            self._agents()[key] = deepcopy(value)
        else:
            self._publish(category, [*self._published(category), key])

    def _remove(self, item: Item) -> None:
        category, key = item
        if category == "agents":
            self._agents().pop(key, None)
        else:
            self._publish(category, [each for each in self._published(category) if each != key])

    def _published(self, category: str) -> Sequence[str]:
        found = self._coordinator.get_capability(_LISTS[category])
        return found if isinstance(found, list) else []

    def _publish(self, category: str, values: list[str]) -> None:
        self._coordinator.register_capability(_LISTS[category], values)

    def _claim(self, item: Item, scope: str) -> None:
        if self._origins is not None:
            self._origins().setdefault(_shown(item), []).append(self._origin(scope))

    def _disclaim(self, item: Item, scope: str) -> None:
        if self._origins is None:
            return
        origins, key, mine = self._origins(), _shown(item), self._origin(scope)
        kept = [each for each in origins.get(key, ()) if each != mine]
        if kept:
            origins[key] = kept
        else:
            origins.pop(key, None)

    async def _told(self, result: TransitionResult) -> TransitionResult:
        data = {
            "scope": result.scope,
            "success": result.success,
            "mounted": result.mounted,
            "unmounted": result.unmounted,
            "rolled_back": result.rolled_back,
            "error": result.error,
        }
        try:
            await self._coordinator.hooks.emit(self._events[result.success], data)
        except Exception as error:  # noqa: BLE001 - whoever listens must not undo what was done
            self._warn(f"{self._events[result.success]} could not be told: {error}")
        return result


def _agents_in(value: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(value, Mapping) or not all(isinstance(each, Mapping) for each in value.values()):
        raise TypeError(f"agents should be a mapping of mappings, got {value!r}")
    yield from value.items()


def _texts_in(category: str, value: object) -> Iterator[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"{category} should be a list of texts, got {value!r}")
    yield from dict.fromkeys(value)


def _shown(item: Item) -> str:
    return f"{_SINGULAR[item[0]]}:{item[1]}"
