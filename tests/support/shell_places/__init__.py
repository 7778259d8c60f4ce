"""Places in a bash script times values that want to be run: the pairs that rendering is tried with.

A pair is a statement, a way to write the placeholder in it, something around it, and a value. The statements
come from bash's grammar and manual: every place where a word is expanded, evaluated or assigned, and every
way that a value can take through variables, commands, files and arguments to a place where bash evaluates it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CANARY = "canary"
OTHER = "a[$(touch canary)]"  # the value of {{w}}, for places that take two

# How a value is written, and what stands for it when it is printed (nothing where newlines may be lost).
FORMS = [
    ("{{v}}", "@"),
    ('"{{v}}"', "@"),
    ("'{{v}}'", "@"),
    ("$'{{v}}'", "@"),
    ('$"{{v}}"', "@"),
    ("pre{{v}}", "pre@"),
    ("{{v}}post", "@post"),
    ("\"{{v}}\"''", "@"),
    ('"${nope:-{{v}}}"', "@"),
    ('"$(printf %s {{v}})"', ""),
    ("$(echo {{v}})", ""),
    ('"`printf %s {{v}}`"', ""),
]
# What `cat` would do, without another process: there are a million of them.
_TAKE = "IFS= read -rd '' t_"
_GIVE = 'printf %s "$t_"'
AROUND = [
    "@",
    "f_() {\n@\n}\nf_",
    "(\n@\n)",
    "{ @\n}",
    "if true; then\n@\nfi",
    "for i_ in 1; do\n@\ndone",
    "case k in (k)\n@\n;; esac",
    "true &&\n{ @\n}",
    f"{_TAKE} < <( @\n); {_GIVE}",
    f"{{ @\n}} | {{ {_TAKE}; {_GIVE}; }}",
]
AROUND_LOSING_NEWLINES = [
    'x_=$(\n@\n); printf %s "$x_"',
    f"{_TAKE} <<OUT; {_GIVE}\n$(\n@\n)\nOUT",
    f"{_TAKE} <<-OUT; {_GIVE}\n\t$(\n@\n)\n\tOUT",
]

# What a script may have done before: guards work in any state of the shell.
STATES = [
    *("IFS=i", "IFS=$RECIPE_VAR_v", "IFS=.xb", "IFS=0123456789", "IFS=", "unset IFS", "set -u", "set -f"),
    *("set -euo pipefail; shopt -s inherit_errexit lastpipe", "set -o posix", "shopt -s nocasematch"),
    *("shopt -u extglob", "shopt -s nullglob", "BASH_COMPAT=4.2", "shopt -s assoc_expand_once", "LC_ALL=C"),
    "printf() { builtin printf L; }; echo() { builtin echo L; }; cat() { :; }; exit() { :; }; local() { :; }",
]

_CODE = [
    *("$(touch canary)", "`touch canary`", "; touch canary;", "\ntouch canary\n", "<(touch canary)"),
    *("| touch canary", "& touch canary &", "$(touch canary >&2)"),
]
_DISGUISES = [
    *(
        "@",
        "a[@]",
        "x[@]",
        "m[@]",
        "HOME[@]",
        "RECIPE_VAR_v[@]",
        "1+a[@]",
        "a[@]=1",
        "@=1",
        "x=a[@]",
        "!a[@]",
    ),
    *("#a[@]", "(@)", "([0]=@)", "([@]=1)", "(a[@])", "x)@(", "-va[@]", "-v a[@]", "-pa[@]", "-aa[@]", "-C@"),
    *(
        "-i@",
        "'@'",
        '"@"',
        "'@",
        '"@',
        "${x:-@}",
        "${a[@]}",
        "$((a[@]))",
        "{@,@}",
        "@\nEOF\n",
        "EOF\n@",
        ")@(",
    ),
    *(
        "OUT\n@\nOUT",
        "\tOUT\n@",
        "OUT2\n@\nOUT2",
        "\tx\n\tEOF\n@",
        "1\n@",
        "0 @",
        "*@",
        "~@",
        "\\@",
        "@\\",
        "]@[",
    ),
    *(
        "a]@",
        "a]=@",
        "]+b+m[@",
        "}@{",
        "))@((",
        "]]@[[",
        "fi;@",
        "done;@",
        "esac;@",
        "\x01@",
        "\n@",
        "a b @",
        "=@",
        "+=@",
    ),
]
_PLAIN = [
    *("", "1", "-1", "plain", "two  words", "-n", "-v", "-", "--", "-a", "2", "EOF", "é漢", "\udcff", "a=b"),
    *("(x)", "\t\tx", "x\n", "[a-z]?", "!!", "\\", "%s", "&", "b", "n", "x"),
    *("RECIPE_VAR_w", "RECIPE_VAR_v", "RECIPE_VAR_w[0]", "RECIPE_VAR_w+1"),  # they lead to other values
]
_TABLES = Path(__file__).parent


@dataclass(frozen=True)
class Pair:
    """A script with {{v}} in it, and what it prints, with @ for the value; None where that is not known."""

    script: str
    printed: str | None


def statements(name: str) -> list[str]:
    """The statements of a table, with `§` for the value."""
    escapes = {"\\\\n": "\\\n", "\\\\0": "\\0", "\\n": "\n", "\\t": "\t"}
    lines = (_TABLES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [re.sub(r"\\\\[n0]|\\[nt]", lambda found: escapes[found.group()], line) for line in lines]


EVALUATED = [each for name in ("evaluated", "flows", "built", "computed") for each in statements(name)]
PRINTED = statements("printed")
# Ways of a value into the variable `n`, and what bash may evaluate of it: each way leads to each of them.
SOURCES, SINKS = statements("sources"), statements("sinks")


def value(random_: random.Random) -> str:
    """A value that wants to be run, or one that is only awkward."""
    if random_.randrange(6) == 0:
        return random_.choice(_PLAIN)
    text = random_.choice(_DISGUISES).replace("@", random_.choice(_CODE))
    return text + random_.choice(_PLAIN) if random_.randrange(10) == 0 else text


def pairs(random_: random.Random, number: int) -> Iterator[Pair]:
    for _ in range(number):
        if random_.randrange(4):
            form, _printed = random_.choice(FORMS)
            around = random_.choice(AROUND + AROUND_LOSING_NEWLINES)
            state = f"{random_.choice(STATES)}\n" if random_.randrange(4) == 0 else ""
            yield Pair(state + around.replace("@", evaluating(random_).replace("§", form)), None)
        else:
            form, printed = random_.choice([form for form in FORMS if form[1]])
            around = random_.choice(AROUND)
            yield Pair(around.replace("@", _filled(random_.choice(PRINTED), form)), printed)


def evaluating(random_: random.Random) -> str:
    """A statement that evaluates a value, or a way that one takes to where it is evaluated."""
    if random_.randrange(2):
        return random_.choice(EVALUATED)
    return f"b={{{{w}}}}; {random_.choice(SOURCES)}\n{random_.choice(SINKS)}"


def _filled(statement: str, form: str) -> str:
    return statement.replace("§", form)
