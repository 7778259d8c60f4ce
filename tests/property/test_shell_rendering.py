"""Whatever a value holds and however a script quotes it, bash receives exactly that value.

Commands are generated from a small grammar that nests quotes, substitutions, heredocs, patterns and loops;
each is rendered with a hostile value and really run. It prints what it received, ended by NUL.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from amplihack.errors import TemplateError
from amplihack.recipes.foreign_braces import unsupported
from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.templates.bash import Quoting, read_script
from amplihack.recipes.templates.environment import plan_environment
from amplihack.recipes.templates.shell import hazards, render_shell

COMMANDS_PER_VALUE = 500
HEADER = "put() { printf '%s\\0' \"$1\"; }\nfull='<@>'; yes=1; shopt -s extglob\n"

HOSTILE = [
    "plain",
    "",
    " two  words ",
    "it's",
    'say "hi"',
    "'\"'\"'",
    "$(touch canary)",
    "`touch canary`",
    "; touch canary;",
    "x\ntouch canary\n",
    "&& touch canary",
    "| touch canary #",
    "$((canary++))",
    "a[$(touch canary)]",
    "${HOME}",
    "$RECIPE_VAR_v",
    "{{v}}",
    "EOF",
    "\nEOF\ntouch canary\n",
    "x\nEOF\n",
    "EOF)\ntouch canary\n",
    "EOFx; touch canary)",
    "\tEOF\n\t\tindented\n\ttouch canary",
    "\t\ttabs\n\tin front",
    "*",
    "/*/*",
    "[a-z]?",
    "~",
    "~root",
    "-n",
    "--help",
    "-e \\n",
    "\\",
    "\\\\",
    "\\n\\t\\0",
    "ends in backslash\\",
    "trailing newlines\n\n\n",
    "\n\nleading newlines",
    "!!",
    "!$",
    "#not a comment",
    "a#b",
    "&",
    "{a,b}",
    "{1..3}",
    "$'\\x41'",
    "%s%n%d",
    "é漢字🦀",
    "\udcff\udcfe\udc80 not utf-8",
    "\x01\x7f\x1b[31m\r\n",
    "\x01",
    "\x7f\x7f\x01\x01\x7f",
    ") esac ;; }",
    "]] )) fi done",
    "<<EOF\n<<'EOF'\n",
    "'; touch canary; '",
    '"; touch canary; "',
    "*/ @(a|b) +(x)",
    "a=b c=d",
    "${x:-$(touch canary)}",
    "/&/",
]


@dataclass(frozen=True)
class Sample:
    """A word in bash, and the text that it stands for, as what comes before and after each value."""

    text: str
    meaning: Callable[[str], str]


def _atoms() -> list[Sample]:
    def around(before: str, after: str) -> Callable[[str], str]:
        return lambda value: before + value + after

    return [
        Sample(text, around(before, after))
        for text, before, after in [
            ("{{v}}", "", ""),
            ('"{{v}}"', "", ""),
            ("'{{v}}'", "", ""),
            ("$'{{v}}'", "", ""),
            ('$"{{v}}"', "", ""),
            ("$'\\t{{v}}\\x21'", "\t", "!"),
            ('"a {{v}} b"', "a ", " b"),
            ("'a {{v}} b'", "a ", " b"),
            ("pre{{v}}post", "pre", "post"),
            ("{{ v }}.json", "", ".json"),
            ("\\{{v}}", "\\", ""),
            ("\\\\{{v}}", "\\", ""),
            ('"\\{{v}}"', "\\", ""),
            ("$'\\{{v}}'", "\\", ""),
            ('"\\\\{{v}}"', "\\", ""),
            ('"\\"{{v}}\\""', '"', '"'),
            ("\\'{{v}}\\'", "'", "'"),
            ('"it\'s {{v}}"', "it's ", ""),
            ("'say \"{{v}}\"'", 'say "', '"'),
            ('\'{"k": "{{v}}"}\'', '{"k": "', '"}'),
            ("{{{v}}}", "{", "}"),
            ('"{{{v}}}"', "{", "}"),
            ('"${nope:-{{v}}}"', "", ""),
            ("${nope:-{{v}}}", "", ""),
            ('${nope:-"{{v}}"}', "", ""),
            ("${nope:-'{{v}}'}", "", ""),
            ('"${nope:-"{{v}}"}"', "", ""),
            ("\"${nope:-'{{v}}'}\"", "'", "'"),
            ('"${yes:+a{{v}}b}"', "a", "b"),
            ('"${full/@/{{v}}}"', "<", ">"),
            ("\"${full/'@'/'{{v}}'}\"", "<", ">"),
            ('"${full//@/"{{v}}"}"', "<", ">"),
            ("'#'{{v}}", "#", ""),
            ("a#{{v}}", "a#", ""),
            ("\"$(: '{{v}}')\"{{v}}", "", ""),
        ]
    ]


ATOMS = _atoms()
STATEMENTS = [
    "printf '%s.' @",
    "printf '%s.' @ | cat",
    "(printf '%s.' @)",
    "{ printf '%s.' @; }",
    "if true; then printf '%s.' @; fi",
    "! false && printf '%s.' @",
    "case k in (k) printf '%s.' @;; esac",
    "case @ in a) ;& @) printf '%s.' @;; *) printf wrong;; esac",
    "for i in @; do printf '%s.' \"$i\"; done",
    "f() { printf '%s.' \"$1\"; }; f @",
    "function g { printf '%s.' \"$1\"; }; g @ 2>/dev/null",
    "x=@; printf '%s.' \"$x\"",
    "local_=1 x=@ y=2; printf '%s.' \"$x\"",
    "export Q=@; printf '%s.' \"$Q\"",
    "declare q=@; printf '%s.' \"$q\"",
    'declare "q"=@; printf \'%s.\' "$q"',
    "a=( x @ y ); printf '%s.' \"${a[1]}\"",
    "a=([1]=@); printf '%s.' \"${a[1]}\"",
    "a[1]=@; printf '%s.' \"${a[1]}\"",
    "[[ @ == @ ]] && printf '%s.' @",
    "[[ x{{v}}y =~ ^x{{v}}'y'$ ]] && printf '%s.' @",
    "[ @ = @ ] && printf '%s.' @",
    "cat <<< @.",
    "cat < <(printf '%s.' @)",
    "printf '%s.' @ # it's ( a comment with {{v}}\n",
    "echo $((1 << 2)) > /dev/null; printf '%s.' @",
    "set -- @; printf '%s.' \"$1\"",
    "while :; do printf '%s.' @; break; done",
    "until false; do printf '%s.' @; break; done",
    "printf '%s.' \\\n  @",
    "((1)) && printf '%s.' @",
    "IFS= read -r -d '' z < <(printf '%s\\0' @); printf '%s.' \"$z\"",
    "echo @ > /dev/null; : > /dev/null 2>&1; printf '%s.' @",
]
HEREDOCS = [
    ("cat <<EOF\n{{v}}.\nEOF\n", "", "."),
    ("cat <<'EOF'\n{{v}}.\nEOF\n", "", "."),
    ('cat <<"EOF"\na{{v}}b.\nEOF\n', "a", "b."),
    ("cat <<\\EOF\n{{v}}.\nEOF\n", "", "."),
    ("cat <<-EOF\n\t{{v}}.\n\tEOF\n", "", "."),
    ("cat <<-'EOF'\n\t{{v}}.\n\tEOF\n", "", "."),
    ("cat <<-'EOF'\n\t\tx\t{{v}}\n\ty.\n\tEOF\n", "x\t", "\ny."),
    ("cat <<'E F' - <<EOF\nignored {{v}}\nE F\n{{v}}abc.\nEOF\n", "", "abc."),
    ("cat <<EOF\n'it is \"{{v}}\n  EOF.\nEOF\n", "'it is \"", "\n  EOF."),
    ("cat <<EOF\n$(printf '%s.' '{{v}}')\nEOF\n", "", "."),
    ("cat <<EOF\n\\{{v}}.\nEOF\n", "\\", "."),
    ("cat <<EOF\n`printf '%s.' \"{{v}}\"`\nEOF\n", "", "."),
    ("cat <<EOF\n${nope:-{{v}}}.\nEOF\n", "", "."),
    ("cat <<EOF |\n{{v}}.\nEOF\ncat", "", "."),
    ("cat <<OUT\n$(cat <<'EOF'\n{{v}}.\nEOF\n)\nOUT\n", "", "."),
    ("cat <<OUT\n${nope:-$(cat <<'EOF'\n{{v}}.\nEOF\n)}\nOUT\n", "", "."),
    ("cat <<OUT\n$(cat <<'EOF'\n{\\\n\t{{v}}\\\nEOF.\nEOF\n)\nOUT\n", "{\t", "EOF."),
    ("(cat <<'EOF'\n{{v}}.\nEOF\n)", "", "."),
    ("{ cat; } <<'EOF' | cat\n{{v}}.\nEOF\n", "", "."),
]


_QUOTED_HEREDOC = re.compile(r"""<<-?['"\\\\]""")


def _statement(random_: random.Random, depth: int) -> Sample:
    """A statement that prints its meaning and a dot (or whatever ends a heredoc)."""
    if random_.random() < 0.25:
        text, before, after = random_.choice(HEREDOCS)
        return Sample(text, lambda value: before + value + after)
    word = _word(random_, depth - 1)
    text = random_.choice(STATEMENTS).replace("@", word.text)
    return Sample(text, lambda value: word.meaning(value) + ".")


def _word(random_: random.Random, depth: int) -> Sample:
    choice = random_.random()
    if depth <= 0 or choice < 0.45:
        return random_.choice(ATOMS)
    if choice < 0.6:
        first, second = _word(random_, 0), _word(random_, depth - 1)
        return Sample(first.text + second.text, lambda value: first.meaning(value) + second.meaning(value))
    inner = _statement(random_, depth)
    if choice < 0.9 or _QUOTED_HEREDOC.search(inner.text):  # which is refused in backticks
        around = random_.choice(('"$(@\n)"', '"$(@\n)"', '"${nope:-$(@\n)}"', '"$(cat <( @\n))"'))
        return Sample(around.replace("@", inner.text), inner.meaning)
    escaped = inner.text.replace("\\", "\\\\").replace("`", "\\`")
    return Sample(f'"`{escaped}\n`"', inner.meaning)


def _commands(seed: int, number: int) -> Iterator[Sample]:
    random_ = random.Random(seed)
    for _ in range(number):
        word = _word(random_, random_.choice((0, 0, 1, 1, 1, 2, 3)))
        yield Sample(f"put {word.text}\n", word.meaning)


def _tokens() -> Callable[[], str]:
    numbers = itertools.count()
    return lambda: f"fresh_{next(numbers)}"


def _run(folder: Path, value: str, sources: list[str]) -> list[bytes]:
    """What each source printed, every one read by the same bash with the value in its environment."""
    for number, source in enumerate(sources):
        (folder / f"{number}.sh").write_bytes(source.encode("utf-8", "surrogateescape"))
    driver = f"{HEADER}for i in {{0..{len(sources) - 1}}}; do . ./$i.sh; printf '\\0'; done\n"
    environment = {
        b"PATH": os.environb[b"PATH"],
        b"LC_ALL": b"C.UTF-8",
        b"RECIPE_VAR_v": value.encode("utf-8", "surrogateescape"),
    }
    finished = subprocess.run(
        ["bash", "-c", driver], cwd=folder, env=environment, capture_output=True, timeout=300, check=False
    )
    assert len(finished.stdout) > 0, finished.stderr
    return finished.stdout.split(b"\0\0")[:-1]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_every_generated_command_receives_the_value_byte_for_byte(number: int, tmp_path: Path) -> None:
    value = HOSTILE[number]
    samples = list(_commands(number, COMMANDS_PER_VALUE))
    sources = [render_shell(sample.text, {"v": value}, token=_tokens()).source for sample in samples]
    before = {f"{index}.sh" for index in range(len(sources))}
    received = _run(tmp_path, value, sources)
    for index, (sample, source) in enumerate(zip(samples, sources, strict=True)):
        expected = sample.meaning(value).encode("utf-8", "surrogateescape")
        got = received[index] if index < len(received) else b"(nothing)"
        assert got == expected, f"{sample.text}\n--- became ---\n{source}"
    assert {path.name for path in tmp_path.iterdir()} == before, "a value was executed"


def test_values_of_a_megabyte_arrive_through_a_file(tmp_path: Path) -> None:
    value = "it's $(touch canary) `x` \\ \udcff\n" * 35_000 + "\n\n"
    samples = list(_commands(1_000, 40))
    for number, sample in enumerate(samples):
        script = render_shell(sample.text, {"v": value}, token=_tokens())
        plan = plan_environment({"v": value}, script, inherited_bytes=4_000, budget=1_000_000)
        source = f"{plan.preamble}{HEADER}{script.source}"
        (tmp_path / "script.sh").write_bytes(source.encode("utf-8", "surrogateescape"))
        (tmp_path / "value").write_bytes(plan.files["RECIPE_VAR_v"].encode("utf-8", "surrogateescape"))
        finished = subprocess.run(
            ["bash", "script.sh"],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "RECIPE_VAR_v_FILE": "value"},
            capture_output=True,
            check=False,
        )
        expected = sample.meaning(value).encode("utf-8", "surrogateescape")
        assert finished.stdout == expected + b"\0", f"{number}: {sample.text}"
    assert {path.name for path in tmp_path.iterdir()} == {"script.sh", "value"}


