"""What is composed when somebody looks is what would have been composed at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from hypothesis import given
from hypothesis import strategies as st
from tests.property.test_bundles import data

from amplihack.bundles.compose import compose
from amplihack.bundles.decode import decode_data
from amplihack.bundles.foundation.late_bundle import Claims, LateBundle
from amplihack.bundles.foundation.origin_claims import Layer, compose_claims
from amplihack.bundles.merge import merge_tables, merged_plain
from amplihack.bundles.model import Bundle
from amplihack.bundles.mount_plan import mount_plan, plan_of
from amplihack.bundles.provenance import Claim
from amplihack.bundles.sections.table import SECTIONS
from amplihack.bundles.tree import Items, Leaf, Table, Tree, to_plain
from amplihack.records import field_names, replace

Mode = Literal["replace", "keep", "append"]
Ways = Sequence[tuple[int, Mode]]  # for each step, how many bundles are laid on, and what a system text does

texts = st.none() | st.sampled_from(["Work.", "Rest."])
places = st.none() | st.sampled_from(["/w/a", "/w/b"])


@st.composite
def bundles(draw: st.DrawFn) -> Bundle:
    raw, text = draw(data), draw(texts)
    number = draw(st.integers(1, 99))
    bundle = decode_data(raw, base_path=draw(places), file=f"/w/{number}.yaml").bundle
    return replace(bundle, instruction=Leaf(text, line=number)) if text else bundle


rows = st.lists(bundles(), min_size=1, max_size=7)
ways: st.SearchStrategy[Ways] = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["replace", "keep", "append"])), min_size=1, max_size=4
)


def at_once(row: Sequence[Bundle], ways: Ways) -> Bundle:
    whole, at = row[0], 1
    for count, mode in ways:
        whole, at = compose(whole, *row[at : at + count], instruction=mode), at + count
    return whole


def late(row: Sequence[Bundle], ways: Ways, looks: Sequence[bool] = ()) -> LateBundle:
    """Compose in the same steps; after those that `looks` names somebody looks."""
    whole: Bundle | LateBundle = row[0]
    at = 1
    for number, (count, mode) in enumerate(ways):
        known: LateBundle | Claims = whole if isinstance(whole, LateBundle) else {}
        whole = LateBundle([(whole, known), *((each, {}) for each in row[at : at + count])], mode)
        at += count
        if number < len(looks) and looks[number]:
            whole.core()
    assert isinstance(whole, LateBundle)
    return whole


def remembered(tree: Tree | None) -> Any:
    """Return a tree with all that comparing it leaves out."""
    if tree is None:
        return None
    past = [remembered(each) for each in tree.over]
    own = (type(tree).__name__, tree.origin, tree.line, tree.column, past)
    if isinstance(tree, Table):
        return (*own, tree.fresh, [(key, remembered(item)) for key, item in tree.entries.items()])
    if isinstance(tree, Items):
        return (*own, tree.fresh, [remembered(item) for item in tree.items])
    return (*own, tree.value if isinstance(tree, Leaf) else None)


@given(rows, ways, st.lists(st.booleans(), max_size=4))
def test_the_composed_bundle_is_the_same(row: list[Bundle], ways: Ways, looks: list[bool]) -> None:
    expected, found = at_once(row, ways), late(row, ways, looks).core()
    for name in field_names(Bundle):
        assert getattr(found, name) == getattr(expected, name), name
    for name in expected.sections:
        assert remembered(found.sections[name]) == remembered(expected.sections[name])
    assert remembered(found.instruction) == remembered(expected.instruction)
    assert list(found.source_base_paths) == list(expected.source_base_paths)


@given(rows, ways, st.lists(st.booleans(), max_size=4))
def test_every_field_is_the_same_without_composing_the_rest(
    row: list[Bundle], ways: Ways, looks: list[bool]
) -> None:
    expected, found = at_once(row, ways), late(row, ways, looks)
    for section in SECTIONS:
        plain, eager = found.plain(section.name), section.plain(expected.section(section.name))
        assert repr(plain) == repr(eager)  # types and order too
    for name in ("name", "shown_version", "description", "base_path", "namespace_root", "system_instruction"):
        assert getattr(found, name) == getattr(expected, name), name
    for name in ("resolved_context", "pending_context", "source_base_paths", "includes"):
        assert repr(getattr(found, name)) == repr(getattr(expected, name)), name
    assert to_plain(found.extra) == to_plain(expected.extra)
    assert repr(plan_of(found.plain_sections())) == repr(mount_plan(expected))


@given(rows, ways, st.lists(st.booleans(), max_size=4))
def test_the_claims_are_the_same(row: list[Bundle], ways: Ways, looks: list[bool]) -> None:
    whole, known, at = row[0], dict[str, list[Claim]](), 1
    layer = Layer(whole, known)
    for count, mode in ways:
        others = row[at : at + count]
        made = compose(whole, *others, instruction=mode)
        layer = Layer(made, compose_claims([layer, *(Layer(each, {}) for each in others)], made))
        whole, at = made, at + count
    assert late(row, ways, looks).claims() == layer.claims


@given(st.lists(bundles(), min_size=2, max_size=5))
def test_plain_data_of_tables_is_that_of_the_merged_table(row: list[Bundle]) -> None:
    for section in SECTIONS:
        tables = [each.section(section.name) for each in row]
        assert repr(merged_plain(tables)) == repr(to_plain(merge_tables(tables)))
