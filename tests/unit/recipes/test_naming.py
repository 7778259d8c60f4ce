from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplihack.recipes.naming import (
    AgentReference,
    ByName,
    ByPath,
    InBundle,
    InvalidReference,
    agent_candidates,
    agent_reference_of,
    parse_agent_reference,
    recipe_reference,
    unsafe_name,
)


@pytest.mark.parametrize("name", ["", ".", ".hidden", "a/b", "a\\b", "a\0b", "a..b", "../a", "/etc/passwd"])
def test_unsafe_names_have_a_reason(name: str) -> None:
    assert unsafe_name(name)


@pytest.mark.parametrize("name", ["build", "my recipe", "v1.2", "größe", "a.b-c_d"])
def test_other_names_are_safe(name: str) -> None:
    assert unsafe_name(name) is None


def test_a_word_is_looked_up_by_name() -> None:
    assert recipe_reference("smart-classify_2") == ByName("smart-classify_2")


@pytest.mark.parametrize(
    ("text", "candidates", "searchable"),
    [
        ("child.yaml", ("child.yaml",), True),
        ("child.yml", ("child.yml",), True),
        ("testing/chain", ("testing/chain.yaml", "testing/chain.yml"), True),
        ("./child", ("./child.yaml", "./child.yml"), False),
        ("../shared/child.yaml", ("../shared/child.yaml",), False),
        ("/srv/child.yaml", ("/srv/child.yaml",), False),
        ("a//b", ("a//b.yaml", "a//b.yml"), False),
    ],
)
def test_a_slash_or_a_suffix_makes_a_path(text: str, candidates: tuple[str, ...], searchable: bool) -> None:
    assert recipe_reference(text) == ByPath(candidates, searchable)


def test_an_at_sign_names_a_file_of_a_bundle() -> None:
    assert recipe_reference("@recipes:examples/a.yaml") == InBundle("recipes", "examples/a.yaml")


@pytest.mark.parametrize("text", ["", "two words", "a.b", "..", "a\0b", "a\\b", "sch\nlecht", "a/b\0"])
def test_other_texts_name_no_recipe(text: str) -> None:
    with pytest.raises(InvalidReference) as caught:
        recipe_reference(text)
    assert caught.value.fix
    assert caught.value.what.isprintable()


def test_an_agent_reference_has_two_or_three_parts() -> None:
    assert parse_agent_reference("amplihack:builder") == AgentReference("amplihack", "builder")
    three = parse_agent_reference("amplihack:core:builder")
    assert three == AgentReference("amplihack", "builder", "core")
    assert str(three) == "amplihack:core:builder"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("builder", "Invalid agent reference: Agent reference must be in 'namespace:name' format"),
        ("", "Invalid agent reference: Agent reference must be in 'namespace:name' format"),
        ("a:../b", "Invalid agent reference: Invalid agent reference segment '../b'"),
        ("a:", "Invalid agent reference: Invalid agent reference segment ''"),
        ("a:b\n", "Invalid agent reference: Invalid agent reference segment 'b\\n'"),
        ("a:b:c:d", "Invalid agent reference: Agent reference must be in 'namespace:name' format"),
        ("a:b:c:d/e", "Invalid agent reference: Invalid agent reference segment 'd/e'"),
        ("a:größe", "Invalid agent reference: Invalid agent reference segment 'größe'"),
    ],
)
def test_an_invalid_agent_reference_says_which_part_is_wrong(text: str, message: str) -> None:
    with pytest.raises(InvalidReference) as caught:
        parse_agent_reference(text)
    assert caught.value.what.startswith(message)
    assert caught.value.exit_code == 2


def test_a_long_reference_is_shortened_in_the_message() -> None:
    with pytest.raises(InvalidReference) as caught:
        parse_agent_reference("x" * 10_000)
    assert len(caught.value.what) < 250


def test_the_places_of_an_agent_are_tried_in_order() -> None:
    assert agent_candidates(AgentReference("ns", "x", "cat")) == (
        "ns/cat/x.md",
        "cat/x.md",
        "ns/core/x.md",
        "ns/specialized/x.md",
        "core/x.md",
        "specialized/x.md",
        "ns/x.md",
        "x.md",
    )
    assert agent_candidates(AgentReference("ns", "x"))[0] == "ns/core/x.md"


@pytest.mark.parametrize(
    ("path", "reference"),
    [
        ("x.md", "amplihack:x"),
        ("core/x.md", "amplihack:x"),
        ("ns/core/x.md", "ns:x"),
        ("ns/x.md", "ns:x"),
        ("ns/cat/x.md", "ns:cat:x"),
        ("a/b/c/x.md", "None"),
        ("a b/x.md", "None"),
        ("x.txt", "None"),
    ],
)
def test_a_file_has_the_reference_that_leads_to_it(path: str, reference: str) -> None:
    assert str(agent_reference_of(path)) == reference


_word = st.from_regex(r"[A-Za-z0-9_-]{1,8}", fullmatch=True)


@given(st.lists(_word, min_size=1, max_size=3))
def test_the_reference_of_a_file_always_leads_back_to_it(segments: list[str]) -> None:
    path = "/".join(segments) + ".md"
    reference = agent_reference_of(path)
    assert reference is not None
    assert path in agent_candidates(reference)
    assert parse_agent_reference(str(reference)) == reference


@given(st.text())
def test_any_text_is_a_reference_or_an_error_of_ours(text: str) -> None:
    for parse in (recipe_reference, parse_agent_reference):
        try:
            parse(text)
        except InvalidReference as error:
            assert error.what