def test_bash_accepts_every_rendered_command_that_it_accepts_with_a_plain_word(tmp_path: Path) -> None:
    samples = list(_commands(2_000, 3_000))
    plain = [_with_plain_words(sample.text) for sample in samples]
    assert _accepted(tmp_path, plain) == ""
    for value in ("it's \"a", "EOF\nx)", "$(("):
        rendered = [render_shell(sample.text, {"v": value}, token=_tokens()).source for sample in samples]
        assert _accepted(tmp_path, rendered) == ""


def _with_plain_words(template: str) -> str:
    pieces, position = [], 0
    for found in find_placeholders(template):
        pieces += [template[position : found.start], "word"]
        position = found.end
    return "".join([*pieces, template[position:]])


def _accepted(folder: Path, sources: list[str]) -> str:
    """What `bash -n` says to all of them, each in a function of its own."""
    script = HEADER + "".join(f"f{number}() {{\n{source}\n}}\n" for number, source in enumerate(sources))
    path = folder / "all.sh"
    path.write_bytes(script.encode("utf-8", "surrogateescape"))
    # `extglob` changes how bash reads a script, and `-n` runs nothing that could switch it on.
    finished = subprocess.run(["bash", "-O", "extglob", "-n", str(path)], capture_output=True, check=False)
    return finished.stderr.decode("utf-8", "replace")


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@given(seed=st.integers(0, 10_000), one=TEXTS, other=TEXTS)
def test_outside_quoted_heredocs_the_script_is_the_same_for_every_value(
    seed: int, one: str, other: str
) -> None:
    (sample,) = _commands(seed, 1)
    if any(place.quoting is Quoting.QUOTED_HEREDOC for place in read_script(sample.text).places):
        return
    first = render_shell(sample.text, {"v": one}, token=_tokens())
    second = render_shell(sample.text, {"v": other}, token=_tokens())
    assert first.source == second.source
    assert (first.variables, second.variables) == ({"RECIPE_VAR_v": one}, {"RECIPE_VAR_v": other})


