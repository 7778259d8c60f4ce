"""Report settings of our own modules that no module reads, such as misspelt ones."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.bundles.file_report import is_absent, place_of
from amplihack.bundles.model import Bundle
from amplihack.bundles.module_sources import modules_of
from amplihack.bundles.tree import Table
from amplihack.documents.suggest import closest
from amplihack.errors import Problem
from amplihack.modules.setting_names import settings_of


def ignored_settings(bundle: Bundle, *, complete: bool) -> Iterator[Problem]:
    """Report what the modules of ours that a bundle uses would ignore.

    Another bundle may bring another module of that name: as long as nobody asks for a session, only likely
    typing mistakes are told.
    """
    entries = [entry for _, entry in modules_of(bundle)]
    brought = {entry.text("module") for entry in entries if not is_absent(entry.get("source"))}
    for entry in entries:
        module, config = entry.text("module"), entry.get("config")
        if module in brought or not isinstance(config, Table) or not (known := settings_of(module)):
            continue
        for name, value in config:
            meant = closest(name, known)
            if name not in known and not is_absent(value) and (meant or complete):
                what = f"{module} has no setting {name!r}: it is ignored"
                fix = f"did you mean `{meant}`?" if meant else f"it knows {', '.join(sorted(known))}"
                yield Problem(what, place_of(value), fix, "warning", "module-setting")
