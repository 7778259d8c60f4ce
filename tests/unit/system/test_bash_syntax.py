"""Bash judges scripts by its own grammar: many at once, and none because of its neighbours."""

from __future__ import annotations

import random
import subprocess

import pytest

from amplihack.recipes.check.plain_scripts import is_plain
from amplihack.system.bash_program import BASH
from amplihack.system.bash_syntax import syntax_faults

RIGHT = [
    "",
    "\n",
    "# only a comment",
    "echo a # and a comment",
    "echo a \\",
    "exit 0",
    "return 0 2>/dev/null || exit",
    "if true; then\n  echo x\nfi",
    "cat <<EOF\nit's \"open\nEOF",
    "cat <<'EOF'\n$( ` ' \"\nEOF\n",
    "cat <<-A - <<B\n\tone\n\tA\ntwo\nB\n",
    "cat <<EOF\nx\nEOF\ncat <<EOF\ny\nEOF",
    "x=$((1 << 2)); cat <<< word",
    "f() { echo }; }\nf",
    "case x in\n  (a) echo ;;\n  b|c) ;;\nesac",
    "for ((i = 0; i < 3; i++)); do echo $i; done",
    "[[ $x =~ (;|&) ]] && echo 'it''s'",
    "shopt -s extglob\nls !(*.txt)",
    'alias q="if"\necho',
    "echo $'it\\'s'",
    "time ! true | cat",
    "coproc cat; wait",
    "select x in a b; do break; done",
    "(cd / && ls) &",
    'echo {a,b} ${x:-"}"} `echo "a"`',
    "function g { :; }",
    'while read -r l; do echo "$l"; done < <(ls)',
    "arr=(1 2 [5]=x)\ndeclare -A m=([a]=b)",
]
WRONG = [
    "if true; then\n  echo x",
    "echo a\ndone",
    'echo "it',
    "echo it's",
    "x=$(ls",
    "echo `ls",
    "echo a; }",
    "{ echo a",
    "ls !(*.txt)",
    "case x in a) echo",
    "echo a &&",
    "for x in a; echo $x; done",
    "(echo a",
    "x=(1 2",
    "echo $((1 + ",
    "if [ a ]; then; echo; fi",
]


def test_what_is_right_is_right_alone_and_beside_others() -> None:
    for script in RIGHT:
        assert syntax_faults([script]) == {}, script
    assert syntax_faults(RIGHT) == {}
    assert syntax_faults(RIGHT[::-1]) == {}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_found_wherever_it_stands(wrong: str) -> None:
    assert set(syntax_faults([wrong])) == {0}
    for scripts in (
        [*RIGHT, wrong],
        [wrong, *RIGHT],
        [wrong, "echo a", wrong],
        [*RIGHT, wrong, *RIGHT, wrong],
    ):
        found = syntax_faults(scripts)
        assert [scripts[number] for number in found] == [each for each in scripts if each == wrong]
        assert all(fault.certain for fault in found.values())


def test_two_mistakes_do_not_make_up_for_each_other() -> None:
    random.seed(7)
    for _ in range(20):
        one, two = random.choice(WRONG), random.choice(WRONG)
        assert set(syntax_faults([one, "echo between", two])) == {0, 2}


def test_the_line_and_the_words_of_bash_are_told() -> None:
    fault = syntax_faults(["echo a\n\nfi\necho b"])[0]
    assert (fault.line, fault.what) == (3, "syntax error near unexpected token `fi'")
    assert syntax_faults(["if true\nthen echo\n"])[0].line == 3  # where the file ends
    assert "extglob" in syntax_faults(["ls !(a)"])[0].what


def test_a_heredoc_without_its_end_is_a_warning_of_bash() -> None:
    fault = syntax_faults(["cat <<EOF\nx\n  EOF\necho never"])[0]
    assert not fault.certain
    assert "wanted `EOF'" in fault.what


def test_nothing_is_run(tmp_path: object) -> None:
    assert syntax_faults([f"touch {tmp_path}/ran", "}; echo", f"if true; then :; fi; touch {tmp_path}/ran"])
    assert not list(type(tmp_path)(tmp_path).iterdir())  # type: ignore[attr-defined, call-arg]  # a path


# plain scripts


@pytest.mark.parametrize(
    "script",
    [
        "",
        "echo hi",
        'echo "{{task}} for {{ step.name }}" | tee log-1.txt',
        "# comment\nmake -j2 all > out.txt 2>&1 && echo done;\n",
        '[ -f x ] || cd "$HOME/{{dir}}"',
        "A=1 B='it is' cmd --flag=x | sort -u >> $OUT",
    ],
)
def test_simple_commands_need_no_bash(script: str) -> None:
    assert is_plain(script)


@pytest.mark.parametrize("script", [*WRONG, "if true; then echo; fi", "echo a;;", "a | | b", "> 2>x", "a[ 1"])
def test_all_else_is_left_to_bash(script: str) -> None:
    assert not is_plain(script)


WORDS = """if then fi echo a=1 a+=b [ ] != ! | || && ; {{x}} # > < >> 2> >&1 2>&1 * ? ~ % ^ @ - = in do done
for time function case coproc { } ( ) & : . , / + select [[ ]] x 1 2 $a ${b} $1 ' " \\ ` $"""
ATOMS = [*WORDS.split(), '"x y"', "'z'", "\n", "\t", " "]


def test_whatever_is_called_plain_bash_can_read() -> None:
    chance = random.Random(11)
    scripts = {
        "".join(chance.choice(ATOMS) + " " * chance.randrange(2) for _ in range(chance.randint(1, 9)))
        for _ in range(8_000)
    }
    plain = sorted(script.replace("{{x}}", '"$x"') for script in scripts if is_plain(script))
    assert len(plain) > 500
    # each in a shell of its own, where the rest of the script is read after execution was turned off
    program = "".join(f'( eval "set -n\n"{quoted(each)} ) 2>&- || echo {n}\n' for n, each in enumerate(plain))
    answer = subprocess.run([BASH], input=program, capture_output=True, text=True, check=True)
    assert [plain[int(number)] for number in answer.stdout.split()] == []


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