_WORDS = """
    {{v}} {{v.a}} {{v['k']}} ' " $' $" ` $( ) $(( )) (( ${ } ${v: ${v/ / # % [[ ]] [ ] -eq -v =~ ==
    case in esac ;; ;& | || & && ; < > << <<- <<< <( >( EOF 'EOF' \\EOF \\ \\\\ for do done if then
    fi { } ! function f() a= a=( a[ declare -A -i local read -p eval let export printf coproc time
    @( *( ~ $ $1 word é 🦀
"""
FRAGMENTS = st.sampled_from([*_WORDS.split(), "{{ v }}", "\n", "\t", "\r", " ", "\udcff"])


@settings(max_examples=600)
@given(st.one_of(st.text(), st.lists(FRAGMENTS, max_size=30).map(" ".join), st.lists(FRAGMENTS).map("".join)))
@example("{{v}}" + '"$(' * 500)
@example("{{v}}" + "${v:-" * 500)
@example("{{v}}" + "$((" * 5_000)
@example("{{v}}" + "(" * 5_000)
@example("{{v}}" + "`\\`" * 500)
@example("{{v}}" + "@(" * 500)
def test_any_text_renders_or_is_refused_with_a_line(text: str) -> None:
    for hazard in hazards(text):
        assert 1 <= hazard.line <= text.count("\n") + 1
    assert all(text[found.start :].startswith(found.text) for found in unsupported(text))
    try:
        script = render_shell(text, {"v": "$(touch canary)"}, token=_tokens())
    except TemplateError as error:
        assert 1 <= error.line <= text.count("\n") + 1
    else:
        assert find_placeholders(text) or script.source == text
