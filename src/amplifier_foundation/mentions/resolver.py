"""Resolve mentions in bundles and in one directory."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from amplihack.bundles import mentions
from amplihack.bundles.mentions import Answer, Found, Lost, MentionScope
from amplihack.bundles.reach import joined
from amplihack.bundles.uris import split_namespace
from amplihack.records import replace
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.files import real
from amplihack.system.home import this_process

__all__ = ["BaseMentionResolver"]


class _Mentionable(Protocol):
    """The fields that a bundle needs so that its files can be mentioned."""

    @property
    def base_path(self) -> Path | None: ...

    @property
    def source_base_paths(self) -> dict[str, Path]: ...

    @property
    def context(self) -> dict[str, Path]: ...


class BaseMentionResolver:
    """Resolves `@namespace:path` inside that bundle only; other mentions start at `base_path`."""

    def __init__(self, bundles: dict[str, _Mentionable] | None = None, base_path: Path | None = None) -> None:
        self.bundles = bundles if bundles is not None else {}
        self.base_path = base_path

    def register_bundle(self, name: str, bundle: _Mentionable) -> None:
        self.bundles[name] = bundle

    def resolve(self, mention: str) -> Path | None:
        """Return the file or directory that a mention names, or None."""
        found = self.explain(mention)
        return Path(found.path) if isinstance(found, Found) else None

    @property
    def is_overridden(self) -> bool:
        """Tell whether an app resolves mentions in its own way."""
        return type(self).resolve is not BaseMentionResolver.resolve

    def explain(self, mention: str) -> Answer:
        """Return the file or directory that a mention names, or the reason why there is none."""
        name = mention.removeprefix("@")
        if name == mention or not name:
            return Lost("not_found", "relative_path")
        if name.startswith("~"):
            try:
                name = str(Path(name).expanduser())
            except RuntimeError:  # there is no such user
                return Lost("not_found", "home_shortcut")
        return mentions.resolve(f"@{name}", self._scope(name), BundleFiles())

    def around(self, scope: MentionScope) -> MentionScope:
        """Return a scope that knows where the bundles lie, and what downloaded ones may mention."""
        bundles = list(self.bundles.values())
        paths = [path for each in bundles for path in (each.base_path, *each.source_base_paths.values())]
        made = (getattr(each, "_made", None) for each in bundles)
        return replace(
            scope,
            bases=(*scope.bases, str(self.base_path or this_process()[1])),
            tops=frozenset(str(real(path)) for path in paths if path is not None),
            reach=joined(whole.reach for whole in made if whole is not None),
        )

    def _scope(self, name: str) -> MentionScope:
        base = str(self.base_path or this_process()[1])
        namespace = (split_namespace(name) or ("",))[0]
        bundle = self.bundles.get(namespace)
        if bundle is None:
            return MentionScope(bases=(base,))
        root = bundle.source_base_paths.get(namespace) or bundle.base_path
        context = {f"{namespace}:{key}": str(path) for key, path in bundle.context.items()}
        context |= {key: str(path) for key, path in bundle.context.items() if ":" in key}
        return MentionScope({namespace: str(root)} if root is not None else {}, (base,), context=context)
