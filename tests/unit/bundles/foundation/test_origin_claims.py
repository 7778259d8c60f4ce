from __future__ import annotations

from tests.unit.bundles.world import bundle

from amplihack.bundles.compose import compose
from amplihack.bundles.foundation.origin_claims import ComposedClaims, Layer, compose_claims
from amplihack.bundles.merge import merge_tables
from amplihack.bundles.model import Bundle
from amplihack.bundles.provenance import Claim
from amplihack.records import replace


def layer(name: str, tool: str, claims: dict[str, list[Claim]] | None = None) -> Layer:
    return Layer(bundle(f"bundle: {{name: '{name}'}}\ntools: [{{module: {tool}}}]\n"), claims or {})


def core(layer: Layer) -> Bundle:
    assert isinstance(layer.bundle, Bundle)
    return layer.bundle


def claims_of(layers: list[Layer]) -> ComposedClaims:
    return compose_claims(layers, compose(*map(core, layers)))


def test_the_first_to_bring_an_item_in_keeps_it() -> None:
    claims = claims_of([layer("a", "x"), layer("b", "x"), layer("c", "y")])
    assert claims == {"tool:x": [Claim("a", None)], "tool:y": [Claim("c", None)]}


def test_what_a_bundle_knows_of_its_items_is_told_as_having_come_through_it() -> None:
    known = {"tool:x": [Claim("inner", None), Claim("b", "inner")]}
    assert claims_of([layer("a", "z"), layer("b", "x", known)])["tool:x"] == [
        Claim("b", None),
        Claim("inner", "b"),
    ]
    assert claims_of([layer("b", "x", known), layer("a", "z")])["tool:x"] == known["tool:x"]


def test_who_has_no_name_claims_nothing() -> None:
    assert claims_of([layer("", "x"), layer("", "y", {"tool:y": [Claim("far", None)]})]) == {
        "tool:y": [Claim("far", None)]
    }


def test_context_is_claimed_under_the_name_that_composing_gives_it() -> None:
    own = bundle("bundle: {name: a}\ncontext: {include: [guide.md]}\n")
    claims = claims_of([Layer(own, {"context:guide.md": [Claim("a", None)]})])
    assert claims == {"context:a:guide.md": [Claim("a", None)]}


def test_each_step_of_composing_one_by_one_adds_its_own_claims() -> None:
    layers = [layer("a", "x"), layer("b", "y"), layer("c", "x"), layer("d", "z")]
    whole = layers[0]
    for each in layers[1:]:
        made = compose(core(whole), core(each))
        whole = Layer(made, compose_claims([whole, each], made))
    assert whole.is_complete
    assert whole.claims == {
        "tool:x": [Claim("a", None)], "tool:y": [Claim("b", None)], "tool:z": [Claim("d", None)],
    }  # fmt: skip


def test_a_bundle_that_was_changed_since_claims_what_was_added() -> None:
    made = compose(core(layer("a", "x")), core(layer("b", "y")))
    known = compose_claims([layer("a", "x"), layer("b", "y")], made)
    more = core(layer("b", "added")).section("tools")
    changed = Layer(made.with_sections({"tools": merge_tables((made.section("tools"), more))}), known)
    assert not changed.is_complete
    assert claims_of([changed, layer("c", "z")])["tool:added"] == [Claim("b", None)]


def test_what_nobody_claims_is_claimed_by_the_first_that_has_a_name() -> None:
    first = claims_of([layer("", "x"), layer("", "y")])
    made = compose(core(layer("", "x")), core(layer("", "y")))
    assert claims_of([Layer(replace(made, name="named"), first), layer("c", "z")]) == {
        "tool:x": [Claim("named", None)], "tool:y": [Claim("named", None)], "tool:z": [Claim("c", None)],
    }  # fmt: skip
