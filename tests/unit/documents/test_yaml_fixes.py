"""Every way to break YAML that people know is answered with how to write it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplihack.documents import read_document
from amplihack.errors import DocumentError

STEP = "steps:\n  - id: a\n"


def refused(text: str) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        read_document(text, "f.yaml")
    return caught.value


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        # what begins with a sign of YAML
        ("command: {{x}}", "needs quotes: command: '{{x}}'"),
        ("condition: {{x}} == 1", "needs quotes: condition: '{{x}} == 1'"),
        ("command: {{x}} --all 'y'", "needs quotes: command: \"{{x}} --all 'y'\""),
        ("foreach: [{{x}}, b]", "around each placeholder inside brackets: '{{x}}'"),
        ("command: @foo", "command: '@foo'"),
        ("command: `date`", "command: '`date`'"),
        ("command: %foo", "command: '%foo'"),
        ("command: *.txt", "command: '*.txt'"),
        ("command: && ls", "command: '&& ls'"),
        ("command: *all of it", "command: '*all of it'; to repeat a value, define it first with &all"),
        ("command: ? ls", "command: '? ls'"),
        ("command: ! grep x y", "command: '! grep x y'"),
        ("condition: !done", "condition: '!done'"),
        ("condition: !(a and b)", "or write `not`: condition: '!(a and b)'"),
        ("command: | ls", "on the lines below, indented, or put quotes around it: command: '| ls'"),
        ("command: > ls", "command: '> ls'"),
        ("command: - foo", "command: '- foo'"),
        ("command: [ -f x ] && ls", "command: '[ -f x ] && ls'"),
        ("command: [[ -f x ]] && ls", "command: '[[ -f x ]] && ls'"),
        ('command: "foo" bar', "command: '\"foo\" bar'"),
        ("condition: 'a' in b", "condition: \"'a' in b\""),
        # colons, quotes, escapes
        ("command: echo a: b", "command: 'echo a: b'"),
        ("command: echo foo:", "command: 'echo foo:'"),
        ("command: echo \"a: b\" 'c'", "command: 'echo \"a: b\" ''c'''"),
        ("prompt: 'don't'", 'use double quotes: "don\'t"'),
        ('command: "grep \\d x"', "put single quotes around the value"),
        ('command: "C:\\Users"', "put single quotes around the value"),
        ('command: "echo', "close the quote that opens on line 3"),
        ("command:ls\n    env: {}", "put a space behind the colon: `command: ls`"),
        ("command ls\n    env: {}", "put a colon behind `command` on line 3: `command: ls`"),
        ("env: {a: 1\n  - id: b", "close the bracket of line 3"),
        ("env: {a: 1 b: 2}", "put commas between the parts"),
        # indentation
        (" command: ls", "indent `command:` like `id:` on line 2, with 4 blanks"),
        ("command: |\n    ls\n    pwd", "indent it further than line 3"),
        ("command: |\n        ls\n      pwd", "every line of the block on line 3"),
        ("- id: b", "put the dash under the dash of line 2, behind 2 blanks"),
        ("command: cat <<EOF\nfoo\nEOF", "or indent it, if it belongs to the text above"),
    ],
)
def test_a_line_of_a_step_that_yaml_reads_otherwise(line: str, fix: str) -> None:
    assert fix in refused(f"{STEP}    {line}\n").fix


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("steps\n  - id: a\n", "put a colon behind `steps` on line 1: `steps:`"),
        ("name: x\nsteps\n  - id: a\n", "put a colon behind `steps` on line 2: `steps:`"),
        ("steps:\n  - id a\n    command: ls\n", "put a colon behind `id` on line 2: `id: a`"),
        ("name = x\nsteps: []\n", "write a colon for the = on line 1: `name: x`"),
        ("steps:\n  - id: a\n    command= ls -l\n", "write a colon for the =: `command: ls -l`"),
        (
            "steps:\n  - id: a\n    command:\u00a0ls\n",
            "a plain space for the U+00A0 behind the colon",
        ),
        ("name x\nsteps: []\n", "put a colon behind `name` on line 1: `name: x`"),
        (
            "steps:\n  - id\uff1a a\n    command: ls\n",
            "write a plain colon and a space for the",
        ),
        ("```yaml\nname: x\n```\n", "remove this line: it belongs to Markdown"),
        ("steps:\n  -\tid: a\n    command: ls\n", "indent with spaces"),
        ("steps:\n\t- id: a\n", "indent with spaces"),
        ("steps:\n  - id: a\n  \tcommand: ls\n", "indent with spaces"),
        ("steps:\n  - id: a\n   command: ls\n", "indent it like line 2, with 4 blanks"),
        ("steps:\n  - id: a\n - id: b\n", "put the dash under the dash of line 2, behind 2 blanks"),
        ("steps:\n  - id: a\n    k: v\n  id: b\n    k: v\n", "begin it with a dash, as line 2 does"),
        ("steps:\n  - id:a\n    command: ls\n", "put a space behind the colon on line 2: `id: a`"),
        ("steps:\n  -id: a\n   command: ls\n", "put a space behind the dash on line 2: `- id:`"),
        ("steps:\n\u00a0 - id: a\n    command: ls\n", "line 2 is indented with U+00A0, which is no space"),
        ("steps:\n  - id: a\n\u3000 command: ls: x\n", "line 3 is indented with U+3000"),
        ("a: [{b: @foo, c: 1}]\n", "put quotes around it: '@foo'"),
        ("a: {b: %x}\n", "put quotes around it: '%x'"),
        ("a: [{b: '{{x}}', c: do {{y}}}]\n", "each text with a placeholder inside brackets: '… {{y}}'"),
        ("- {{x}}\n", "needs quotes: - '{{x}}'"),
        ("%YAML 3.0\n---\na: 1\n", "remove the line that begins with %"),
        ("a: [1, 2\n", "close the bracket"),
        ("a: [\n", "the bracket that opens on line 1"),
        ("a:\n  b: {\n\n", "the bracket that opens on line 2"),
        ("? [a]\n: b\n", "use a word as key"),
    ],
)
def test_a_file_that_yaml_cannot_read(text: str, fix: str) -> None:
    assert fix in refused(text).fix


def test_no_fix_repeats_an_address_which_may_hold_a_password() -> None:
    error = refused("url: https://me:s3cret@host/x: y\n")
    assert "s3cret" not in error.fix
    assert "url: '…'" in error.fix


def test_a_sign_in_front_of_a_number_makes_a_text_of_it() -> None:
    assert refused("a: ! b\n").fix
    assert read_document("a: ! 12\n", "f").root


@given(st.text(alphabet="ab:-?,[]{}#&*!|>'\"%@` \n\t1\\", max_size=40))
def test_whatever_is_refused_has_a_fix(text: str) -> None:
    try:
        read_document(text, "f")
    except DocumentError as error:
        assert error.fix
