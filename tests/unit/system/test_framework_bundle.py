"""The validator of framework bundles: every rule, every class of error, and nothing but reading."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.framework_bundle import COMPANIONS, HELPER, MANIFEST, PARENT, good_files, write_bundle

from amplihack.errors import AmplihackError
from amplihack.install import errors
from amplihack.install.contract import CONTRACT, recipe_path
from amplihack.install.errors import BundleCompatibilityError
from amplihack.install.validate import BundleContent, report
from amplihack.system.framework_bundle import (
    inspect_bundle,
    is_compatible_framework_bundle,
    is_incompatible_smart_orchestrator,
    validate_framework_bundle_compatibility,
    validate_recipe_compatibility,
    validate_staged_framework_bundle,
)

ROUTE = recipe_path("smart-classify-route")


def first(root: Path) -> BundleCompatibilityError:
    """Return the violation that both functions raise, which is the first of the report."""
    with pytest.raises(BundleCompatibilityError) as source:
        validate_framework_bundle_compatibility(root)
    with pytest.raises(type(source.value)):
        validate_staged_framework_bundle(root)
    assert not is_compatible_framework_bundle(root)
    violation = inspect_bundle(root).violations[0]
    assert (type(violation), violation.what) == (type(source.value), source.value.what)
    assert source.value.fix
    return source.value


def broken(tmp_path: Path, **changes: bytes | None) -> BundleCompatibilityError:
    named = {
        "parent": PARENT,
        "route": ROUTE,
        "manifest": MANIFEST,
        "identity": "BUNDLE.json",
    }
    write_bundle(tmp_path, {named[key]: data for key, data in changes.items()})
    return first(tmp_path)


# accepted ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["", "0.1.0"])
def test_a_good_bundle_is_accepted_from_its_root_and_from_itself(tmp_path: Path, version: str) -> None:
    bundle = write_bundle(tmp_path, version=version)
    for root in (tmp_path, bundle):
        validate_framework_bundle_compatibility(root)
        validate_staged_framework_bundle(root)
        assert is_compatible_framework_bundle(root)
        found = inspect_bundle(root)
        assert (found.ok, found.bundle) == (True, bundle)
        assert (found.identity.product_version if found.identity else "") == version


def test_comments_metadata_more_steps_and_another_order_are_compatible(tmp_path: Path) -> None:
    steps = "".join(
        f"  - {{id: s{n}, type: recipe, recipe: {name}, condition: a}}\n"
        for n, name in enumerate(reversed(COMPANIONS))
    )
    text = (
        "# note\nname: 'smart-orchestrator'\nversion: 9\ncontext: {a: 1}\nsteps:\n  - {id: x, command: ls}\n"
    )
    write_bundle(tmp_path, {PARENT: (text + steps).encode()})
    assert inspect_bundle(tmp_path).violations == ()


def test_markers_elsewhere_do_not_matter(tmp_path: Path) -> None:
    stale = " ".join(CONTRACT.stale_markers)
    route = f"# {stale}\nname: smart-classify-route\nsteps: [{{id: parse-decomposition, command: ls}}]\n"
    write_bundle(tmp_path, {ROUTE: route.encode(), "docs/notes.md": stale.encode()})
    (tmp_path / "orch_helper.py").write_text("import importlib")
    assert is_compatible_framework_bundle(tmp_path)


def test_a_repository_with_recipes_of_its_own_is_judged_by_its_bundle(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "smart-orchestrator.yaml").write_text("importlib")
    validate_framework_bundle_compatibility(tmp_path)


def test_a_directory_with_the_identity_file_is_a_bundle_whatever_its_name(tmp_path: Path) -> None:
    moved = write_bundle(tmp_path, version="0.1.0").rename(tmp_path / "other")
    validate_framework_bundle_compatibility(moved)
    (moved / "BUNDLE.json").unlink()
    assert isinstance(first(moved), errors.MissingBundleRoot)


def test_our_own_link_to_a_generation_is_followed_and_no_other(tmp_path: Path) -> None:
    write_bundle(tmp_path / "generations" / "0.1.0-abc")
    link = tmp_path / "amplifier-bundle"
    link.symlink_to("generations/0.1.0-abc/amplifier-bundle")
    validate_staged_framework_bundle(tmp_path)
    validate_staged_framework_bundle(link)
    for target in (
        tmp_path / "generations/0.1.0-abc/amplifier-bundle",
        "generations/../generations/0.1.0-abc/amplifier-bundle",
        "./generations/0.1.0-abc/amplifier-bundle",
    ):
        link.unlink()
        link.symlink_to(target)
        assert isinstance(first(tmp_path), errors.SymlinkedPath)
    link.unlink()
    link.symlink_to("generations/gone/amplifier-bundle")
    assert isinstance(first(tmp_path), errors.MissingBundleRoot)


def test_a_link_on_the_way_to_our_generation_is_not_followed(tmp_path: Path) -> None:
    write_bundle(tmp_path / "elsewhere")
    (tmp_path / "generations").mkdir()
    (tmp_path / "generations" / "x").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "amplifier-bundle").symlink_to("generations/x/amplifier-bundle")
    assert not is_compatible_framework_bundle(tmp_path)


# the root and its directories ----------------------------------------------------------------------------


def test_a_root_without_a_bundle(tmp_path: Path) -> None:
    error = first(tmp_path)
    assert isinstance(error, errors.MissingBundleRoot)
    assert (error.code, error.path) == ("missing-bundle", tmp_path)
    assert isinstance(first(tmp_path / "nowhere"), errors.MissingBundleRoot)
    (tmp_path / "amplifier-bundle").write_text("a file")
    assert isinstance(first(tmp_path), errors.MissingBundleRoot)


@pytest.mark.parametrize("part", ["", "recipes"])
def test_a_linked_directory_is_refused(tmp_path: Path, part: str) -> None:
    bundle = write_bundle(tmp_path / "real")
    root = tmp_path / "root"
    root.mkdir()
    if part:
        (root / "amplifier-bundle").mkdir()
    link = root / "amplifier-bundle" / part if part else root / "amplifier-bundle"
    link.symlink_to(bundle / part)
    error = first(root)
    assert isinstance(error, errors.SymlinkedPath)
    assert (error.code, error.path) == ("symlink", link)


# the parent ----------------------------------------------------------------------------------------------


def test_a_missing_parent(tmp_path: Path) -> None:
    error = broken(tmp_path, parent=None)
    assert isinstance(error, errors.MissingSmartOrchestrator)
    assert (error.code, error.path.name) == ("missing-parent", "smart-orchestrator.yaml")


@pytest.mark.parametrize("marker", CONTRACT.stale_markers)
@pytest.mark.parametrize(
    "form", ["# {}\n", "description: {}\n", "metadata: {{a: '{}'}}\n", "extra: |\n  {}\n", "x: [}} {}\n"]
)
def test_a_marker_anywhere_in_the_parent_is_stale_even_in_broken_yaml(
    tmp_path: Path, marker: str, form: str
) -> None:
    error = broken(tmp_path, parent=good_files()[PARENT] + form.format(marker).encode())
    assert isinstance(error, errors.StaleSmartOrchestrator)
    assert (error.code, error.marker) == ("stale-parent", marker)
    assert all(word in error.what for word in ("smart-orchestrator", marker, *COMPANIONS))


def test_the_first_marker_of_the_list_is_named(tmp_path: Path) -> None:
    text = b"importlib resolve-bundle-asset helper-path orch_helper.py"
    error = broken(tmp_path, parent=text)
    assert isinstance(error, errors.StaleSmartOrchestrator)
    assert error.marker == "orch_helper.py"


@pytest.mark.parametrize("missing", COMPANIONS)
def test_a_parent_that_does_not_call_a_companion(tmp_path: Path, missing: str) -> None:
    steps = "".join(f"  - {{id: {n}, type: recipe, recipe: {n}}}\n" for n in COMPANIONS if n != missing)
    elsewhere = (
        f"metadata: {{uses: [{missing}]}}\ncontext: {{steps: [{{type: recipe, recipe: {missing}}}]}}\n"
    )
    nested = (
        f"  - {{id: n, steps: [{{type: recipe, recipe: {missing}}}]}}\n  - {{id: m, recipe: {missing}}}\n"
    )
    text = f"name: smart-orchestrator\n{elsewhere}steps:\n{steps}{nested}# {missing}\n"
    error = broken(tmp_path, parent=text.encode())
    assert isinstance(error, errors.IncompatibleSmartOrchestrator)
    assert (error.code, error.recipes) == ("missing-reference", (missing,))
    assert missing in error.what


def test_a_monolith_without_markers_calls_none_of_them(tmp_path: Path) -> None:
    write_bundle(tmp_path, {PARENT: b"name: smart-orchestrator\nsteps: [{id: all, command: ls}]\n"})
    found = inspect_bundle(tmp_path).violations
    assert [type(each) for each in found] == [errors.IncompatibleSmartOrchestrator] * 4


def test_a_parent_of_another_name(tmp_path: Path) -> None:
    error = broken(tmp_path, parent=good_files()[PARENT].replace(b"name: smart-orchestrator", b"name: other"))
    assert isinstance(error, errors.IncompatibleSmartOrchestrator)
    assert "name" in error.what


@pytest.mark.parametrize("which", ["parent", "route"])
@pytest.mark.parametrize(
    "text",
    [
        b"name: [",
        b"a: 1\na: 2\n",
        b"a: !python/object:os.system x\n",
        b"a: !custom x\n",
        b"a: " + b"[" * 70 + b"]" * 70,
        b"[" * 5000,
        b"a: &a [1,2,3,4,5,6,7,8,9]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
        + b"".join(
            b"%c: &%c [%s]\n" % (c + 1, c + 1, b",".join([b"*%c" % c] * 9)) for c in range(ord("b"), ord("k"))
        ),
        b"a: [" + b"1," * 100_001 + b"]",
        b"---\na: 1\n---\nb: 2\n",
        b"",
    ],
    ids=["syntax", "duplicate", "python", "tag", "deep", "deeper", "laughs", "many", "two", "empty"],
)
def test_yaml_that_is_not_accepted(tmp_path: Path, which: str, text: bytes) -> None:
    error = broken(tmp_path, **{which: text})
    assert isinstance(error, errors.InvalidRecipeYaml)
    assert error.code == "invalid-yaml"
    assert error.line >= 1
    assert error.column >= 1
    assert error.cause


@pytest.mark.parametrize("which", ["parent", "route"])
def test_a_recipe_that_is_not_utf_8_is_unreadable(tmp_path: Path, which: str) -> None:
    error = broken(tmp_path, **{which: b"name: \xff\n"})
    assert isinstance(error, errors.UnreadableRecipe)
    assert error.code == "unreadable"


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("path", [PARENT, ROUTE, MANIFEST])
def test_a_file_that_we_may_not_read(tmp_path: Path, path: str) -> None:
    bundle = write_bundle(tmp_path)
    (bundle / path).chmod(0)
    assert first(tmp_path).code in ("unreadable", "unreadable-manifest")


def test_what_the_system_refuses_is_unreadable() -> None:
    from amplihack.install.validate import Unusable

    refused = dict.fromkeys((PARENT, ROUTE, MANIFEST, "BUNDLE.json"), Unusable("unreadable", "it is private"))
    content = BundleContent(root=Path("/x"), bundle=Path("/x"), files={**good_files(), **refused})
    assert [each.code for each in report(content).violations] == [
        "unreadable",
        "unreadable",
        "unreadable-manifest",
        "identity",
    ]


@pytest.mark.parametrize(
    ("path", "limit"),
    [(PARENT, 1_000_000), (ROUTE, 1_000_000), (MANIFEST, 262_144), ("BUNDLE.json", 4_194_304)],
)
def test_a_file_that_is_too_large(tmp_path: Path, path: str, limit: int) -> None:
    write_bundle(tmp_path, {path: b"#" * (limit + 1)})
    error = first(tmp_path)
    assert isinstance(error, errors.OversizeFile)
    assert (error.code, error.size, error.limit) == ("oversize", limit + 1, limit)


def test_a_recipe_of_exactly_the_limit_is_fine(tmp_path: Path) -> None:
    text = good_files()[PARENT]
    write_bundle(tmp_path, {PARENT: text + b"#" * (1_000_000 - len(text))})
    validate_framework_bundle_compatibility(tmp_path)


def test_a_huge_sparse_file_is_not_read(tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path)
    with (bundle / PARENT).open("r+b") as file:
        file.truncate(1 << 40)
    assert isinstance(first(tmp_path), errors.OversizeFile)


# companions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMPANIONS)
@pytest.mark.parametrize("how", ["gone", "link", "directory", "pipe"])
def test_a_companion_that_is_no_regular_file_is_missing(tmp_path: Path, name: str, how: str) -> None:
    bundle = write_bundle(tmp_path)
    path = bundle / recipe_path(name)
    path.rename(tmp_path / "kept.yaml")
    match how:
        case "link":
            path.symlink_to(tmp_path / "kept.yaml")
        case "directory":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
    error = first(tmp_path)
    assert isinstance(error, errors.MissingCompanionRecipe)
    assert (error.code, error.recipe, error.path) == ("missing-companion", name, path)
    assert "missing required smart-orchestrator companion recipe" in error.what


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"[]", "root must be a mapping"),
        (b"just text", "root must be a mapping"),
        (b"steps: [{id: a}]", "missing name field"),
        (b"name: 3\nsteps: [{id: a}]", "missing name field"),
        (b"name: other\nsteps: [{id: a}]", '"other", not "smart-classify-route"'),
        (b"name: smart-classify-route", "missing steps field"),
        (b"name: smart-classify-route\nsteps:", "missing steps field"),
        (b"name: smart-classify-route\nsteps: {a: 1}", "steps must be a sequence"),
        (b"name: smart-classify-route\nsteps: text", "steps must be a sequence"),
        (b"name: smart-classify-route\nsteps: []", "at least one step is required"),
    ],
)
def test_a_companion_that_breaks_a_rule(tmp_path: Path, text: bytes, reason: str) -> None:
    error = broken(tmp_path, route=text)
    assert isinstance(error, errors.InvalidCompanionRecipe)
    assert (error.code, error.recipe) == ("invalid-companion", "smart-classify-route")
    assert reason in error.reason


# the manifest and the identity ---------------------------------------------------------------------------


def entries(**changes: object) -> bytes:
    listed: dict[str, object] = dict.fromkeys(CONTRACT.recipes, "ab")
    return json.dumps(listed | {key.replace("_", "-"): value for key, value in changes.items()}).encode()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (None, errors.MissingRecipeManifest),
        (b"{", errors.InvalidRecipeManifest),
        (b"[]", errors.InvalidRecipeManifest),
        (b"[" * 100_000, errors.InvalidRecipeManifest),
        (b'{"a": 1, "a": 2}', errors.InvalidRecipeManifest),
        (b"\xff{}", errors.UnreadableRecipeManifest),
        (b"{}", errors.MissingManifestEntry),
        (entries(smart_reflect_loop=""), errors.InvalidManifestEntry),
        (entries(smart_reflect_loop=" \t"), errors.InvalidManifestEntry),
        (entries(smart_reflect_loop=None), errors.InvalidManifestEntry),
        (entries(smart_orchestrator=7), errors.InvalidManifestEntry),
    ],
)
def test_a_manifest_that_is_not_accepted(tmp_path: Path, text: bytes | None, kind: type[Exception]) -> None:
    assert type(broken(tmp_path, manifest=text)) is kind


def test_each_entry_of_the_manifest_is_required(tmp_path: Path) -> None:
    write_bundle(tmp_path, {MANIFEST: b"{}"})
    found = inspect_bundle(tmp_path).violations
    assert [each.recipe for each in found if isinstance(each, errors.MissingManifestEntry)] == list(
        CONTRACT.recipes
    )


def test_a_hash_is_not_compared_with_the_file(tmp_path: Path) -> None:
    write_bundle(tmp_path, {MANIFEST: entries(smart_orchestrator="not a digest")})
    validate_framework_bundle_compatibility(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        b"{",
        b"[]",
        b'{"schema": 2}',
        (b'"tree_digest": "', b'"tree_digest": "0'),
        (b'"contract": 1', b'"contract": 99'),
        (b'"0755"', b'"4755"'),
        (b'"bundle.md"', b'"../bundle.md"'),
        (b'"bundle.md"', b'"/etc/passwd"'),
        (b'"size": ', b'"size": -'),
    ],
)
def test_an_identity_that_contradicts_itself(tmp_path: Path, change: bytes | tuple[bytes, bytes]) -> None:
    bundle = write_bundle(tmp_path, version="0.1.0")
    text = (bundle / "BUNDLE.json").read_bytes()
    changed = change if isinstance(change, bytes) else text.replace(*change)
    assert changed != text
    (bundle / "BUNDLE.json").write_bytes(changed)
    error = first(tmp_path)
    assert isinstance(error, errors.BundleIdentityMismatch)
    assert error.code == "identity"


# all of it -----------------------------------------------------------------------------------------------


def test_the_report_holds_every_violation_in_the_order_of_the_checks(tmp_path: Path) -> None:
    changes = {
        PARENT: b"# importlib\nname: x\nsteps: []\n",
        ROUTE: None,
        MANIFEST: b"{}",
        "BUNDLE.json": b"{",
    }
    write_bundle(tmp_path, changes)
    codes = [each.code for each in inspect_bundle(tmp_path).violations]
    assert codes == [
        "stale-parent",
        "missing-reference",
        "missing-companion",
        *["missing-reference"] * 4,
        *["missing-manifest-entry"] * 5,
        "identity",
    ]


def test_every_class_has_a_code_of_its_own() -> None:
    classes = BundleCompatibilityError.__subclasses__()
    assert len(classes) == 16
    assert len({each.code for each in classes}) == 16


def test_messages_name_paths_with_escapes_and_never_repeat_a_file(tmp_path: Path) -> None:
    root = tmp_path / "a\x1b[31m\nb"
    write_bundle(root, {PARENT: b"secret-word importlib", ROUTE: b"secret-word: ["})
    for violation in inspect_bundle(root).violations:
        assert violation.what.isprintable()
        assert "secret-word" not in violation.what
        assert "a\\x1b[31m\\nb" in violation.what


AUDIT = """\
import os, sys
from pathlib import Path
from amplihack.system.framework_bundle import inspect_bundle
root, bad = Path(sys.argv[1]), []
for _ in range(30):
    inspect_bundle(root)  # everything is loaded, and our records have compiled their methods

