"""What the app adds to a bundle: settings of several scopes, merged and laid over it by module.

Settings are trees like bundles, so a value in the plan still knows which settings file it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from amplihack.bundles.compose import compose
from amplihack.bundles.errors import BundleLoadError, Subject
from amplihack.bundles.merge import merge
from amplihack.bundles.model import SECTIONS, Bundle
from amplihack.bundles.reading import Report, unknown_keys
from amplihack.bundles.sections import modules
from amplihack.bundles.tree import Items, Leaf, Origin, Removed, Table, Tree, from_node
from amplihack.bundles.uris import split_namespace, without_fragment
from amplihack.documents import Mapping, read_document
from amplihack.errors import DocumentError, Problem

PATH_LISTS = frozenset({"allowed_write_paths", "allowed_read_paths", "denied_write_paths"})
KEYS = ("bundle", "providers", "modules", "overrides", "sources", "routing", "config", "configurator")


@dataclass(frozen=True, slots=True)
class Settings:
    """One scope, or several merged: module entries by id, everything else as it was written."""

    providers: Table = field(default_factory=Table)
    tools: Table = field(default_factory=Table)
    hooks: Table = field(default_factory=Table)
    rest: Table = field(default_factory=Table)  # bundle, overrides, sources, routing, config, …
    problems: tuple[Problem, ...] = ()

    def at(self, *path: str) -> Table:
        """The mapping at a path, or an empty one."""
        table = self.rest
        for key in path:
            found = table.get(key)
            table = found if isinstance(found, Table) else Table()
        return table


def decode_settings(text: str | bytes, file: str, *, scope: str = "settings") -> Settings:
    """The settings in a YAML file. Raises BundleLoadError, with the place, when it is malformed."""
    content = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    if not content.strip():
        return Settings()
    try:
        document = read_document(text, file, kind="Settings file")
    except DocumentError as error:
        raise BundleLoadError(
            error.what, where=error.where, fix=error.fix, subject=Subject(path=file)
        ) from error
    if not isinstance(document.root, Mapping):
        raise BundleLoadError("settings should be a mapping", where=document.root.where)
    report = Report(scope, document.source.lines, list(document.problems))
    tree = from_node(document.root, Origin(scope, file))
    return settings_of(tree if isinstance(tree, Table) else Table(), report)


def settings_of(root: Table, report: Report) -> Settings:
    """Settings from a tree; providers may stand in three places."""
    unknown_keys(root, KEYS, f"{report.owner}:", report)
    listed = root.get("modules")
    by_kind = listed if isinstance(listed, Table) else Table()
    config = root.get("config")
    aliased = config.get("providers") if isinstance(config, Table) else None

    def read(tree: Tree | None, name: str) -> Table:
        return modules(tree, name, report, base=None)

    providers = [
        read(tree, "providers") for tree in (aliased, by_kind.get("providers"), root.get("providers"))
    ]
    rest = {key: item for key, item in root.entries.items() if key not in ("providers", "modules")}
    if isinstance(config, Table):
        rest["config"] = replace(
            config, entries={k: v for k, v in config.entries.items() if k != "providers"}
        )
    return Settings(
        providers=lay_modules(providers),
        tools=read(by_kind.get("tools"), "tools"),
        hooks=read(by_kind.get("hooks"), "hooks"),
        rest=replace(root, entries=rest),
        problems=report.in_file_order(),
    )


def merge_settings(scopes: Sequence[Settings]) -> Settings:
    """Scopes from the widest to the narrowest, narrower ones on top."""
    rest: Tree = Table()
    for scope in scopes:
        rest = lay(rest, scope.rest)
    return Settings(
        providers=lay_modules([scope.providers for scope in scopes]),
        tools=lay_modules([scope.tools for scope in scopes]),
        hooks=lay_modules([scope.hooks for scope in scopes]),
        rest=_rest(rest),
        problems=tuple(problem for scope in scopes for problem in scope.problems),
    )


def _rest(tree: Tree) -> Table:
    settled = _settled_keys(tree)
    return settled if isinstance(settled, Table) else Table()


def lay(parent: Tree, child: Tree, key: str = "") -> Tree:
    """Settings over something: mappings merge, path lists unite, `key+` appends, any other list replaces."""
    if isinstance(parent, Table) and isinstance(child, Table) and not child.fresh:
        entries = dict(parent.entries)
        for name, item in child.entries.items():
            _enter(entries, name, item)
        return replace(parent, entries=entries)
    if isinstance(parent, Items) and isinstance(child, Items) and key not in PATH_LISTS:
        return merge(parent, replace(child, fresh=True))
    return merge(parent, child)


def _enter(entries: dict[str, Tree], name: str, item: Tree) -> None:
    """An addition with nothing to add to waits as it is, for something that is laid under it later."""
    if name.endswith("+") and isinstance(item, Items):
        target = name[:-1] if name[:-1] in entries else name
        entries[target] = merge(entries[target], item) if target in entries else item
    else:
        entries.pop(f"{name}+", None)
        entries[name] = lay(entries[name], item, name) if name in entries else item


def _settled_keys(tree: Tree) -> Tree:
    """An addition that found nothing to add to is just a list."""
    if not isinstance(tree, Table):
        return tree
    entries = {
        key[:-1] if key.endswith("+") and isinstance(item, Items) else key: _settled_keys(item)
        for key, item in tree.entries.items()
    }
    return replace(tree, entries=entries)


def lay_modules(tables: Iterable[Table]) -> Table:
    """Module entries by id, later ones laid over earlier ones, new ones at the end."""
    entries: dict[str, Tree] = {}
    for table in tables:
        for key, item in table.entries.items():
            entries[key] = lay(entries[key], item) if key in entries else item
    return Table(entries)


def apply_settings(bundle: Bundle, settings: Settings) -> Bundle:
    """The bundle with the settings laid over its modules, those of its agents and its session included.

    A source is taken from a settings entry, else from `overrides`, else from `sources.modules`, else it
    stays. Entries for modules that the bundle does not have are added.
    """
    sources, overrides = settings.at("sources", "modules"), settings.at("overrides")

    def settled(entry: Tree, said: Tree | None = None) -> Tree:
        return _settle(entry, said, sources, overrides)

    laid = {
        section: _section(bundle.modules(section), getattr(settings, section), settled)
        for section in SECTIONS
    }
    return replace(
        bundle,
        providers=laid["providers"],
        tools=laid["tools"],
        hooks=laid["hooks"],
        session=_session(bundle.session, settled),
        agents=replace(bundle.agents, entries=dict(_agents(bundle.agents, settled))),
    )


def _section(table: Table, said: Table, settled: Callable[[Tree, Tree | None], Tree]) -> Table:
    entries: dict[str, Tree] = {}
    for key, entry in table.entries.items():
        entries[key] = settled(entry, said.entries.get(key))
    for key, entry in said.entries.items():
        if key not in entries:
            bare = Table({}, entry.origin, entry.line, entry.column)
            named = {
                name: item
                for name in ("module", "id")
                if isinstance(entry, Table) and (item := entry.get(name))
            }
            entries[key] = settled(replace(bare, entries=named), entry)
    return replace(table, entries=entries)


def _settle(entry: Tree, said: Tree | None, sources: Table, overrides: Table) -> Tree:
    """One module entry with its source, its settings and its overriding config, in that order."""
    if isinstance(said, Removed):
        return merge(entry, said)
    if not isinstance(entry, Table):
        return lay(entry, said) if said is not None else entry
    names = [name for name in (entry.text("module"), entry.text("id")) if name]
    laid: Tree = entry
    own = [override for name in names if isinstance(override := overrides.get(name), Table)]
    for source in (*(sources.get(name) for name in names), *(each.get("source") for each in own)):
        if source is not None:
            laid = lay(laid, Table({"source": source}))
    if said is not None:
        laid = lay(laid, said)
    for each in own:
        config = each.get("config")
        if config is not None:
            laid = lay(laid, Table({"config": config}, config.origin, config.line, config.column))
    return laid if laid is entry else _settled_keys(laid)


def _session(table: Table, settled: Callable[[Tree], Tree]) -> Table:
    entries = dict(table.entries)
    for role in ("orchestrator", "context"):
        part = table.get(role)
        if isinstance(part, Leaf) and isinstance(part.value, str):
            part = Table({"module": part}, part.origin, part.line, part.column)
            if settled(part) is part:
                continue
        if isinstance(part, Table):
            entries[role] = settled(part)
    return replace(table, entries=entries)


def _agents(agents: Table, settled: Callable[[Tree], Tree]) -> Iterator[tuple[str, Tree]]:
    for name, agent in agents.entries.items():
        if not isinstance(agent, Table):
            yield name, agent
            continue
        entries = dict(agent.entries)
        for section in SECTIONS:
            listed = entries.get(section)
            if isinstance(listed, Items):
                entries[section] = replace(listed, items=[settled(item) for item in listed.items], known=None)
        session = entries.get("session")
        if isinstance(session, Table):
            entries["session"] = _session(session, settled)
        yield name, replace(agent, entries=entries)


def redirect_include(source: str, settings: Settings) -> str | None:
    """Another address for an include whose address contains a configured text; the fragment stays."""
    if split_namespace(source) is not None:
        return None
    for part, item in settings.at("sources", "bundles"):
        if part in source and isinstance(item, Leaf) and isinstance(item.value, str):
            fragment = source[len(without_fragment(source)) :]
            return item.value if "#" in item.value else item.value + fragment
    return None


def compose_policies(bundle: Bundle, policies: Sequence[Bundle], *, root_session: bool) -> Bundle:
    """App-wide behaviours on top of a bundle, for root sessions only; who the bundle is does not change."""
    if not root_session or not policies:
        return bundle
    result = compose(bundle, *policies, instruction="keep")
    return replace(
        result,
        name=bundle.name,
        version=bundle.version,
        description=bundle.description,
        instruction=bundle.instruction,
        base_path=bundle.base_path,
        lineage=replace(bundle.lineage, parts=(*bundle.lineage.parts, *(each.lineage for each in policies))),
    )
