from __future__ import annotations

from tests.unit.bundles.world import bundle

from amplihack.bundles.foundation.origin_claims import Layer, compose_claims
from amplihack.bundles.provenance import Claim


def layer(name: str, tool: str, claims: dict[str, list[Claim]] | None = None) -> Layer:
    return Layer(bundle(f"bundle: {{name: '{name}'}}\ntools: [{{module: {tool}}}]\n"), claims or {})


def test_the_first_to_bring_an_item_in_keeps_it() -> None:
    claims = compose_claims([layer("a", "x"), layer("b", "x"), layer("c", "y")])
    assert claims == {"tool:x": [Claim("a", None)], "tool:y": [Claim("c", None)]}


def test_what_a_bundle_knows_of_its_items_is_told_as_having_come_through_it() -> None:
    known = {"tool:x": [Claim("inner", None), Claim("b", "inner")]}
    assert compose_claims([layer("a", "z"), layer("b", "x", known)])["tool:x"] == [
        Claim("b", None),
        Claim("inner", "b"),
    ]
    assert compose_claims([layer("b", "x", known), layer("a", "z")])["tool:x"] == known["tool:x"]


def test_who_has_no_name_claims_nothing() -> None:
    assert compose_claims([layer("", "x"), layer("", "y", {"tool:y": [Claim("far", None)]})]) == {
        "tool:y": [Claim("far", None)]
    }


def test_context_is_claimed_under_the_name_that_composing_gives_it() -> None:
    own = bundle("bundle: {name: a}\ncontext: {include: [guide.md]}\n")
    claims = compose_claims([Layer(own, {"context:guide.md": [Claim("a", None)]})])
    assert claims == {"context:a:guide.md": [Claim("a", None)]}
