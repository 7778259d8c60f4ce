"""Make bundles from plain data that a program holds, and compare them with it.

Data that came from a bundle and was not changed gives the same trees again, with all their lines and origins.
What has changed was written by the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from amplihack.bundles.merge import malformed, merge, module_key
from amplihack.bundles.model import NO_ENTRIES, Bundle, Include, Lineage
from amplihack.bundles.sections.agents import is_bare
from amplihack.bundles.sections.table import BY_NAME, SECTIONS, Section
from amplihack.bundles.tree import Leaf, Origin, Pending, Removed, Table, Tree, from_value, table_of, to_plain
from amplihack.errors import Problem
from amplihack.records import Record, field, replace

FIELDS = ("session", "providers", "tools", "hooks", "spawn", "agents")  # of the old API, besides context
_OTHERS = tuple(section for section in SECTIONS if section.name not in (*FIELDS, "context"))


class Whole(Protocol):
    """A bundle, be it composed or not yet."""

    @property
    def includes(self) -> tuple[Include, ...]: ...

    @property
    def extra(self) -> Table: ...

    def section(self, name: str, /) -> Table: ...


class PlainBundle(Record):
    """A bundle as plain data. `known` is the bundle that the data came from, if any.

    Nobody has looked at fields that are None and at missing sections: they are as in `known`.
    """

    name: str
    version: str
    description: str
    namespace_root: str | None
    instruction: str | None
    base_path: str | None
    includes: Sequence[Any] | None = None
    sections: Mapping[str, Any] = field(default_factory=dict)  # some of `FIELDS`
    extra: Any = None  # sections that the old API has no field for, and what is no section
    context: Mapping[str, str] | None = None
    pending: Mapping[str, str] | None = None
    source_base_paths: Mapping[str, str] | None = None
    known: Bundle = field(default_factory=Bundle)


def bundle_of(plain: PlainBundle, *, tolerant: bool = False) -> Bundle:
    """Make the bundle that the data describes. Raises TypeError for a module entry that is no mapping.

    `tolerant` keeps such entries, so that a validator can report them.
    """
    known, origin = plain.known, Origin(plain.name)
    values, extra = dict(plain.sections), known.extra
    if plain.extra is not None:
        rest = dict(plain.extra) if isinstance(plain.extra, dict) else {}
        values.update({section.name: rest.pop(section.name, {}) for section in _OTHERS})
        extra = extra if is_same(rest, to_plain(extra)) else table_of(rest, origin)
    tables = dict(known.sections)
    for name, value in values.items():
        if name in tables or not _is_empty(value):
            tables[name] = _table(BY_NAME[name], value, known.section(name), origin, tolerant)
    tables["context"] = _context(plain, origin)
    return Bundle(
        name=plain.name,
        version=plain.version,
        description=plain.description,
        includes=_includes(plain.includes, known),
        namespace_root=plain.namespace_root,
        sections={name: table for name, table in tables.items() if table.entries or table.fresh},
        instruction=_instruction(plain, origin),
        base_path=plain.base_path,
        source_base_paths=known.source_base_paths
        if plain.source_base_paths is None
        else dict(plain.source_base_paths),
        extra=extra,
        lineage=_lineage(plain),
        reach=known.reach,
    )


def _is_empty(value: object) -> bool:
    """Tell whether a field holds an empty list or mapping, as most do."""
    return type(value) in (list, dict) and not value


def plain_section(bundle: Bundle, name: str) -> Any:
    """Return new plain data for a field of the old API that holds a section."""
    return BY_NAME[name].plain(bundle.section(name))


def plain_extra(bundle: Whole) -> dict[str, Any]:
    """Return new plain data for what the old API has no field for."""
    held = {
        section.name: section.plain(table) for section in _OTHERS if (table := bundle.section(section.name))
    }
    return {**to_plain(bundle.extra), **held}


def is_same(one: object, other: object) -> bool:
    """Tell whether two values are equal with the same types at every depth: 1 is neither True nor 1.0."""
    return one == other and repr(one) == repr(other)


def module_table(listed: Sequence[Any], origin: Origin, *, tolerant: bool = False) -> Table:
    """Read module entries by id. Entries with the same id are merged; those without an id are skipped."""
    entries: dict[str, Tree] = {}
    for index, entry in enumerate(listed if isinstance(listed, list | tuple) else ()):
        if not isinstance(entry, dict):
            if not tolerant:
                raise malformed(index, entry)
            entries[f"#{index}"] = Leaf(entry, origin)
            continue
        key = module_key(entry) or (f"#{index}" if tolerant else None)
        if key is not None:
            tree: Tree = from_value(entry, origin, operators=True)
            tree = Removed(origin) if entry.get("remove") is True else tree
            entries[key] = merge(entries[key], tree) if key in entries else tree
    return Table(entries, origin)


def _table(section: Section, value: Any, known: Table, origin: Origin, tolerant: bool) -> Table:
    """Return the known section if the data still says the same, otherwise one made of the data."""
    if not section.lists_modules and not isinstance(value, dict):
        return Table()
    if known and is_same(value, section.plain(known)):
        return known
    if section.lists_modules:
        return module_table(value, origin, tolerant=tolerant)
    return _agents(value, known, origin) if section.name == "agents" else table_of(value, origin)


def _agents(value: Mapping[str, Any], known: Table, origin: Origin) -> Table:
    """Replace changed definitions as a whole, and keep unchanged ones."""
    entries: dict[str, Tree] = {}
    for name, agent in value.items():
        before = known.get(name)
        if before is not None and is_same(agent, to_plain(before)):
            entries[name] = before
            continue
        tree = from_value(agent, origin)
        tree = _with_known_text(tree, before) if isinstance(tree, Table) else tree
        is_fuller = isinstance(tree, Table) and not is_bare(tree)
        entries[name] = replace(tree, fresh=True) if is_fuller and isinstance(tree, Table) else tree
    return Table(entries, origin)


def _with_known_text(agent: Table, before: Tree | None) -> Table:
    text, known = agent.get("instruction"), before.get("instruction") if isinstance(before, Table) else None
    if not isinstance(text, Leaf) or not isinstance(known, Leaf):
        return agent
    return replace(agent, entries={**agent.entries, "instruction": _same_text(text, known)})


def _same_text(text: Leaf, known: Leaf | None) -> Leaf:
    """Return a text with the place of the known one that it holds: it may read no more than that may."""
    if known is None or not known.value or str(known.value) not in str(text.value):
        return text
    return replace(text, origin=known.origin, line=known.line)


def _includes(listed: Sequence[Any] | None, known: Bundle) -> tuple[Include, ...]:
    if listed is None or list(listed) == plain_includes(known):
        return known.includes
    found: list[Include] = []
    for each in listed:
        source = each.get("bundle") if isinstance(each, dict) else each
        if isinstance(source, str) and source:
            found.append(Include(source, mapping=isinstance(each, dict)))
    return tuple(found)


def plain_includes(bundle: Whole) -> list[str | dict[str, Any]]:
    """Return the include directives as they were written."""
    return [{"bundle": each.source} if each.mapping else each.source for each in bundle.includes]


def _context(plain: PlainBundle, origin: Origin) -> Table:
    known = plain.known
    if not plain.context and not plain.pending and "context" not in known.sections:
        return NO_ENTRIES
    if plain.context is None and plain.pending is None:
        return known.context
    paths = known.resolved_context if plain.context is None else plain.context
    pending = known.pending_context if plain.pending is None else plain.pending
    if paths == known.resolved_context and pending == known.pending_context:
        return known.context
    values: dict[str, Any] = {**paths, **{name: Pending(each) for name, each in pending.items()}}
    entries: dict[str, Tree] = {}
    for name, value in values.items():
        before = known.context.get(name)
        same = isinstance(before, Leaf) and before.value == value
        entries[name] = before if before is not None and same else Leaf(value, origin)
    return Table(entries, origin)


def _instruction(plain: PlainBundle, origin: Origin) -> Leaf | None:
    if plain.instruction == plain.known.system_instruction:
        return plain.known.instruction
    if not plain.instruction:
        return None
    return _same_text(Leaf(plain.instruction, origin), plain.known.instruction)


def _lineage(plain: PlainBundle) -> Lineage:
    known = plain.known.lineage
    if known.bundle == plain.name and (known.file or known.parts):
        return known
    return Lineage(plain.name, plain.version, parts=(known,) if known.file or known.parts else ())


_SHAPES: Mapping[str, tuple[type, str]] = {
    "name": (str, "text"),
    "includes": (Sequence, "a list"),
    **dict.fromkeys(("context", "_pending_context", "source_base_paths", "origins"), (Mapping, "a mapping")),
}
_NAMED = ("agents", "context", "_pending_context", "source_base_paths")


def field_problems(fields: Mapping[str, Any]) -> dict[str, Problem]:
    """Return, by their names, the fields of the old API that cannot be read at all."""
    found: dict[str, Problem] = {}
    for name, (kind, words) in _SHAPES.items():
        if name in fields and not isinstance(fields[name], kind):
            what = f"Bundle.{name} should be {words}, got {type(fields[name]).__name__}: {fields[name]!r}"
            found[name] = Problem(what, fix=f"give {words}", code="wrong-type")
    for name in _NAMED:
        value = fields.get(name)
        odd = [key for key in value if not isinstance(key, str)] if isinstance(value, Mapping) else []
        if odd and name not in found:
            what = f"Bundle.{name}: the name {odd[0]!r} should be text, got {type(odd[0]).__name__}"
            found[name] = Problem(what, fix=f'write "{odd[0]}" in quotes', code="wrong-type")
    return found


def shape_problems(sections: Mapping[str, Any], extra: object) -> Iterator[Problem]:
    """Report plain sections that are too wrong to be looked into."""
    lists = {section.name for section in SECTIONS if section.lists_modules}
    for name, value in (*sections.items(), ("extra", extra)):
        wanted = list if name in lists else dict
        if not isinstance(value, wanted):
            what = f"{name} should be a {wanted.__name__}, got {type(value).__name__}: {value!r}"
            yield Problem(what, code="wrong-type")
    yield from _two_defaults(sections["providers"])


def _two_defaults(providers: object) -> Iterator[Problem]:
    """Report a provider that is listed more than once without an id."""
    entries = [each for each in providers if isinstance(each, dict)] if isinstance(providers, list) else []
    names = [each.get("module") for each in entries if not each.get("id") and not each.get("instance_id")]
    for name in dict.fromkeys(name for name in names if name and names.count(name) > 1):
        what = f"providers: {name} is listed {names.count(name)} times without an id"
        yield Problem(what, fix="give each entry an `id:` of its own", code="two-defaults")
