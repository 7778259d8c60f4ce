from __future__ import annotations

from datetime import datetime

from amplihack.bundles.foundation.bundle_states import BundleState, Renamed, SeenBundle, forget, note, relate

NOW = datetime(2026, 1, 2)


def states(*names: str) -> dict[str, BundleState]:
    return {name: BundleState(f"git+https://h/{name}@main", name) for name in names}


def test_what_a_load_has_seen_is_noted() -> None:
    known = states()
    assert note(known, SeenBundle("a", "file:///a", "1.0", "/a", is_root=False, root_name="r"), NOW) is None
    assert known["a"] == BundleState(
        "file:///a", "a", version="1.0", loaded_at=NOW, local_path="/a", is_root=False, root_name="r"
    )


def test_a_part_of_a_source_never_takes_the_place_of_its_root() -> None:
    known = states("a")
    note(
        known, SeenBundle("a", "git+https://h/a@main#subdirectory=behaviors/a.yaml", "9", "/c/behaviors"), NOW
    )
    assert (known["a"].uri, known["a"].version) == ("git+https://h/a@main", None)


def test_a_name_that_leads_elsewhere_now_is_told() -> None:
    known = states()
    note(known, SeenBundle("a", "file:///one", "1", "/one"), NOW)
    assert note(known, SeenBundle("a", "file:///two", "1", "/two"), NOW) == Renamed(
        "a", "file:///one", "file:///two"
    )
    assert note(known, SeenBundle("a", "file:///two/bundle.md", "1", "/two"), NOW) is None


def test_relations_are_kept_up_on_both_sides() -> None:
    known = states("a", "b", "c")
    assert relate(known, "a", ["b", "b", "nobody", "a"]) == {"a", "b"}
    assert (known["a"].includes, known["b"].included_by) == (["b"], ["a"])
    assert relate(known, "a", ["c"]) == {"a", "b", "c"}
    assert (known["b"].included_by, known["c"].included_by) == ([], ["a"])
    assert relate(known, "nobody", ["a"]) == set()
    assert forget(known, "c") is True
    assert known["a"].includes == []
    assert forget(known, "c") is False