def hook(event, args):
    writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if writes or event.startswith(("subprocess", "os.system", "os.exec", "os.fork", "os.posix_spawn",
                                   "socket", "exec", "import", "os.remove", "os.rename",
                                   "os.mkdir", "os.chmod")):
        bad.append((event, args))

sys.addaudithook(hook)
inspect_bundle(root)
print(bad)
"""


@pytest.mark.parametrize("stale", [False, True])
def test_the_validator_only_reads(tmp_path: Path, stale: bool) -> None:
    write_bundle(tmp_path, {PARENT: b"importlib: [!x"} if stale else None, version="0.1.0")
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@given(
    st.dictionaries(
        st.sampled_from([*good_files(), "BUNDLE.json"]),
        st.one_of(st.binary(max_size=40), st.text(max_size=40).map(str.encode)),
        max_size=3,
    )
)
def test_no_content_raises_anything_but_our_family(changes: dict[str, bytes]) -> None:
    files = {**good_files(), **changes}
    content = BundleContent(root=Path("/x"), bundle=Path("/x/amplifier-bundle"), files=files)
    found = report(content)
    assert all(isinstance(each, BundleCompatibilityError) for each in found.violations)
    contractual = {PARENT, MANIFEST, "BUNDLE.json", *(recipe_path(name) for name in COMPANIONS)}
    if any(files[path] != good_files().get(path) for path in contractual & changes.keys()):
        assert not found.ok
    else:
        assert found.ok


# one recipe ----------------------------------------------------------------------------------------------


def test_one_recipe_is_stale_only_under_the_name_of_the_parent(tmp_path: Path) -> None:
    stale = tmp_path / "smart-orchestrator.yaml"
    stale.write_text("importlib")
    other = tmp_path / "other.yaml"
    other.write_text("importlib")
    assert is_incompatible_smart_orchestrator(stale)
    assert not is_incompatible_smart_orchestrator(other)
    validate_recipe_compatibility(tmp_path / "missing.yaml")
    with pytest.raises(errors.StaleSmartOrchestrator):
        validate_recipe_compatibility(stale)
    stale.write_text("fine: [")
    validate_recipe_compatibility(stale)


def test_other_errors_of_one_recipe_propagate(tmp_path: Path) -> None:
    with pytest.raises(errors.MissingSmartOrchestrator):
        is_incompatible_smart_orchestrator(tmp_path / "smart-orchestrator.yaml")
    (tmp_path / "smart-orchestrator.yaml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(AmplihackError):
        is_incompatible_smart_orchestrator(tmp_path / "smart-orchestrator.yaml")


def test_the_helper_of_the_bundle_is_the_native_wrapper() -> None:
    assert HELPER == "bin/multitask-orchestrator.sh"
