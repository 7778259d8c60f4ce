from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.bundles.world import decoded

from amplihack.bundles.compose import compose, compose_includes
from amplihack.bundles.errors import BundleLoadError
from amplihack.bundles.provenance import include_chains, why
from amplihack.bundles.record import from_record, to_record

ONE = "---\nbundle: {name: one}\nincludes: [x]\ntools:\n  - {module: t, config: {a: [1], b: 2}}\n---\nText.\n"
TWO = "bundle: {name: two}\ntools:\n  - {module: t, config: {a!: [3], b-: }}\ncontext: {include: ['n:x']}\n"


def test_a_recorded_bundle_comes_back_with_its_whole_history() -> None:
    whole = compose(decoded(ONE, "/one/bundle.md").bundle, decoded(TWO, "/two/bundle.yaml").bundle)
    back = from_record(json.loads(json.dumps(to_record(whole))))
    assert back == whole
    assert back.includes[0].where == whole.includes[0].where
    for path in ("tools", "instruction", "context"):
        assert why(back, path) == why(whole, path)
        assert why(back, path)


def test_diamonds_on_diamonds_stay_small() -> None:
    below = decoded("bundle: {name: base}\nspawn: {x: 0}\n", "/base.yaml").bundle
    for level in range(40):
        left, right, top = (
            decoded(
                f"bundle: {{name: {side}{level}}}\nspawn: {{x: {level}}}\n", f"/{side}{level}.yaml"
            ).bundle
            for side in "lrt"
        )
        below = compose_includes(top, [compose_includes(left, [below]), compose_includes(right, [below])])
    assert len(json.dumps(to_record(below))) < 100_000
    assert len(why(below, "spawn.x")) == 51
    back = from_record(to_record(below)).lineage
    assert include_chains(back) == include_chains(below.lineage)


@pytest.mark.parametrize("data", [None, [], {}, {"format": 9}, {"format": 1, "origins": [1]}, "x"])
def test_what_is_no_record_is_refused(data: Any) -> None:
    with pytest.raises(BundleLoadError):
        from_record(data)
