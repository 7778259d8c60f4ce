"""Values in the `env` of a step: what bash would run is refused or told, and everything else passes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from amplihack.errors import TemplateError
from amplihack.recipes.templates import check_env
from amplihack.recipes.templates.env_values import env_dangers

HOSTILE = "a[$(touch canary)]"
ENDS = "() { touch canary; }"


@pytest.mark.parametrize(
    ("name", "template", "value", "script"),
    [
        ("BASH_ENV", "{{v}}", "$(touch canary)", "true"),
        ("BASH_ENV", "dir/{{v}}", "`touch canary`", "true"),
        ("BASH_FUNC_ls%%", "{{v}}", ENDS, "ls"),
        ("BASH_FUNC_ls%%", "() { echo {{v}}; }", "a; touch canary", "ls"),
        ("N", "{{v}}", HOSTILE, "(( N > 3 ))"),
        ("N", "{{v}}", HOSTILE, "echo $((N + 1))"),
        ("N", "{{v}}", HOSTILE, "[[ $N -gt 3 ]]"),
        ("N", "{{v}}", HOSTILE, "let 'x = N'"),
        ("N", "{{v}}", HOSTILE, 'm=$N; n="$m"; a[n]=1'),
        ("N", "{{v}}", HOSTILE, "declare -i x; x=$N"),
        ("N", "{{v}}", HOSTILE, 'f() { (( $1 )); }; f "$N"'),
        ("N", "{{v}}", HOSTILE, "echo ${!N}"),
        ("N", "{{v}}", "$(touch canary)", 'echo "${N@P}"'),
        ("N", "{{v}}", HOSTILE, 'printf -v "$N" x'),
    ],
)
def test_what_bash_would_run_is_refused(
    name: str, template: str, value: str, script: str, tmp_path: Path
) -> None:
    env = {"PATH": os.environ["PATH"], name: template.replace("{{v}}", value)}
    subprocess.run(["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, check=False)
    assert (tmp_path / "canary").exists(), "bash runs it"
    with pytest.raises(TemplateError, match=rf"\{{\{{v\}}\}} in env {name}"):
        check_env(script, {name: template}, {"v": value})


@pytest.mark.parametrize(
    ("name", "value", "script"),
    [
        ("BASH_ENV", "/etc/profile", "true"),
        ("N", "5", "(( N > 3 ))"),
        ("N", "auto", "(( N > 3 ))"),
        ("N", "$(touch canary)", 'echo "$N"'),
        ("N", "$(touch canary)", "python3 run.py"),
        ("N", "$(touch canary)", '(( M )); [[ $N == *a* ]] && [ "$N" -gt 3 ]'),
    ],
)
def test_other_values_pass(name: str, value: str, script: str) -> None:
    assert check_env(script, {name: "{{v}}"}, {"v": value}) == ()


@pytest.mark.parametrize("name", ["PS4", "ENV", "PROMPT_COMMAND"])
def test_variables_of_other_shells_and_users_count_too(name: str) -> None:
    """Not every bash expands these: root's ignores PS4 from the environment."""
    with pytest.raises(TemplateError, match=f"env {name}"):
        check_env("set -x; sh run", {name: "{{v}}"}, {"v": "$(touch canary)"})


def test_a_value_inside_a_list_counts() -> None:
    with pytest.raises(TemplateError, match="env BASH_ENV"):
        check_env("true", {"BASH_ENV": ["{{v}}"]}, {"v": "$(touch canary)"})


def test_the_name_of_another_value_is_refused_where_it_is_evaluated() -> None:
    with pytest.raises(TemplateError, match="env N"):
        check_env("(( N ))", {"N": "{{v}}", "OTHER": "{{w}}"}, {"v": "OTHER", "w": HOSTILE})


def test_a_value_that_the_script_runs_on_purpose_is_told() -> None:
    warnings = check_env('eval "$CMD"', {"CMD": "{{v}}"}, {"v": "echo $HOME"})
    assert warnings == ("the value of v is run as a bash program, through $CMD",)


@pytest.mark.parametrize(
    "name", ["GIT_SSH_COMMAND", "BROWSER", "CC", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_VALUE_0", "SHELL"]
)
def test_a_value_in_a_variable_that_programs_run_is_told(name: str) -> None:
    warnings = check_env("git fetch", {name: "ssh -i {{v}}"}, {"v": "key"})
    assert warnings == (f"the value of v is run as a bash program, through ${name}",)


def test_a_value_that_names_a_library_is_told() -> None:
    warnings = check_env("ls", {"LD_PRELOAD": "{{v}}"}, {"v": "x.so"})
    assert warnings == ("the value of v decides what code programs load, through $LD_PRELOAD",)


def test_a_setting_of_git_that_is_no_code_is_not_told() -> None:
    env = {"GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "{{v}}"}
    assert check_env("git fetch", env, {"v": "$HOME/x"}) == ()
    assert check_env("git fetch", {**env, "GIT_CONFIG_KEY_0": "core.sshCommand"}, {"v": "x"})


@pytest.mark.parametrize(
    ("name", "text", "dangers"),
    [
        ("PERL5OPT", "-w {{v}}", ["loaded"]),
        ("PYTHONSTARTUP", "{{v}}", ["loaded"]),
        ("NODE_OPTIONS", "{{v}}", ["loaded"]),
        ("NODE_OPTIONS", "--max-old-space-size={{v}}", []),
        ("LD_PRELOAD", "/usr/lib/{{v}}.so", []),
    ],
)
def test_a_value_that_decides_what_a_program_loads_is_found_and_passes(
    name: str, text: str, dangers: list[str]
) -> None:
    assert [danger for danger, _, _ in env_dangers("true", {name: text})] == dangers
    assert check_env("true", {name: text}, {"v": "$(touch canary)"}) == ()


def test_what_the_author_wrote_is_his_own() -> None:
    assert check_env("(( N ))", {"N": "$(date +%s)", "BASH_ENV": "$HOME/x"}, {}) == ()
