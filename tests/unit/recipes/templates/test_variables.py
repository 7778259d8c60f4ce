from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplihack.errors import TemplateError
from amplihack.recipes.templates.environment import EnvironmentPlan, plan_environment
from amplihack.recipes.templates.scripts import ShellScript
from amplihack.recipes.templates.variables import VariableIndex, mentioned_names, shell_variables
from amplihack.recipes.values import MISSING, Missing, Value, to_text

KEYS = st.sampled_from(["a", "A", "b", "a__b", "a-b", "a_b", "a__b__0", "", "_", "path", "0", "should_x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["x", "", "\0", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
SCOPES = st.dictionaries(KEYS, VALUES, max_size=6)


def find(scope: dict[str, Value], name: str) -> Value | Missing:
    index = VariableIndex()
    index.learn(scope)
    return index.find(scope, name)


def planned(scope: dict[str, Value], index: VariableIndex) -> EnvironmentPlan | str:
    script = ShellScript("echo $A ${RECIPE_VAR_a__b} $SHOULD_X", {})
    try:
        return plan_environment(scope, script, inherited_bytes=0, budget=100_000, index=index)
    except TemplateError as error:
        return error.what


@given(SCOPES)
def test_every_variable_of_a_scope_is_found_with_its_value(scope: dict[str, Value]) -> None:
    index = VariableIndex()
    index.learn(scope)
    spelled_out = shell_variables(scope)
    assert {name: to_text(index.find(scope, name)) for name in spelled_out} == spelled_out


@given(st.lists(SCOPES, max_size=5))
def test_an_index_that_has_seen_other_scopes_plans_as_a_new_one_does(scopes: list[dict[str, Any]]) -> None:
    kept = VariableIndex()
    for scope in scopes:
        assert planned(scope, kept) == planned(scope, VariableIndex())


def test_what_is_not_in_the_scope_is_not_found() -> None:
    scope: dict[str, Value] = {"a": {"b": 1}, "list": ["x"], "path": "p", "obj": {}}
    for name in ("RECIPE_VAR_a__c", "RECIPE_VAR_list__1", "PATH", "OBJ", "A", "RECIPE_VAR_", "a"):
        assert find(scope, name) is MISSING


def test_of_two_owners_of_a_name_the_first_in_the_scope_counts() -> None:
    assert find({"a": {"b": 1}, "a__b": 2}, "RECIPE_VAR_a__b") == 1
    assert find({"a__b": 2, "a": {"b": 1}}, "RECIPE_VAR_a__b") == 2


def test_a_variable_that_is_gone_is_no_longer_found() -> None:
    index = VariableIndex()
    index.learn({"item": 1})
    index.learn({"other": 2})
    assert index.find({"other": 2}, "RECIPE_VAR_item") is MISSING
    assert index.find({"other": 2}, "OTHER") == 2


def test_items_of_lists_are_passed_on_only_where_the_script_mentions_them() -> None:
    scope: dict[str, Value] = {"list": ["x", "y"]}
    made = plan_environment(
        scope, ShellScript("echo $RECIPE_VAR_list__1", {}), inherited_bytes=0, budget=10_000
    )
    assert made.exports == {"RECIPE_VAR_list__1": "y"}


def test_names_that_no_variable_of_ours_can_have_are_not_looked_for() -> None:
    assert mentioned_names('echo "$A" $RECIPE_VAR_x; for i in 1') == ("A", "RECIPE_VAR_x")
