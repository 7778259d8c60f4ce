"""What holds for every section of the table, the next one included."""

from __future__ import annotations

import pytest
from tests.unit.bundles.world import bundle

from amplihack.bundles.completion import rows
from amplihack.bundles.compose import compose
from amplihack.bundles.decode import decode_bundle
from amplihack.bundles.foundation.plain_bundle import FIELDS, plain_extra
from amplihack.bundles.model import Bundle
from amplihack.bundles.mount_plan import for_kernel, mount_plan
from amplihack.bundles.provenance import items_of, why
from amplihack.bundles.sections.table import MODULE_SECTIONS, SECTIONS, SESSION_LAST, Section
from amplihack.bundles.validate import validate

EXAMPLES = {
    "session": "{orchestrator: loop}",
    "agents": "{one: {description: d}}",
    "context": "{one: one.md}",
    **dict.fromkeys(MODULE_SECTIONS, "[{module: one}]"),
}
each_section = pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)


def example(section: Section) -> Bundle:
    """A bundle with something in one section; any mapping will do for one that is not special."""
    return bundle(f"bundle: {{name: a}}\n{section.name}: {EXAMPLES.get(section.name, '{one: 1}')}\n")


@each_section
def test_a_section_is_known_kept_and_explained(section: Section) -> None:
    found = example(section)
    assert list(found.sections) == [section.name]
    assert not found.extra.entries
    assert validate(found) == ()
    (used, *_) = why(found, section.name)
    assert (used.bundle, used.line) == ("a", 2)


@each_section
def test_an_empty_bundle_changes_no_section(section: Section) -> None:
    found = example(section)
    for whole in (compose(found, Bundle()), compose(Bundle(), found)):
        assert mount_plan(whole) == mount_plan(found)
        assert list(whole.sections) == [section.name]


@each_section
def test_a_section_that_is_emptied_is_gone(section: Section) -> None:
    decoded = decode_bundle(f"{section.name}:\n", "/w/bundle.yaml")
    assert (decoded.problems, dict(decoded.bundle.sections)) == ((), {})


@each_section
def test_a_section_is_in_the_plan_if_its_row_says_so(section: Section) -> None:
    plan = mount_plan(example(section))
    assert (section.name in plan) == (section.plan is not None)
    assert (section.name in for_kernel(plan)) == section.for_kernel


@each_section
def test_entries_have_the_names_that_their_row_gives_them(section: Section) -> None:
    names = [name for name, _ in items_of(example(section))]
    assert len(names) == (1 if section.item or section.items else 0)
    assert {row.section for row in rows(example(section), {})} <= {section.name}


@each_section
def test_the_old_api_holds_every_section_somewhere(section: Section) -> None:
    has_field = section.name in (*FIELDS, "context")
    assert has_field != bool(plain_extra(example(section)).get(section.name))


def test_the_session_is_looked_into_last() -> None:
    assert sorted(each.name for each in SESSION_LAST) == sorted(each.name for each in SECTIONS)
    assert SESSION_LAST[-1].name == "session"
