"""Check the keys of an entry that describes a module, wherever one stands: in a list or as a role."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.bundles.file_report import FileReport, is_absent, is_text, kind_of, mistyped_keys, place_of
from amplihack.bundles.meant_address import tell_ignored_part
from amplihack.bundles.tree import Leaf, Table, Tree, to_plain
from amplihack.documents.suggest import closest
from amplihack.errors import Problem

_CONFIG_FIX = "write `config:` and below it, indented, a line `name: value` for each setting"
_SOURCE_FIX = "write one address or path, such as `source: git+https://host/repository@main`"
_KEYS = ("module", "source", "config", "id", "instance_id", "remove")
_KNOWN = frozenset(_KEYS)

# What switches a module in other tools, and the value that would change nothing here.
_SWITCHES: dict[str, bool | None] = {
    **dict.fromkeys(("enabled", "enable", "active"), True),
    **dict.fromkeys(("disabled", "disable", "skip", "optional"), False),
    **dict.fromkeys(("when", "if", "condition", "unless"), None),
}
_ADDRESS = "write it into the source: git+https://host/repository@v1.2"
_FOREIGN = {
    **dict.fromkeys(("conf", "cfg", "configuration", "settings", "options", "params"), "config"),
    **dict.fromkeys(("src", "url", "uri", "repo", "repository", "git", "path"), "source"),
    **dict.fromkeys(("ref", "branch", "tag", "version"), _ADDRESS),
}
# Notes for readers: nobody expects them to do anything.
_LABELS = frozenset({
    "name", "display_name", "title", "label", "description", "summary", "doc", "docs", "comment", "comments",
    "note", "notes", "reason", "purpose", "type", "kind", "category", "tags", "author", "maintainer",
    "license", "homepage",
})  # fmt: skip
_LEAVE_OUT = "leave the entry out; `remove: true` removes an inherited one, `config:` is for the module"
_BELOW_CONFIG = "only what stands below `config:` reaches the module; move it there"


def check_entry(entry: Table, owner: str, report: FileReport) -> None:
    """Report parts of an entry that have the wrong type, and keys that have no effect."""
    config = entry.get("config")
    if config is not None and not is_absent(config) and not isinstance(config, Table):
        what = f"{owner} `config` should be a mapping, got {kind_of(config)}"
        report.error("module-config", what, config, _CONFIG_FIX)
    _check_ids(entry, owner, report)
    _tell_ignored_source(entry, report)
    if not entry.entries.keys() <= _KNOWN:
        _tell_other_keys(entry, owner, report)


def wrong_parts(entry: Table, at: str) -> Iterator[Problem]:
    """Report what is no mapping or no text where one belongs, in an entry of a composed bundle."""
    config = entry.get("config")
    if config is not None and not is_absent(config) and not isinstance(config, Table):
        what = f"{at}: 'config' should be a mapping, got {kind_of(config)}"
        yield Problem(what, place_of(config), _CONFIG_FIX, code="module-config")
    source = entry.get("source")
    if source is not None and not is_absent(source) and not is_text(source):
        what = f"{at}: 'source' should be text, got {kind_of(source)}"
        yield Problem(what, place_of(source), _SOURCE_FIX, code="module-source")


def module_fix(entry: Table) -> str:
    """Suggest the module of an entry that names none; some people write `name` for it."""
    name, module = entry.text("name"), entry.get("module")
    if included := entry.text("include") or entry.text("bundle"):
        return f"a bundle is included at the start of a line: `includes: [{included}]`"
    if isinstance(module, Leaf) and module.value is not None and str(module.value).strip():
        return f'write module: "{module.value}"'
    if name:
        return f"write `module: {name}`"
    if module is None and len(entry.entries) == 1:
        ((key, item),) = entry.entries.items()
        if is_absent(item) or (isinstance(item, Table) and key not in _KNOWN):
            return f"write `module: {key}`, and its settings below `config:`"
    others = [key for key in entry.entries if isinstance(key, str) and key != "module"]
    meant = closest("module", others)
    return f"did you mean `module` by `{meant}`?" if meant else "name a module"


def _tell_other_keys(entry: Table, owner: str, report: FileReport) -> None:
    """Report keys that look as if they did something to a module, and do nothing."""
    told = mistyped_keys(entry, _KEYS, owner, report, told=_SWITCHES)
    for key, item in entry.entries.items():
        if key in _KNOWN or key in told:
            continue
        meant = _FOREIGN.get(key)
        if key in _SWITCHES:
            if to_plain(item) is not _SWITCHES[key]:
                what = f"{owner} `{key}` has no effect: the module is used all the same"
                report.warn("module-key", what, item, _LEAVE_OUT)
        elif meant and (meant == _ADDRESS or is_absent(entry.get(meant))):
            fix = meant if meant == _ADDRESS else f"did you mean `{meant}`?"
            report.warn("module-key", f"{owner} `{key}` has no effect", item, fix)
        elif not _is_note(key, item):
            report.warn("module-key", f"{owner} `{key}` has no effect", item, _BELOW_CONFIG)


def _is_note(key: object, item: Tree) -> bool:
    """Tell whether a key is there for readers, or for a program that put it there."""
    return not isinstance(key, str) or key in _LABELS or key.startswith(("x-", "_")) or is_absent(item)


def _tell_ignored_source(entry: Table, report: FileReport) -> None:
    """Report a part of a module's address that has no effect."""
    source = entry.get("source")
    if isinstance(source, Leaf) and isinstance(source.value, str):
        tell_ignored_part(source.value, source, report)


def _check_ids(entry: Table, owner: str, report: FileReport) -> None:
    """Report ids that are no text, which tell nothing apart, and two ids for one entry."""
    for key in ("id", "instance_id"):
        tree = entry.get(key)
        if tree is not None and not is_absent(tree) and not entry.text(key):
            fix = f'write {key}: "{to_plain(tree)}"' if isinstance(tree, Leaf) else "give it one name"
            report.error("module-id", f"{owner} `{key}` should be text, got {kind_of(tree)}", tree, fix)
    names = entry.text("id"), entry.text("instance_id")
    if all(names) and names[0] != names[1]:
        what = f"{owner} has two names: bundles merge it as {names[0]!r}, sessions call it {names[1]!r}"
        report.warn("two-ids", what, entry, "keep `id` or `instance_id`")
