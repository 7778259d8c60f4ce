from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplihack.errors import InputError, NotFound, RecipeError
from amplihack.recipes.extends import Located, resolve_extends
from amplihack.recipes.model import Text
from amplihack.recipes.naming import InvalidReference
from amplihack.system import search_dirs
from amplihack.system.home import Home
from amplihack.system.recipe_files import Refused
from amplihack.system.recipe_library import BundleNotResolved, Library
from amplihack.system.recipe_listing import list_library


def put(path: Path, name: str | None = None, extra: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    steps = "steps:\n  - {id: one, command: 'true'}\n"
    path.write_text(f"name: {name or path.stem}\n{extra}{steps}")
    return path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(search_dirs, "PACKAGED_BUNDLE", tmp_path / "packaged")
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def library(project: Path, *recipe_dirs: Path | str, **environment: str) -> Library:
    variables = {"HOME": str(project.parent / "user"), **environment}
    home = Home.from_environment(variables, project)
    return Library.from_environment(variables, home, recipe_dirs=recipe_dirs)


def test_directories_are_searched_in_one_order(project: Path) -> None:
    (project.parent / "packaged" / "recipes").mkdir(parents=True)
    found = library(
        project,
        "mine",
        AMPLIHACK_HOME="/home/root",
        AMPLIHACK_PACKAGE_RECIPE_DIR="/package",
        RECIPE_RUNNER_RECIPE_DIRS=":/first::second:",
    )
    assert [str(path) for path in found.directories] == [
        f"{project}/mine",
        "/package",
        "/first",
        f"{project}/second",
        "/home/root/.claude/recipes",
        f"{project}/amplifier-bundle/recipes",
        f"{project}/src/amplihack/amplifier-bundle/recipes",
        f"{project}/.claude/recipes",
        "/home/root/amplifier-bundle/recipes",
        f"{project.parent}/packaged/recipes",
    ]


def test_project_directories_follow_the_working_directory(project: Path) -> None:
    home = Home.from_environment({"HOME": "/home/ann"}, project)
    elsewhere = Library.from_environment({}, home, working_dir=Path("sub"), recipe_dirs=["mine"])
    assert project / "sub" / ".claude" / "recipes" in elsewhere.directories
    assert elsewhere.directories[0] == project / "mine"


def test_the_same_directory_is_searched_once(project: Path) -> None:
    put(project / ".claude" / "recipes" / "a.yaml")
    (project / "alias").symlink_to(".claude/recipes")
    found = library(project, "alias", "alias/")
    assert [path.name for path in found.directories].count("recipes") == len(found.directories) - 1
    assert len(list_library(found).recipes) == 1


def test_the_first_directory_wins(project: Path) -> None:
    put(project / ".claude" / "recipes" / "build.yaml")
    first = put(project / "mine" / "build.yml")
    assert library(project, "mine").find("build") == first
    assert library(project).find("build") == project / ".claude" / "recipes" / "build.yaml"


def test_yaml_comes_before_yml_and_the_stem_before_the_name(project: Path) -> None:
    put(project / "r" / "a.yaml", "build")
    put(project / "r" / "build.yml", "other")
    assert library(project, "r").find("build") == project / "r" / "build.yml"
    exact = put(project / "r" / "build.yaml", "third")
    assert library(project, "r").find("build") == exact


def test_a_recipe_is_found_by_its_own_name(project: Path) -> None:
    file = put(project / "r" / "01-first.yaml", "Nice Name")
    assert library(project, "r").find("Nice Name") == file


@pytest.mark.parametrize("spelled", ['"caf\\xE9"', "'café'", "café", ">-\n  café", "&x café"])
def test_a_name_is_found_however_it_is_spelled_in_the_file(project: Path, spelled: str) -> None:
    file = put(project / "r" / "a.yaml", spelled)
    assert library(project, "r").find("café") == file


def test_a_name_nobody_has_is_none(project: Path) -> None:
    put(project / "r" / "a.yaml")
    assert library(project, "r", "missing").find("nothing") is None


@pytest.mark.parametrize("name", ["", ".a", "a/b", "a\\b", "a\0", "..", "../a"])
def test_an_unsafe_name_is_rejected_with_a_reason(project: Path, name: str) -> None:
    with pytest.raises(InvalidReference, match="the name"):
        library(project).find(name)


def test_a_link_that_leaves_its_directory_is_refused(project: Path) -> None:
    outside = put(project.parent / "secret.yaml")
    (project / ".git").mkdir()  # the search ends at the project's root
    (project / "r").mkdir()
    (project / "r" / "build.yaml").symlink_to(outside)
    found = library(project, "r")
    with pytest.raises(Refused, match="is refused: it leads out"):
        found.find("build")
    assert found.find("secret") is None
    listing = list_library(found)
    assert listing.recipes == ()
    assert "is refused" in listing.broken[0].what


def test_a_link_inside_its_directory_is_the_file_itself(project: Path) -> None:
    file = put(project / "r" / "build.yaml")
    (project / "r" / "alias.yaml").symlink_to("build.yaml")
    found = library(project, "r")
    assert found.find("alias") == file
    assert [info.path for info in list_library(found).recipes] == [file]


def test_a_directory_that_cannot_be_read_is_never_skipped_in_silence(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied")

    (project / "closed").mkdir()
    monkeypatch.setattr(os, "scandir", refuse)  # root, who runs many a test, may read every directory
    found = library(project, "closed")
    with pytest.raises(InputError, match="IO error: cannot read the directory"):
        found.find("build")
    assert "cannot read the directory" in list_library(found).broken[0].what


def test_a_file_is_read_again_only_when_it_changed(project: Path) -> None:
    file = put(project / "r" / "a.yaml")
    found = library(project, "r")
    first = found.load(file)
    assert found.load(file) is first
    put(file, "changed")
    assert found.load(file).required().name == "changed"


def test_messages_show_a_short_path_below_the_current_directory(project: Path) -> None:
    file = project / "r" / "bad.yaml"
    put(file).write_text("name: bad\nsteps: []\n")
    with pytest.raises(RecipeError) as caught:
        library(project).load(file).required()
    assert caught.value.where is not None
    assert caught.value.where.file == "r/bad.yaml"


# Sub-recipes ------------------------------------------------------------------------------------------


def test_a_sub_recipe_is_looked_for_around_the_run(project: Path) -> None:
    (project / ".git").mkdir()
    run_dir = project / "deep" / "er"
    run_dir.mkdir(parents=True)
    home = Home.from_environment({"HOME": str(project.parent / "user")}, project)
    found = Library.from_environment({}, home, working_dir=run_dir, recipe_dirs=["mine"])
    top, caller = put(project / "top" / "top.yaml"), put(project / "calls" / "caller.yaml")
    places = [
        home.root / ".claude" / "recipes",
        project / "amplifier-bundle" / "recipes",
        run_dir / "amplifier-bundle" / "recipes",
        run_dir,
        top.parent,
        caller.parent,
        project / "mine",
    ]
    for place in places:  # from the last place to the first: each new one wins over all before it
        put(place / "child.yaml")
        assert found.sub_recipe("child", caller, top) == place / "child.yaml"


def test_recipes_above_the_project_are_not_found(project: Path) -> None:
    (project / ".git").mkdir()
    put(project.parent / "amplifier-bundle" / "recipes" / "child.yaml")
    with pytest.raises(NotFound):
        library(project).sub_recipe("child")


def test_a_missing_sub_recipe_lists_where_it_was_looked_for(project: Path) -> None:
    (project / ".git").mkdir()
    caller = put(project / "r" / "caller.yaml")
    put(project / "r" / "child-one.yaml")
    with pytest.raises(NotFound) as caught:
        library(project, "nowhere").sub_recipe("child_on", caller, caller)
    user = project.parent / "user" / ".amplihack"
    assert caught.value.what.splitlines() == [
        "Sub-recipe 'child_on' not found. Searched the following directories (in order):",
        f"  - {project}/nowhere (does not exist)",
        f"  - {project}/r",
        f"  - {project}",
        f"  - {user}/.claude/recipes (does not exist)",
        f"  - {project}/amplifier-bundle/recipes (does not exist)",
        f"  - {project}/src/amplihack/amplifier-bundle/recipes (does not exist)",
        f"  - {project}/.claude/recipes (does not exist)",
        f"  - {user}/amplifier-bundle/recipes (does not exist)",
    ]
    assert caught.value.fix == 'did you mean "child-one"?'


def test_a_name_that_no_recipe_can_have_is_not_found_and_says_why(project: Path) -> None:
    with pytest.raises(NotFound, match=r"^Sub-recipe 'two words' not found\.") as caught:
        library(project).sub_recipe("two words")
    assert "letters, digits" in caught.value.fix


def test_a_sub_recipe_is_found_by_its_own_name(project: Path) -> None:
    caller = put(project / "r" / "caller.yaml")
    child = put(project / "r" / "02-child.yaml", "child")
    assert library(project).sub_recipe("child", caller) == child


def test_a_path_is_relative_to_the_calling_file(project: Path) -> None:
    (project / ".git").mkdir()
    caller = put(project / "r" / "deep" / "caller.yaml")
    beside = put(project / "r" / "deep" / "child.yaml")
    above = put(project / "shared" / "child.yaml")
    put(project / "child.yaml")
    found = library(project)
    assert found.sub_recipe("child.yaml", caller) == beside
    assert found.sub_recipe("./child", caller) == beside
    assert found.sub_recipe("../../shared/child.yaml", caller) == above
    assert found.sub_recipe("child.yaml") == project / "child.yaml"
    assert found.sub_recipe(str(above), caller) == above


def test_safe_segments_reach_into_the_search_directories(project: Path) -> None:
    caller = put(project / "r" / "testing" / "caller.yaml")
    child = put(project / "r" / "testing" / "chain.yaml")
    found = library(project, "r")
    assert found.sub_recipe("testing/chain", caller) == child
    assert found.sub_recipe("testing/chain.yaml", caller) == child


def test_a_path_out_of_every_allowed_place_is_refused(project: Path) -> None:
    secret = put(project.parent / "secret.yaml")
    caller = put(project / "r" / "caller.yaml")
    found = library(project)
    for reference in ("../../secret.yaml", str(secret)):
        with pytest.raises(Refused, match="is refused"):
            found.sub_recipe(reference, caller)
    (project / "r" / "link.yaml").symlink_to(secret)
    for reference in ("link", "link.yaml"):
        with pytest.raises(Refused):
            found.sub_recipe(reference, caller)


def test_a_path_out_of_the_calling_files_directory_needs_a_project_around_both(project: Path) -> None:
    elsewhere = project.parent / "elsewhere"
    caller = put(elsewhere / "r" / "caller.yaml")
    child = put(elsewhere / "child.yaml")
    with pytest.raises(Refused):
        library(project).sub_recipe("../child.yaml", caller)
    (elsewhere / ".git").mkdir()
    assert library(project).sub_recipe("../child.yaml", caller) == child


def bundle(root: Path, name: str, file: str = "bundle.md") -> Path:
    fence = "---\n" if file.endswith(".md") else ""
    root.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(f"{fence}bundle: {{name: {name}}}\n{fence}")
    return root


@pytest.mark.parametrize("file", ["bundle.md", "bundle.yaml"])
def test_a_file_of_the_bundle_around_the_caller_is_found_from_its_root(project: Path, file: str) -> None:
    root = bundle(project.parent / "graphs", "graphs", file)
    child = put(root / "recipes" / "topic.yaml")
    caller = put(root / "recipes" / "quick" / "all.yaml")
    assert library(project).sub_recipe("@graphs:recipes/topic.yaml", caller) == child
    assert library(project).sub_recipe("@graphs:recipes/topic", caller) == child
    with pytest.raises(BundleNotResolved):
        library(project).sub_recipe("@charts:recipes/topic.yaml", caller)


def test_a_file_of_a_bundle_is_found_from_a_search_directory_of_it(project: Path) -> None:
    root = bundle(project.parent / "graphs", "graphs")
    child = put(root / "recipes" / "topic.yaml")
    found = library(project, root / "recipes")
    assert found.sub_recipe("@graphs:recipes/topic.yaml", put(project / "caller.yaml")) == child


def test_a_bundle_inside_another_is_looked_through_first_and_a_broken_one_has_no_name(project: Path) -> None:
    outer = bundle(project.parent / "outer", "graphs")
    put(outer / "topic.yaml")
    inner = bundle(outer / "inner", "graphs")
    child, caller = put(inner / "topic.yaml"), put(inner / "recipes" / "all.yaml")
    assert library(project).sub_recipe("@graphs:topic.yaml", caller) == child
    (inner / "bundle.md").write_text("---\nbundle: [\n---\n")
    assert library(project).sub_recipe("@graphs:topic.yaml", caller) == outer / "topic.yaml"


def test_a_file_of_a_bundle_does_not_lead_out_of_it(project: Path) -> None:
    root = bundle(project.parent / "graphs", "graphs")
    caller = put(root / "recipes" / "all.yaml")
    put(project.parent / "elsewhere.yaml")
    (root / "link.yaml").symlink_to(project.parent / "elsewhere.yaml")
    for path in ("../elsewhere.yaml", "link.yaml"):
        with pytest.raises(Refused):
            library(project).sub_recipe(f"@graphs:{path}", caller)


@pytest.mark.parametrize("reference", ["@recipes:examples/a.yaml", "@recipes:", "@", "@:a.yaml"])
def test_a_file_of_a_bundle_that_is_not_here_is_told_apart_from_a_missing_one(
    project: Path, reference: str
) -> None:
    with pytest.raises(BundleNotResolved, match="no directory of recipes here lies in a bundle"):
        library(project).sub_recipe(reference)


def test_a_parent_is_found_beside_the_child_without_any_flag(project: Path) -> None:
    put(project / "r" / "base.yaml")
    child = project / "r" / "child.yaml"
    child.write_text("name: child\nextends: base\n")
    found = library(project)
    merged = resolve_extends(Located(found.load(child).required(), str(child)), found.parent)
    assert [step.id for step in merged.steps] == ["one"]


def test_a_parent_that_is_missing_is_the_error_of_the_extending_file(project: Path) -> None:
    child = project / "child.yaml"
    child.write_text("name: child\nextends: base\n")
    found = library(project)
    with pytest.raises(RecipeError, match="Parent recipe 'base' not found in search directories"):
        resolve_extends(Located(found.load(child).required(), str(child)), found.parent)


def test_a_parent_in_a_bundle_is_told_apart_from_a_missing_one(project: Path) -> None:
    with pytest.raises(BundleNotResolved):
        library(project).parent(Text("@recipes:base.yaml"), None)


# Listing ----------------------------------------------------------------------------------------------


def test_a_listing_tells_what_each_recipe_is(project: Path) -> None:
    extra = "description: Builds it\nversion: 2.0.1\ntags: [ci, fast]\n"
    file = put(project / "r" / "build.yaml", extra=extra)
    put(project / "r" / "plain.yaml", "'also'")
    also, info = list_library(library(project, "r")).recipes
    assert (info.name, info.path, info.description) == ("build", file, "Builds it")
    assert (info.version, info.step_count, info.tags) == ("2.0.1", 1, ("ci", "fast"))
    assert len(info.sha256) == 16
    assert (also.name, also.version, also.shadowed_by) == ("also", "", None)


def test_a_listing_marks_what_running_the_name_would_not_run(project: Path) -> None:
    first = put(project / "one" / "build.yaml")
    put(project / "two" / "build.yaml")
    put(project / "one" / "zz.yaml", "build")
    found = list_library(library(project, "one", "two")).recipes
    assert [(info.path.name, info.shadowed_by) for info in found] == [
        ("build.yaml", None),
        ("zz.yaml", first),
        ("build.yaml", first),
    ]


def test_a_broken_file_is_reported_and_shadows_like_any_other(project: Path) -> None:
    bad = put(project / "one" / "build.yaml")
    bad.write_text("name: [")
    put(project / "one" / "empty.yaml").write_text("name: empty\n")
    os.mkfifo(project / "one" / "pipe.yaml")
    (project / "one" / "lost.yaml").symlink_to("nowhere.yaml")
    put(project / "two" / "build.yaml")
    found = library(project, "one", "two", "three")
    listing = list_library(found)
    assert [info.shadowed_by for info in listing.recipes] == [bad] == [found.find("build")]
    assert [
        (problem.severity, problem.where.file if problem.where else "") for problem in listing.broken
    ] == [
        ("warning", ""),
        ("error", "one/build.yaml"),
        ("error", "one/empty.yaml"),
        ("error", "one/lost.yaml"),
        ("error", "one/pipe.yaml"),
    ]


def test_hidden_files_and_directories_are_no_recipes(project: Path) -> None:
    put(project / "r" / ".hidden.yaml")
    (project / "r" / "directory.yaml").mkdir()
    found = library(project, "r")
    assert list_library(found).recipes == ()
    assert list_library(found).broken == ()
    assert found.find("directory") is None


def test_a_recipe_whose_own_name_cannot_be_looked_up_goes_by_its_file(project: Path) -> None:
    file = put(project / "r" / "ci.yaml", "team/ci")
    found = library(project, "r")
    assert [info.name for info in list_library(found).recipes] == ["ci"]
    assert found.find("ci") == file


_names = st.sampled_from(["a", "b", "c", "a b", "é", "1", "yes", "it's", "a/b", "x.yaml", '"q"'])
_files = st.dictionaries(
    st.tuples(
        st.sampled_from(["one", "two"]), st.sampled_from(["a", "b", "c"]), st.sampled_from(["yaml", "yml"])
    ),
    st.tuples(_names, st.booleans()),
    max_size=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=_files)
def test_listing_and_finding_always_agree(
    files: dict[tuple[str, str, str], tuple[str, bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("agree")
    for (directory, stem, suffix), (name, broken) in files.items():
        path = root / directory / f"{stem}.{suffix}"
        path.parent.mkdir(exist_ok=True)
        body = {"name": name} if broken else {"name": name, "steps": [{"id": "x", "command": "true"}]}
        path.write_text(yaml.safe_dump(body))
    home = Home.from_environment({"HOME": str(root / "user")}, root)
    found = Library(home, root, (root / "one", root / "two"))
    for info in list_library(found).recipes:
        assert found.find(info.name) == (info.shadowed_by or info.path)
