from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from amplihack.errors import TemplateError
from amplihack.recipes.templates.environment import EnvironmentPlan, plan_environment
from amplihack.recipes.templates.shell import ShellScript, render_shell
from amplihack.recipes.templates.variables import shell_variables
from amplihack.recipes.values import Value


def plan(scope: dict[str, Value], template: str, budget: int = 1_000_000) -> EnvironmentPlan:
    script = render_shell(template, scope, token=lambda: "token")
    return plan_environment(scope, script, inherited_bytes=1_000, budget=budget)


def run(scope: dict[str, Value], template: str, folder: Path, budget: int = 1_000_000) -> bytes:
    """Does with a plan what the caller is told to do, and gives what the script printed."""
    made = plan(scope, template, budget)
    script = render_shell(template, scope, token=lambda: "token")
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    environment |= made.exports
    for name, text in made.files.items():
        (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
        environment[made.paths[name]] = str(folder / name)
    source = folder / "script.sh"
    source.write_bytes((made.preamble + script.source).encode("utf-8", "surrogateescape"))
    finished = subprocess.run(["bash", str(source)], env=environment, capture_output=True, check=False)
    assert finished.stderr == b""
    return finished.stdout


def test_every_value_has_a_variable_and_every_scalar_an_alias() -> None:
    scope: dict[str, Value] = {
        "task_description": "t",
        "issue_number": 42,
        "dry_run": True,
        "nothing": None,
        "obj": {"status": "ok", "my-k": {"n": 1}},
        "list": ["a", {"b": 2}],
        "with-dash": "d",
        "9lead": "n",
        "naïve": "i",
    }
    assert shell_variables(scope) == {
        "RECIPE_VAR_task_description": "t",
        "TASK_DESCRIPTION": "t",
        "RECIPE_VAR_issue_number": "42",
        "ISSUE_NUMBER": "42",
        "RECIPE_VAR_dry_run": "true",
        "DRY_RUN": "true",
        "RECIPE_VAR_nothing": "",
        "NOTHING": "",
        "RECIPE_VAR_obj": '{"status":"ok","my-k":{"n":1}}',
        "RECIPE_VAR_obj__status": "ok",
        "RECIPE_VAR_obj__my_k": '{"n":1}',
        "RECIPE_VAR_obj__my_k__n": "1",
        "RECIPE_VAR_list": '["a",{"b":2}]',
        "RECIPE_VAR_list__0": "a",
        "RECIPE_VAR_list__1": '{"b":2}',
        "RECIPE_VAR_list__1__b": "2",
        "RECIPE_VAR_with_dash": "d",
        "RECIPE_VAR_9lead": "n",
        "RECIPE_VAR_na_ve": "i",
    }


@pytest.mark.parametrize(
    "key",
    [
        "path",
        "home",
        "ifs",
        "ps1",
        "ps4",
        "lc_all",
        "lc_anything",
        "bash_env",
        "env",
        "shellopts",
        "ld_preload",
        "dyld_insert_libraries",
        "pythonpath",
        "node_options",
        "git_ssh_command",
        "git_config_global",
        "uid",
        "claudecode",
        "amplihack_home",
        "recipe_var_x",
        "recipe_runner_x",
        "prompt_command",
        "glibc_tunables",
    ],
)
def test_names_that_programs_obey_get_no_alias(key: str) -> None:
    assert shell_variables({key: "evil"}) == {f"RECIPE_VAR_{key}": "evil"}


@pytest.mark.parametrize("key", ["git_branch", "recipe_name", "python_version", "pattern", "lcd"])
def test_harmless_names_keep_their_alias(key: str) -> None:
    assert shell_variables({key: "v"})[key.upper()] == "v"


def test_of_two_keys_that_differ_in_case_the_first_gets_the_alias() -> None:
    assert shell_variables({"name": "first", "Name": "second"})["NAME"] == "first"


def test_what_the_script_mentions_comes_before_what_is_merely_small() -> None:
    scope: dict[str, Value] = {"a": "x" * 500, "used": "u" * 500, "alias": "y" * 500, "obj": {"k": "deep"}}
    made = plan(scope, "echo {{used}} $ALIAS ${RECIPE_VAR_obj__k:-}", budget=1_000 + 1_300)
    assert set(made.exports) == {"RECIPE_VAR_used", "ALIAS", "RECIPE_VAR_obj__k"}
    assert made.files == {}


def test_small_scalars_go_along_and_large_or_structured_ones_do_not() -> None:
    made = plan({"small": "s", "large": "l" * 9_000, "obj": {"k": 1}}, "true")
    assert made.exports == {
        "RECIPE_VAR_small": "s",
        "SMALL": "s",
        "RECIPE_VAR_obj__k": "1",
    }


def test_a_missing_variable_is_exported_empty_so_that_set_u_is_content(tmp_path: Path) -> None:
    assert run({}, "set -u; echo <{{gone}}>".replace("<", "'<'").replace(">", "'>'"), tmp_path) == b"<>\n"


def test_a_declared_empty_key_exists_under_set_u(tmp_path: Path) -> None:
    assert run({"branch": None}, 'set -u; echo "[$BRANCH][$RECIPE_VAR_branch]"', tmp_path) == b"[][]\n"


@pytest.mark.parametrize("size", [1_000, 100_000, 200_000, 3_000_000])
def test_a_value_of_any_size_arrives_by_placeholder_by_name_and_by_alias(size: int, tmp_path: Path) -> None:
    value = ("it's $(x) \\ \udcff é\n" * size)[:size] + "\n\n"
    template = 'printf \'%s|\' {{big}} "$RECIPE_VAR_big" "$BIG"; true && /bin/true'
    expected = value.encode("utf-8", "surrogateescape") + b"|"
    assert run({"big": value}, template, tmp_path) == expected * 3


def test_a_large_value_is_loaded_once_for_its_name_and_alias() -> None:
    made = plan({"big": "x" * 200_000}, "echo {{big}} $BIG")
    assert list(made.files) == ["RECIPE_VAR_big"]
    assert "\n" not in made.preamble
    assert "BIG=$RECIPE_VAR_big" in made.preamble


def test_a_variable_named_like_the_file_of_a_large_one_keeps_its_value(tmp_path: Path) -> None:
    scope: dict[str, Value] = {"big": "x" * 200_000, "big_FILE": "mine", "BIG_FILE_": "too"}
    template = 'echo {{big_FILE}} "$BIG_FILE" {{BIG_FILE_}} ${#BIG} ${#RECIPE_VAR_big}'
    assert run(scope, template, tmp_path) == b"mine mine too 200000 200000\n"


@pytest.mark.parametrize(
    "template",
    [
        'wc -c < "$BIG_FILE"',
        'wc -c < "$RECIPE_VAR_big_FILE"',
        ': {{big}} ${#BIG}; cat "$BIG_FILE" | wc -c',
        ': "$BIG"; cat "$RECIPE_VAR_big_FILE" "$BIG_FILE" | head -c 200000 | wc -c',
        "bash -c 'wc -c < \"$BIG_FILE\"'",
    ],
)
def test_a_script_that_asks_for_the_file_of_a_large_value_gets_it(template: str, tmp_path: Path) -> None:
    assert run({"big": "x" * 200_000}, template, tmp_path).strip() == b"200000"


def test_the_preamble_leaves_the_line_numbers_of_the_script_alone(tmp_path: Path) -> None:
    assert (
        run({"big": "x" * 200_000}, "#!/bin/bash\necho $LINENO ${#RECIPE_VAR_big}", tmp_path) == b"2 200000\n"
    )


def test_when_the_room_is_spent_referenced_values_still_arrive(tmp_path: Path) -> None:
    scope: dict[str, Value] = {f"v{number}": str(number) * 400 for number in range(10)}
    template = "printf '%s\\n' " + " ".join(f"{{{{v{number}}}}}" for number in range(10))
    expected = "".join(str(number) * 400 + "\n" for number in range(10)).encode()
    assert plan(scope, template, budget=3_000).files
    assert run(scope, template, tmp_path, budget=3_000) == expected


def test_a_nul_byte_is_skipped_with_a_warning_where_nothing_refers_to_it() -> None:
    made = plan({"bad": "a\0b", "good": "g"}, "echo {{good}}")
    assert made.exports == {"RECIPE_VAR_good": "g", "GOOD": "g"}
    assert made.warnings == ("RECIPE_VAR_bad is not passed on to bash: its value holds a NUL byte",)


@pytest.mark.parametrize("value", ["a\0b", "\ud800"])
def test_a_value_that_no_variable_can_carry_is_an_error_where_it_is_used(value: str) -> None:
    with pytest.raises(TemplateError) as by_placeholder:
        plan({"bad": value}, "true\necho {{bad}}")
    assert by_placeholder.value.line == 2
    with pytest.raises(TemplateError) as by_name:
        plan_environment(
            {"bad": value}, ShellScript("true\n\necho $BAD", {}), inherited_bytes=0, budget=10_000
        )
    assert by_name.value.line == 3


def test_variables_that_a_script_does_not_mention_take_little_room() -> None:
    scope: dict[str, Value] = {f"name_{number}": "x" * 50 for number in range(1_000)}
    plan = plan_environment(
        {**scope, "task_description": "do it"},
        render_shell("echo {{name_999}}", scope, token=lambda: "T"),
        inherited_bytes=0,
        budget=1_000_000,
    )
    assert plan.exports["RECIPE_VAR_name_999"] == "x" * 50
    assert plan.exports["TASK_DESCRIPTION"] == "do it"
    assert sum(len(name) + len(text) + 2 for name, text in plan.exports.items()) < 20_000


def test_few_variables_go_along_unasked_but_every_favoured_one_does() -> None:
    scope: dict[str, Value] = {f"n{number}": number for number in range(1_000)}
    made = plan_environment(
        {**scope, "task_description": "t" * 3_000, "should_publish": True},
        ShellScript("./helper.sh", {}),
        inherited_bytes=0,
        budget=1_000_000,
    )
    assert {"TASK_DESCRIPTION", "RECIPE_VAR_task_description", "SHOULD_PUBLISH"} <= made.exports.keys()
    assert made.exports["RECIPE_VAR_n0"] == "0"
    assert len(made.exports) < 100


@pytest.mark.parametrize("script", ["env", "echo $X_FILE"])
def test_a_name_in_capitals_beats_the_alias_of_another(script: str) -> None:
    scope: dict[str, Value] = {"x_FILE": "alias", "X_FILE": "own"}
    assert shell_variables(scope)["X_FILE"] == "own"
    plan = plan_environment(scope, ShellScript(script, {}), inherited_bytes=0, budget=100_000)
    assert plan.exports["X_FILE"] == "own"
