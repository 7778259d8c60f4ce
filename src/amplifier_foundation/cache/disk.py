"""Cache bundles on disk, one JSON file each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from amplifier_foundation.bundle._dataclass import Bundle
from amplifier_foundation.configurator._types import Origin
from amplihack.system.foundation.caches import FileCache

__all__ = ["DiskCache"]

_PLAIN = (
    "name", "version", "description", "includes", "namespace_root", "session", "providers", "tools", "hooks",
    "spawn", "agents", "instruction", "_pending_context", "extra",
)  # fmt: skip


class DiskCache(FileCache[Bundle]):
    """Keeps every field of a bundle. An unreadable entry is removed and counts as missing."""

    def __init__(self, cache_dir: Path | str) -> None:
        super().__init__(Path(cache_dir), encode=_encode, decode=_decode)


def _encode(bundle: Bundle) -> dict[str, Any]:
    return {
        **{name: getattr(bundle, name) for name in _PLAIN},
        "context": {name: str(path) for name, path in bundle.context.items()},
        "base_path": str(bundle.base_path) if bundle.base_path is not None else None,
        "source_base_paths": {name: str(path) for name, path in bundle.source_base_paths.items()},
        "origins": {
            key: [[each.bundle, each.via_behavior] for each in found] for key, found in bundle.origins.items()
        },
        "source_uri": bundle._source_uri,
        "commits": bundle._commits,
    }


def _decode(data: Any) -> Bundle:
    bundle = Bundle(
        **{name: data[name] for name in _PLAIN},
        context={name: Path(path) for name, path in data["context"].items()},
        base_path=Path(data["base_path"]) if data["base_path"] is not None else None,
        source_base_paths={name: Path(path) for name, path in data["source_base_paths"].items()},
        origins={key: [Origin(*each) for each in found] for key, found in data["origins"].items()},
    )
    bundle._source_uri, bundle._commits = data["source_uri"], data["commits"]
    return bundle
