"""Values that begin with `-`: told where a known program takes them for an option."""

from __future__ import annotations

import pytest

from amplihack.recipes.templates.bash.option_values import mistakable


def told(script: str, value: str = "-rf", name: str = "v") -> list[str]:
    return [found.program for found in mistakable(script, {(name,): value, ("other",): "x"})]


@pytest.mark.parametrize(
    ("script", "program"),
    [
        ("rm {{v}}", "rm"),
        ('rm "{{v}}"', "rm"),
        ("rm '{{v}}' x", "rm"),
        ("rm -f {{v}}", "rm"),
        ("sudo rm -f {{v}}", "rm"),
        ("/bin/rm x {{v}}", "rm"),
        ("git checkout {{v}}", "git"),
        ("git -C x checkout {{v}}", "git"),
        ("grep {{v}} f", "grep"),
        ("grep -rn {{v}} .", "grep"),
        ("grep --color=never {{v}} .", "grep"),
        ("tar cf out.tar {{v}}", "tar"),
        ("python3 {{v}}", "python3"),
        ("ssh {{v}} ls", "ssh"),
        ("find {{v}} -name x", "find"),
        ("if true; then cat {{v}}; fi", "cat"),
        ("x=$(cat {{v}})", "cat"),
        ("cat f | head {{v}}", "head"),
        ("pip install {{v}}", "pip"),
    ],
)
def test_a_word_that_is_the_value_alone_is_told(script: str, program: str) -> None:
    assert told(script) == [program]


@pytest.mark.parametrize(
    "script",
    [
        "rm -- {{v}}",
        "rm -f -- x {{v}}",
        "rm ./{{v}}",
        "rm x{{v}}",
        "echo {{v}}",
        "printf '%s' {{v}}",
        "[ {{v}} = x ]",
        "test -n {{v}}",
        "git commit -m {{v}}",
        "git commit --message {{v}}",
        "git commit --message={{v}}",
        "grep -e {{v}} f",
        "head -n {{v}} f",
        "tar xf {{v}}",
        "tar -C {{v}} -xf x",
        "python3 -c {{v}}",
        "curl -d {{v}} http://127.0.0.1",
        "cat <<< {{v}}",
        "cat < {{v}}",
        "cat <<EOF\n{{v}}\nEOF",
        "some-tool {{v}}",
        "rm() { :; }; rm {{v}}",
        "x={{v}}",
        "# rm {{v}}",
        "case {{v}} in -rf) echo;; esac",
        "for f in {{v}}; do echo; done",
    ],
)
def test_what_no_program_takes_for_an_option_is_not_told(script: str) -> None:
    assert told(script) == []


@pytest.mark.parametrize("value", ["", "x", "-", "-5", "- 5", " -rf", "x-rf"])
def test_only_values_that_begin_like_an_option_count(value: str) -> None:
    assert told("rm {{v}}", value) == (["rm"] if value == "- 5" else [])


@pytest.mark.parametrize("name", ["flags", "rm_flags", "extraArgs", "options", "tar-opts"])
def test_variables_that_hold_options_by_their_name_do_not_count(name: str) -> None:
    assert told(f"rm {{{{{name}}}}} x", name=name) == []


def test_each_variable_is_told_once_with_a_fix_that_fits() -> None:
    found = list(mistakable("rm {{v}}\nrm {{v}}\ngrep {{w}} f", {("v",): "-r", ("w",): "--help"}))
    assert [(each.path, each.fix) for each in found] == [
        (("v",), "write -- before it, or ./{{v}} for a file"),
        (("w",), "write -e {{w}} for a pattern, or -- before it"),
    ]
