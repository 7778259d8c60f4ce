"""Say where the file tools may read and write, from the settings and the session's directory."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from amplihack.bundles.uris import split_namespace
from amplihack.modules.tools.tool import ToolFailed, working_dir
from amplihack.records import Record
from amplihack.system.fence import Fence, FileState, file_state

_SHORTCUTS = ("user", "project")  # namespaces that are no bundles


class FilePlaces(Record, kw_only=True):
    """The settings of the file tools. Relative paths mean the session's directory of the moment."""

    coordinator: Any
    read: tuple[str, ...]
    write: tuple[str, ...]
    not_read: tuple[str, ...]
    not_write: tuple[str, ...]
    most_bytes: int

    def path(self, text: str) -> Path:
        """Return the path that the model wrote. `@name:path` is looked up as a mention."""
        if text.startswith("@"):
            resolver = self.coordinator.get_capability("mention_resolver")
            found = resolver.resolve(text) if resolver is not None else None
            if found is None:
                raise ToolFailed(f"{text} leads to nothing", fix="use the path of a file")
            return Path(found)
        return self._absolute(text)

    def reading(self, text: str) -> Fence:
        """Return the fence for reading what the model wrote. What a bundle brings may be read as well."""
        allowed = self._all(self.read) + ((self.path(text),) if is_of_bundle(text) else ())
        return Fence(allowed=allowed, denied=self._all(self.not_read), setting="allowed_read_paths")

    def writing(self) -> Fence:
        denied = self._all(self.not_write) + self._all(self.not_read)
        return Fence(allowed=self._all(self.write), denied=denied, setting="allowed_write_paths")

    async def load(self, text: str) -> bytes:
        """Return the bytes of a file. Raises an AmplihackError or OSError."""
        return (await asyncio.to_thread(self.loaded, text))[0]

    def loaded(self, text: str) -> tuple[bytes, FileState]:
        """Return the bytes of a file, and which file they are of. Blocking; raises as `load` does."""
        path, fence = self.path(text), self.reading(text)
        with fence.reading(path) as file:
            state = file_state(os.fstat(file.fileno()))
            data = file.read(self.most_bytes + 1)
        if len(data) > self.most_bytes:
            raise ToolFailed(
                f"{path} is larger than {self.most_bytes} bytes",
                fix="look at a part of it with a shell command such as `head`",
            )
        return data, state

    async def tell(self, event: str, path: Path, size: int) -> None:
        await self.coordinator.hooks.emit(event, {"path": str(path), "bytes": size})

    def _all(self, texts: tuple[str, ...]) -> tuple[Path, ...]:
        return tuple(self._absolute(text) for text in texts)

    def _absolute(self, text: str) -> Path:
        # `..` stays: behind a link it leads elsewhere than the text suggests, and the fence walks it.
        home = text == "~" or text.startswith("~/")
        return working_dir(self.coordinator) / (Path(text).expanduser() if home else text)


def is_of_bundle(text: str) -> bool:
    """Tell whether a path is one in a bundle, `@name:path`: such a mention leads nowhere else.

    Others, such as `@/etc/passwd`, `@~/.ssh` or `@user:settings.yaml`, lead wherever the model wants.
    """
    parts = split_namespace(text[1:]) if text.startswith("@") else None
    return parts is not None and parts[0] not in _SHORTCUTS
