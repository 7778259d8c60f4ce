from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.bundle_place import plan_leaves
from tests.unit.bundles.world import World

from amplihack.bundles.compose import compose, compose_includes
from amplihack.bundles.composition import compose_order
from amplihack.bundles.context_files import resolve_context
from amplihack.bundles.decode import decode_bundle, decode_data
from amplihack.bundles.errors import BundleError
from amplihack.bundles.foundation.modes import decode_mode
from amplihack.bundles.lock import BundleLock, LockEntry, make_lock, print_lock, read_lock
from amplihack.bundles.mention_syntax import find_mentions, parse_mentions
from amplihack.bundles.mentions import Found, MentionScope, resolve
from amplihack.bundles.merge import deep_merge, merge_module_lists
from amplihack.bundles.model import Bundle
from amplihack.bundles.mount_plan import fingerprint, mount_plan
from amplihack.bundles.provenance import why
from amplihack.bundles.reach import is_within
from amplihack.bundles.roster import decode_agent
from amplihack.bundles.settings import decode_settings
from amplihack.bundles.uris import canonical, parse_uri, print_uri, shown
from amplihack.bundles.variables import expand_plan

scalars = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.0, 0.5]) | st.text("abz", max_size=3)
)
keys = st.sampled_from(["a", "b", "timeout", "paths", "a!", "b-", "paths!"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
mappings = st.dictionaries(keys, values, max_size=4)
entries = st.fixed_dictionaries(
    {"module": st.sampled_from(["tool-a", "tool-b", "tool-c"])},
    optional={
        "config": mappings,
        "source": st.sampled_from(["./x", "git+https://h/o/r"]),
        "remove": st.just(True),
    },
)
module_lists = st.lists(entries, max_size=3, unique_by=lambda entry: entry["module"])
data = st.fixed_dictionaries(
    {},
    optional={
        "bundle": st.fixed_dictionaries({"name": st.sampled_from(["one", "two", "three"])}),
        "tools": module_lists,
        "tools!": module_lists,
        "hooks": module_lists,
        "session": st.fixed_dictionaries({}, optional={"raw": st.booleans(), "metadata": mappings}),
        "spawn": mappings,
        "agents": st.dictionaries(
            st.sampled_from(["x", "y"]), st.fixed_dictionaries({"description": st.text("ab", max_size=3)})
        ),
        "context": st.just({"include": ["one:a.md", "b.md"]}),
        "exclude": st.just({"tools": ["tool-a"]}),
        "custom": mappings,
    },
)


def read(raw: dict[str, Any], file: str = "") -> Bundle:
    return decode_data(raw, base_path="/w", file=file).bundle


bundles = data.map(read)


@given(st.lists(bundles, min_size=1, max_size=4))
def test_composing_never_changes_its_inputs(parts: list[Bundle]) -> None:
    before = copy.deepcopy(parts)
    compose(*parts)
    assert parts == before


@given(bundles, bundles)
def test_a_plan_shares_nothing_with_its_bundle(one: Bundle, two: Bundle) -> None:
    whole = compose(one, two)
    first: dict[str, Any] = dict(mount_plan(whole))
    again = copy.deepcopy(first)
    _spoil(first)
    assert mount_plan(whole) == again


def _spoil(value: Any) -> None:
    children = (
        list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else []
    )
    for child in children:
        _spoil(child)
    if isinstance(value, dict | list):
        value.clear()


@given(bundles)
def test_an_empty_bundle_is_neutral(one: Bundle) -> None:
    alone = compose(one)
    for whole in (compose(one, Bundle()), compose(Bundle(), one)):
        assert mount_plan(whole) == mount_plan(alone)
        assert (whole.name, whole.context, whole.extra) == (alone.name, alone.context, alone.extra)
        assert whole.lineage == alone.lineage


@given(st.lists(bundles, min_size=2, max_size=4))
def test_the_fold_of_many_is_the_fold_by_hand(parts: list[Bundle]) -> None:
    by_hand = parts[0]
    for part in parts[1:]:
        by_hand = compose(by_hand, part)
    at_once = compose(*parts)
    assert mount_plan(at_once) == mount_plan(by_hand)
    assert fingerprint(at_once) == fingerprint(by_hand)
    assert list(at_once.context.entries) == list(by_hand.context.entries)


@given(bundles, bundles, bundles)
def test_what_is_included_composes_as_if_it_stood_in_a_row(one: Bundle, two: Bundle, own: Bundle) -> None:
    nested = compose_includes(own, [one, two])
    assert mount_plan(nested) == mount_plan(compose(one, two, own))


@given(st.lists(data, min_size=1, max_size=3))
def test_every_leaf_of_a_plan_knows_where_it_comes_from(raw: list[dict[str, Any]]) -> None:
    parts = [read(each, f"/w/{number}.yaml") for number, each in enumerate(raw)]
    whole = compose(*parts)
    for path, leaf in plan_leaves(whole):
        assert leaf.origin.file.startswith("/w/"), path
        assert why(whole, ".".join(path))


@given(mappings, mappings)
def test_a_deep_merge_keeps_every_key_and_lets_the_child_win(
    parent: dict[str, Any], child: dict[str, Any]
) -> None:
    before = copy.deepcopy((parent, child))
    merged = deep_merge(parent, child)
    assert (parent, child) == before
    assert set(merged) == {*parent, *child}
    for key, value in child.items():
        if not isinstance(value, dict | list):
            assert merged[key] is value or merged[key] == value


@given(module_lists, module_lists)
def test_merged_modules_keep_the_order_of_the_parent(parent: list[Any], child: list[Any]) -> None:
    ids = [entry["module"] for entry in merge_module_lists(parent, child)]
    wanted = [entry["module"] for entry in (*parent, *child)]
    assert ids == list(dict.fromkeys(wanted))


hosts = st.sampled_from(["h", "github.com", "git@h", "H.example"])
paths = st.from_regex(r"(/[a-z][a-z0-9.\-]{0,5}){1,3}", fullmatch=True)
refs = st.from_regex(r"[a-z0-9][a-z0-9./\-]{0,8}", fullmatch=True)
subpaths = st.from_regex(r"[a-z]{1,4}(/[a-z]{1,4}){0,2}", fullmatch=True)


@given(st.sampled_from(["git+https", "git+ssh", "zip+https", "https", "http"]), hosts, paths, refs, subpaths)
def test_an_address_is_read_into_its_parts(scheme: str, host: str, path: str, ref: str, subpath: str) -> None:
    at = f"@{ref}" if scheme.startswith("git+") else ""
    parsed = parse_uri(f"{scheme}://{host}{path}{at}#subdirectory={subpath}")
    assert (parsed.scheme, parsed.host, parsed.path, parsed.subpath) == (scheme, host, path, subpath)
    assert parsed.ref == (ref if at else "")
    assert parse_uri(print_uri(parsed)) == parsed


@given(st.text(max_size=30) | st.text("git+ht ps:/@#?&=sub.~C\\", max_size=40))
def test_printing_an_address_and_reading_it_again_changes_nothing(text: str) -> None:
    parsed = parse_uri(text)
    again = parse_uri(print_uri(parsed))
    assert print_uri(again) == print_uri(parsed)
    assert canonical(canonical(text)) == canonical(text)


@given(
    st.sampled_from(["https", "git+https", "zip+http"]), st.from_regex(r"[A-Za-z0-9]{8,12}", fullmatch=True)
)
def test_no_secret_of_an_address_is_ever_shown(scheme: str, secret: str) -> None:
    for text in (
        f"{scheme}://{secret}@h/x",
        f"{scheme}://user:{secret}@h/x",
        f"{scheme}://h/x?token={secret}",
    ):
        assert secret not in shown(text)


names = st.text("ab./~:@-_ \\", min_size=1, max_size=12)


@given(names, st.booleans())
def test_no_mention_leads_out_of_its_roots(name: str, linked: bool) -> None:
    files = dict.fromkeys(("/ns/a", "/ns/b/a.md", "/cwd/a", "/cwd/b/b", "/secret/a", "/a", "/b.md"), "x")
    links = {"/ns/b": "/secret", "/cwd/a": "/secret/a"} if linked else {}
    world = World(files, links)
    scope = MentionScope({"a": "/ns", "b": "/ns/b"}, ("/cwd",), home="/cwd", user="/ns", allowed=("/cwd",))
    for mention in (f"@{name}", f"@a:{name}", f"@b:{name}", f"@user:{name}", f"@~/{name}"):
        answer = resolve(mention, scope, world)
        if isinstance(answer, Found):
            roots = [world.real(root) or root for root in ("/ns", "/ns/b", "/cwd")]
            assert any(is_within(answer.path, root) for root in roots)
            assert not answer.path.startswith("/secret") or "/secret" in roots


@given(st.text(max_size=60) | st.text('@`~a.\n-<!>"\\: ', max_size=60))
def test_mentions_stand_where_they_say(text: str) -> None:
    lines = text.split("\n")
    for mention in find_mentions(text):
        assert lines[mention.line - 1][mention.column - 1] == "@"
    assert len(set(parse_mentions(text))) == len(parse_mentions(text))


yaml_like = st.text("abmodulet:-[]{}!@#'\"\n ,&*?|>%", max_size=120)
texts = st.text(max_size=80) | yaml_like | yaml_like.map(lambda text: f"---\n{text}\n---\nbody")


@settings(max_examples=300)
@given(texts | st.binary(max_size=60), st.sampled_from(["/w/bundle.md", "/w/bundle.yaml", "/w/x.txt"]))
def test_arbitrary_text_raises_nothing_but_our_errors(text: str | bytes, file: str) -> None:
    with suppress(BundleError):
        decoded = decode_bundle(text, file)
        whole = resolve_context(compose(decoded.bundle, decoded.bundle)).bundle
        expand_plan(mount_plan(whole), {})
        decoded.checked()
    with suppress(BundleError):
        decode_agent(text, file)
    with suppress(BundleError):
        decode_settings(text, file)
    decode_mode(text, file)


sections = st.sampled_from(
    [
        "bundle",
        "includes",
        "session",
        "tools",
        "hooks",
        "agents",
        "context",
        "spawn",
        "exclude",
        "meta",
        "name",
    ]
)
inner_keys = st.sampled_from(["include", "bundle", "module", "name", "config", "orchestrator", "tools"])
odd = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(inner_keys, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=300)
@given(st.dictionaries(sections, odd, max_size=5))
def test_sections_of_any_shape_raise_nothing_but_our_errors(raw: dict[str, Any]) -> None:
    with suppress(BundleError):
        decoded = decode_data(raw, base_path="/w")
        mount_plan(compose(decoded.bundle, decoded.bundle))
        decoded.checked()


nodes = st.sampled_from("abcdef")


@given(st.dictionaries(nodes, st.lists(nodes, max_size=4), max_size=6))
def test_an_order_puts_each_bundle_once_and_after_all_it_includes(graph: dict[str, list[str]]) -> None:
    order = compose_order("a", graph)
    assert len(set(order.bundles)) == len(order.bundles)
    assert order.bundles[-1] == "a"
    for name in order.bundles:
        for included in order.includes[name]:
            assert order.bundles.index(included) < order.bundles.index(name)
    for circle in order.circles:
        assert circle.chain[0] == circle.chain[-1]
        assert all(
            below in graph[above] for above, below in zip(circle.chain, circle.chain[1:], strict=False)
        )


lock_entries = st.builds(
    LockEntry, st.from_regex(r"git\+https://h/[a-z]{1,3}@main", fullmatch=True), st.text("0a", max_size=4)
)


@given(st.lists(lock_entries, max_size=4), st.text("1.0", max_size=4))
def test_a_lock_is_the_same_after_printing_and_reading(found: list[LockEntry], kernel: str) -> None:
    lock = make_lock(found, kernel=kernel, modules={"m": "1"})
    assert read_lock(print_lock(lock)) == lock
    assert print_lock(read_lock(print_lock(lock))) == print_lock(lock)


@given(st.text(max_size=40))
def test_a_lock_of_any_text_raises_nothing_but_our_errors(text: str) -> None:
    with suppress(BundleError):
        assert isinstance(read_lock(text), BundleLock)


def test_a_lock_of_another_version_is_refused() -> None:
    with pytest.raises(BundleError, match="version 1"):
        read_lock('{"version": 99}')
