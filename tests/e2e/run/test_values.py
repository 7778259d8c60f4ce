"""Values of any size and any bytes, through every quoting place, and output without end."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.workspace import Workspace

SIZES = {
    0: "empty",
    1: "one",
    4_096: "page",
    100_000: "large",
    131_071: "below",
    131_072: "at",
    131_073: "above",
    3_000_000: "huge",
}
PLACES = """\
name: places
steps:
  - id: sums
    command: |
      bare() { printf '%s' "$1" | sha256sum; }
      bare {{v}}
      printf '%s' "{{v}}" | sha256sum
      printf '%s' '{{v}}' | sha256sum
      x={{v}}; printf '%s' "$x" | sha256sum
      printf '%s' "$(printf '%s' "{{v}}")" | sha256sum
      printf '%s' "$RECIPE_VAR_v" | sha256sum
      head -c -1 <<< {{v}} | sha256sum
      head -c -1 <<END | sha256sum
      {{v}}
      END
      head -c -1 <<'END' | sha256sum
      {{v}}
      END
  - {id: copy, command: 'printf "%s" "{{v}}"', output: copied, output_type: text}
  - {id: again, command: "printf '%s' '{{copied}}' | sha256sum"}
"""


def text_of(size: int) -> str:
    unit = 'it\'s "$HOME" `id` \\ {{v}} ü✓\tEND\n'
    text = (unit * (size // len(unit.encode()) + 1)).encode()[:size].decode("utf-8", "ignore")
    return text.ljust(size, "x")[:size].rstrip("\n") + ("." if text.endswith("\n") else "")


@pytest.mark.parametrize("size", SIZES, ids=SIZES.values())
def test_a_value_arrives_whole_in_every_quoting_place(workspace: Workspace, size: int) -> None:
    text = text_of(size)
    workspace.write("v.txt", text)
    workspace.write("p.yaml", PLACES)
    result = workspace.run("recipe", "run", "p.yaml", "--json", "-q", "--set-file", "v=v.txt").json
    assert result["success"], result["step_results"]
    digest = hashlib.sha256(text.encode()).hexdigest()
    sums = [line.split()[0] for line in result["step_results"][0]["output"].splitlines()]
    assert sums == [digest] * 9
    trimmed = hashlib.sha256(text.strip().encode()).hexdigest()
    assert result["step_results"][2]["output"].split()[0] == trimmed


def test_a_variable_of_ours_that_the_runner_inherits_is_there(workspace: Workspace) -> None:
    workspace.write("r.yaml", "name: r\nsteps: [{id: a, command: echo $RECIPE_VAR_outer}]\n")
    alone = workspace.run("recipe", "run", "r.yaml", "--strict-vars")
    assert (alone.exit_code, "nothing here sets $RECIPE_VAR_outer" in alone.stderr) == (2, True)
    inside = workspace.run(
        "recipe", "run", "r.yaml", "--strict-vars", "--json", env={"RECIPE_VAR_outer": "yes"}
    )
    assert inside.json["step_results"][0]["output"] == "yes"


def test_a_value_of_64_mebibytes_arrives_whole(workspace: Workspace) -> None:
    data = os.urandom(48 * 1024 * 1024 // 2).hex().encode().ljust(64 * 1024 * 1024, b"x")
    workspace.write("v.txt", data)
    workspace.write(
        "p.yaml",
        (
            "name: p\nsteps:\n  - {id: s, command: 'printf %s \"{{v}}\" | sha256sum'}\n"
            "  - {id: t, command: echo small}\n"
        ),
    )
    answer = workspace.run("recipe", "run", "p.yaml", "-q", "--show-output", "--set-file", "v=v.txt")
    assert hashlib.sha256(data).hexdigest() in answer.stdout
    assert "small" in answer.stdout


def test_bytes_that_no_variable_can_hold_are_refused_where_they_are_used(workspace: Workspace) -> None:
    workspace.write(
        "n.yaml",
        "name: n\nsteps:\n  - {id: nul, command: \"printf 'a\\\\0b'\", output: v}\n"
        "  - {id: other, command: echo fine}\n"
        "  - {id: use, command: 'echo {{v}}'}\n",
    )
    answer = workspace.run("recipe", "run", "n.yaml", "--json", "-q")
    statuses = [step["status"] for step in answer.json["step_results"]]
    assert (answer.exit_code, statuses) == (1, ["completed", "completed", "failed"])
    assert "NUL" in answer.json["step_results"][2]["error"]


def test_output_that_is_not_text_does_not_break_the_result(workspace: Workspace) -> None:
    workspace.write(
        "b.yaml",
        (
            "name: b\nsteps:\n  - {id: raw, command: \"printf 'a\\\\377\\\\376z'\", output: v}\n"
            "  - {id: use, command: 'printf %s \"{{v}}\" | wc -m'}\n"
        ),
    )
    result = workspace.run("recipe", "run", "b.yaml", "--json", "-q").json
    assert (result["context"]["v"], result["context"]["use"]) == ("a\ufffd\ufffdz", 4)


def test_output_beyond_what_a_step_keeps_is_cut_and_the_user_hears_of_it(workspace: Workspace) -> None:
    workspace.write(
        "b.yaml",
        (
            "name: b\nsteps:\n  - {id: big, command: 'head -c 10000001 /dev/zero | tr \"\\\\0\" x', "
            "output: v}\n  - {id: size, command: 'printf %s {{v}} | wc -c'}\n"
        ),
    )
    result = workspace.run("recipe", "run", "b.yaml", "--json", "-q").json
    assert result["context"]["size"] == 10_000_000
    assert "big: the output was larger than a step can keep and was cut: 1 byte lost" in result["warnings"]


PEAK = """\
import resource, subprocess, sys
command = [sys.executable, "-m", "amplihack", "recipe", "run", *sys.argv[1:], "-q", "--json"]
subprocess.run(command, stdout=open("out.json", "w"), check=False)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak(workspace: Workspace, *words: str) -> int:
    """Mebibytes that the command needed at most."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *words],
        cwd=workspace.path,
        env=workspace.env,
        capture_output=True,
        check=True,
    )
    unit = 1 if sys.platform == "linux" else 1024
    return int(done.stdout) // unit // 1024


def test_a_gibibyte_of_output_takes_little_memory(workspace: Workspace) -> None:
    workspace.write("small.yaml", "name: small\nsteps: [{id: s, command: 'true'}]\n")
    workspace.write(
        "big.yaml", "name: big\nsteps: [{id: s, command: 'head -c 1073741824 /dev/zero | tr \"\\\\0\" x'}]\n"
    )
    free = os.statvfs("/tmp").f_bavail * os.statvfs("/tmp").f_frsize  # noqa: S108 - only asked about
    if free < 2 * 1024**3:
        pytest.skip("less than 2 GiB free for temporary files")
    difference = peak(workspace, "big.yaml") - peak(workspace, "small.yaml")
    result = json.loads(Path(workspace.path / "out.json").read_text())
    assert result["success"]
    assert difference <= 64


def test_an_agent_that_prints_a_gigabyte_takes_little_memory(workspace: Workspace) -> None:
    workspace.write("a.yaml", "name: a\nsteps: [{id: s, prompt: talk}]\n")
    workspace.write("small.sh", "cat >/dev/null; echo hi\n")
    workspace.write(
        "talk.sh",
        ("cat >/dev/null; line=$(printf 'word %.0s' {1..20000}); yes \"$line\" | head -c 1000000000\n"),
    )
    workspace.env["SOME_API_KEY"] = "what-is-masked-in-all-of-it"
    small = peak(workspace, "a.yaml", "--agent", "command:bash small.sh")
    difference = peak(workspace, "a.yaml", "--agent", "command:bash talk.sh") - small
    assert json.loads(Path(workspace.path / "out.json").read_text())["success"]
    assert difference <= 64


@pytest.mark.parametrize("line", ["plain words", r"\033[31mred\033[m words", "a 🎉 takes four bytes each"])
def test_output_as_large_as_a_step_keeps_takes_little_memory_however_it_looks(
    workspace: Workspace, line: str
) -> None:
    workspace.write("small.yaml", "name: small\nsteps: [{id: s, command: 'true'}]\n")
    command = f"printf '{line}\\n'; yes \"$(printf '{line}')\" | head -c 30000000"
    workspace.write("big.yaml", f"name: big\nsteps:\n  - id: s\n    command: |\n      {command}\n")
    workspace.env["SOME_API_KEY"] = "what-is-masked-in-all-of-it"
    difference = peak(workspace, "big.yaml") - peak(workspace, "small.yaml")
    result = json.loads(Path(workspace.path / "out.json").read_text())
    assert result["success"]
    assert difference <= 64


def test_two_braces_can_be_written_in_every_place(workspace: Workspace) -> None:
    text = r"""
