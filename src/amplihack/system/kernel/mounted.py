"""Know what each module of a session put where; one that put nothing anywhere is refused."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

from amplihack.errors import Problem
from amplihack.records import Record
from amplihack.system.kernel.importing import UnmountableError
from amplihack.system.kernel.module_faults import fix_for

_POINTS = ("providers", "tools")


class Mounted(Record):
    """What a module put where: names of its tools and providers, and the events that its hooks hear."""

    module: str
    kind: str
    names: tuple[str, ...] = ()


class MountedModules:
    """The modules of one session, in the order in which they were mounted."""

    def __init__(self) -> None:
        self.modules: list[Mounted] = []
        self.problems: list[Problem] = []

    def owner_of(self, name: str) -> str | None:
        """Return the module that mounted a tool or a provider."""
        return next((each.module for each in self.modules if name in each.names), None)

    async def note(self, mounting: Awaitable[Any], target: Any, kind: str, module_id: str) -> Any:
        """Let a module be mounted and note what it did. Returns its cleanup; raises UnmountableError."""
        before = _standing(target)
        returned = await mounting
        after = _standing(target)
        new = tuple(name for name in after if after[name] is not before.get(name))
        if kind == "tool" and not any(point == "tools" for point, _ in new):
            returned = await _mount_returned(target, returned)
            after = _standing(target)
            new = tuple(name for name in after if after[name] is not before.get(name))
        new = await self._without_unnamed(target, module_id, new)
        if kind == "tool" and not new:
            what = "protocol_compliance: No tool was mounted and mount() did not return a Tool instance"
            raise UnmountableError(what, fix=fix_for("mounts_nothing", module_id))
        if kind in ("orchestrator", "context") and target.get(kind) is None:
            what = f"protocol_compliance: No {kind} was mounted and mount() did not return one"
            raise UnmountableError(what, fix=fix_for("was mounted and mount() did not return", module_id))
        self._note_replaced(module_id, [name for point, name in new if (point, name) in before])
        self.modules.append(Mounted(module_id, kind, tuple(name for _, name in new)))
        return returned if callable(returned) else None

    async def _without_unnamed(
        self, target: Any, module_id: str, new: Sequence[tuple[str, str]]
    ) -> tuple[tuple[str, str], ...]:
        """Take away tools that no model could call: a service would refuse every request because of them."""
        unnamed = [name for point, name in new if point == "tools" and not name.strip()]
        for name in unnamed:
            await target.unmount("tools", name=name)
            what, fix = (
                f"{module_id} has a tool without a name; it is left out",
                fix_for("tool_name", module_id),
            )
            self.problems.append(Problem(what, None, fix, "warning", "tool-unnamed"))
        return tuple(each for each in new if each[0] != "tools" or each[1] not in unnamed)

    def _note_replaced(self, module_id: str, names: Sequence[str]) -> None:
        """Note tools of other modules that are gone now. Instances of providers the kernel puts back."""
        for name in names:
            first = next((each for each in self.modules if name in each.names and each.kind == "tool"), None)
            if first is not None and first.module != module_id:
                what = (
                    f"{first.module} and {module_id} both have a tool {name!r}; that of {module_id} is used"
                )
                fix = "keep one of the two modules"
                self.problems.append(Problem(what, None, fix, "warning", "tool-replaced"))


async def _mount_returned(coordinator: Any, returned: Any) -> Any:
    """Mount a tool that `mount()` returned instead of mounting it."""
    name = getattr(returned, "name", None)
    if isinstance(name, str) and name and callable(getattr(returned, "execute", None)):
        await coordinator.mount("tools", returned, name=name)
        return None
    return returned


def _standing(coordinator: Any) -> dict[tuple[str, str], Any]:
    return {
        (point, name): found for point in _POINTS for name, found in (coordinator.get(point) or {}).items()
    }