name: r
context: {name: Ada}
steps:
  - {id: bare, command: "echo {{ '{{' }}name}} {{name}}"}
  - {id: double, command: 'echo "{{ "{{" }}name{{ "}}" }} {{name}}"'}
  - id: single
    command: echo '{{ '{{name}}' }} {{name}}'
  - id: ansi
    command: echo $'{{ '{{name}}' }} {{name}}'
  - id: heredoc
    command: |
      cat <<EOF
      {{ '{{name}}' }} {{name}}
      EOF
  - id: quoted
    command: |
      cat <<'EOF'
      {{ '{{name}}' }} {{name}}
      EOF
  - id: backticks
    command: echo `echo "{{ '{{name}}' }} {{name}}"`
  - id: inside
    command: echo "$(printf %s '{{ '{{name}}' }} {{name}}')"
  - {id: asked, prompt: "{{ '{{name}}' }} {{name}}"}
  - {id: other, command: "echo '{{\"\\n\"}} {{.x}}'"}
  - id: so
    condition: bare == '{{ "{{name}}" }} {{name}}' and bare.startswith({{ '{{' }})
    command: echo yes
output: "{{ '{{name}}' }} {{name}}"
"""
    workspace.write("r.yaml", text)
    workspace.write("answers.yaml", "- {match: '{{name}} Ada', reply: understood}\n")
    check = workspace.run("recipe", "check", "r.yaml", "--strict")
    assert (check.exit_code, check.stdout) == (0, "")
    result = workspace.run("recipe", "run", "r.yaml", "--json", "--agent", "scripted:answers.yaml").json
    outputs = {step["step_id"]: step["output"] for step in result["step_results"]}
    assert (outputs.pop("asked"), outputs.pop("other"), outputs.pop("so")) == (
        "understood",
        '{{"\\n"}} {{.x}}',
        "yes",
    )
    assert set(outputs.values()) == {"{{name}} Ada"}
    assert (result["summary"], result["warnings"]) == ("{{name}} Ada", [])


def test_a_value_in_env_that_bash_would_run_fails_the_step_and_does_not_run(workspace: Workspace) -> None:
    workspace.write(
        "r.yaml",
        "name: r\ncontext: {v: $(touch canary)}\nsteps:\n"
        '  - {id: a, command: "true", env: {BASH_ENV: "{{v}}"}, continue_on_error: true}\n'
        '  - {id: b, command: (( N > 3 )), env: {N: "a[{{v}}]"}, continue_on_error: true}\n'
        '  - {id: c, command: echo "$N", env: {N: "{{v}}"}}\n',
    )
    answer = workspace.run("recipe", "run", "r.yaml", "--show-output")
    assert "{{v}} in env BASH_ENV: bash expands this variable" in answer.stderr
    assert "{{v}} in env N: the value goes to a variable that the script calculates with" in answer.stderr
    assert "$(touch canary)" in answer.stdout
    assert not (workspace.path / "canary").exists()


def test_a_value_that_bash_cannot_have_is_told_once_for_the_run(workspace: Workspace) -> None:
    workspace.write(
        "r.yaml",
        "name: r\nsteps:\n  - {id: raw, command: 'printf \"a\\\\0b\"'}\n"
        "  - {id: b, command: ls -d .}\n  - {id: c, command: ls -d .}\n",
    )
    answer = workspace.run("recipe", "run", "r.yaml", "--json")
    assert answer.json["context"]["raw"] == "a\0b"
    assert answer.json["warnings"] == ["RECIPE_VAR_raw is not passed on to bash: its value holds a NUL byte"]


def test_variables_and_the_format_have_the_names_that_published_recipes_use(workspace: Workspace) -> None:
    workspace.write("r.yaml", "name: r\ncontext: {who: nobody}\nsteps: [{id: a, command: 'echo {{who}}'}]\n")
    answer = workspace.run("recipe", "run", "r.yaml", "--context", "who=Ada", "--format", "json")
    assert answer.json["context"]["a"] == "Ada"


def test_a_value_that_is_too_long_for_an_argument_says_how_to_hand_it_over(workspace: Workspace) -> None:
    recipe = """\
name: long
steps:
  - {id: make, command: 'head -c 300000 /dev/zero | tr "\\0" x', output: text}
  - {id: use, command: '/bin/echo {{text}}'}
"""
    workspace.write("long.yaml", recipe)
    answer = workspace.run("recipe", "run", "long.yaml")
    assert answer.exit_code == 1
    assert "fix: one argument of a program holds 128 KiB at most" in answer.stdout + answer.stderr
    workspace.write("long.yaml", recipe.replace("/bin/echo {{text}}", 'wc -c <<< "{{text}}"'))
    assert workspace.run("recipe", "run", "long.yaml", "-q").stdout.split() == ["300001"]


def test_output_in_the_letters_of_another_locale_is_told_with_the_locale_to_use(workspace: Workspace) -> None:
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: a, command: \"printf '\\\\xf6'\"}\n")
    old = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for env, fix in ((old, "use a UTF-8 locale, as in LC_ALL=C.UTF-8"), ({}, "print such data to a file")):
        (told,) = workspace.run("recipe", "run", "r.yaml", "--json", env=env).json["warnings"]
        assert told.endswith(f"no UTF-8 in 1 place; � stands there (fix: {fix})")
