"""Scripts that are easy to misread. Letters name the expected places, in order:

b bare, d double quotes, s single quotes, a $'...', h heredoc, q quoted heredoc, n arithmetic, c comment.
"""

from __future__ import annotations

import subprocess

import pytest

from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.templates.bash import Quoting, read_script, word_roles
from amplihack.recipes.templates.bash.command_names import RESERVED
from amplihack.recipes.templates.shell import render_shell

LETTERS = {
    Quoting.BARE: "b",
    Quoting.DOUBLE: "d",
    Quoting.SINGLE: "s",
    Quoting.ANSI: "a",
    Quoting.HEREDOC: "h",
    Quoting.QUOTED_HEREDOC: "q",
    Quoting.ARITHMETIC: "n",
    Quoting.COMMENT: "c",
}

TRICKY = [
    ("""echo "it's {{x}}" {{x}} 'say "{{x}}"' """, "dbs"),
    ("""echo \\'{{x}}\\' \\"{{x}}\\" "\\"{{x}}" """, "bbd"),
    ("echo a\\\n{{x}} \\\\{{x}} \\{{x}}", "bbb"),
    ('echo "$(echo "{{x}}" \'{{x}}\' {{x}})" {{x}}', "dsbb"),
    ("echo `echo {{x}} \\`echo \"{{x}}\"\\` '{{x}}'` {{x}}", "bdsb"),
    ('echo "`echo {{x}}`{{x}}" {{x}}', "bdb"),
    ("echo $(echo a # it's ) a comment {{x}}\n) {{x}}", "cb"),
    ("echo a#{{x}} #{{x}}\necho {{x}}", "bcb"),
    ("echo $# ${#x} ${#a[@]} {{x}} # {{x}}", "bc"),
    ("x=$(case a in a) echo {{x}};; (b) echo '{{x}}';; esac) y={{x}}", "bsb"),
    ("case $x in 'a b') ;; {{x}}|\"{{x}}\") echo {{x}};& *) ;;& esac; echo {{x}}", "bdbb"),
    ("x=$(case a in\n  esac) ; echo {{x}}", "b"),
    ("x=$(case a in a) case b in b) echo {{x}};; esac;; esac)\necho {{x}}", "bb"),
    ("echo $( (echo {{x}}); (echo '{{x}}') ) {{x}}", "bsb"),
    ("echo $((echo {{x}}); echo '{{x}}') {{x}}", "bsb"),
    ("((1 + (2) )) && echo {{x}}", "b"),
    ("( (echo {{x}}) ) ; ((echo {{x}}) )", "bb"),
    ("echo $(( (1 + {{x}}) * 2 )) $[ {{x}} ] {{x}}", "nnb"),
    ("echo $((16#ff << 2)) {{x}} $((x<{{x}}))", "bn"),
    ("for ((i = 0; i < {{x}}; i++)); do echo {{x}}; done", "nb"),
    ("for i in {{x}} b; do echo '{{x}}'; done; echo {{x}}", "bsb"),
    ("for i\ndo echo {{x}}; done", "b"),
    ("select s in {{x}}; do break; done < /dev/null; echo {{x}}", "bb"),
    ("if [[ -n {{x}} && ! ( a < {{x}} || b > c ) ]] then echo {{x}}; fi", "bbb"),
    ("[[ $x =~ ^(a|b c){{x}}[[:space:]]$ ]] && echo {{x}}", "bb"),
    ("[[ $x =~ a|{{x}} ]] || echo '{{x}}'", "bs"),
    ("[[ $x == @(a|{{x}})* ]]; echo {{x}}", "bb"),
    ('[[ a -nt {{x}} ]] && echo "{{x}}"\n[[ a == b # comment\'s {{x}}\n]] ; echo {{x}}', "bdcb"),
    ("cat <<A; echo {{x}}\nit's {{x}} \"{{x}}\nA\necho '{{x}}'", "bhhs"),
    ("cat <<'A' <<B <<-\"C\"\n{{x}}\nA\n{{x}}\nB\n\t{{x}}\n\tC\necho {{x}}", "qhqb"),
    ("cat <<EOF | tr a b > {{x}} # it's <<NO\n{{x}}\nEOF\necho {{x}}", "bhb"),
    ("cat <<EOF\n$(echo '{{x}}' \"{{x}}\" {{x}}) ${v:-{{x}}} `echo {{x}}` \\$({{x}}\nEOF\n", "sdbhbh"),
    ("cat <<EOF\n  EOF\n EOF {{x}}\nEOFx\nEOF\necho {{x}}", "hb"),
    ("cat <<EOF\na\\\nEOF\n{{x}}\nEOF\necho {{x}}", "hb"),
    ("cat <<\\EOF\n{{x}} $(\nEOF\necho {{x}}", "qb"),
    ('cat <<E"O"F\n{{x}} \'\nEOF\necho {{x}}', "qb"),
    ("cat <<'E F'\n{{x}}\nE F\necho {{x}}", "qb"),
    ("cat <<EOF-1\nEOF\n{{x}}\nEOF-1\necho {{x}}", "hb"),
    ("cat <<EOF;echo {{x}}\n{{x}}\nEOF\n", "bh"),
    ('cat <<EOF "a\n{{x}}" b\n{{x}} it\'s\nEOF\necho {{x}}', "dhb"),
    ("x=\"$(cat <<'EOF'\nit's ) {{x}}\nEOF\n)\" y='{{x}}'", "qs"),
    ("x=$(cat <<EOF\n{{x}} ) \" '\nEOF\n)\necho {{x}}", "hb"),
    ("diff <(sort {{x}}) >(cat '{{x}}') {{x}}", "bsb"),
    ("while read -r l; do echo {{x}}; done < <(ls {{x}})", "bb"),
    ("cat <<< {{x}}; cat <<<\"{{x}}\" <<<'{{x}}'\necho {{x}}", "bdsb"),
    ("echo $'it\\'s {{x}}' $\"a {{x}}\" $'\\\\' '{{x}}'", "ads"),
    ('echo "$\'{{x}}\'" "${v:-"{{x}}"}" "${v:-\'{{x}}\'}" ${v:-\'{{x}}\'}', "ddds"),
    ('echo "${v#{{x}}}" ${v%%\'{{x}}\'} "${v//{{x}}/"{{x}}"}" ${v^^{{x}}}', "bsbdb"),
    ('echo "${v:{{x}}:1}" ${v: -{{x}}} ${a[{{x}}]} ${v:-{{x}}}', "nnnb"),
    ("echo ${v:-\\}{{x}}} \"${v:+}\" {{x}} ${v:-$(echo '}' {{x}})}", "bbb"),
    ("a=( {{x}} \"{{x}}\" # it's ) {{x}}\n [2]='{{x}}' [{{x}}]=1 )\necho {{x}}", "bdcsnb"),
    ("a[{{x}}]={{x}} b+=( {{x}} ) c+={{x}} cmd {{x}}", "nbbbb"),
    ("ls a[{{x}}]* {{x}}", "bb"),
    ("f() { echo {{x}}; }; function g { echo '{{x}}'; }\nfunction h() ( echo {{x}} )\nf {{x}}", "bsbb"),
    ("{ echo {{x}}; } 2>&1 >{{x}} &> {{x}} >| {{x}} <> {{x}}", "bbbbb"),
    ("exec 3<&- 4>&1; echo {{x}} >&2 2>&1 {fd}>/dev/null '{{x}}'", "bs"),
    ("! time echo {{x}} | { cat; } && coproc cat {{x}}", "bb"),
    ("if ! a=1 b='{{x}}' cmd {{x}}; then :; elif true; then echo {{x}}; else :; fi", "sbb"),
    ("until [ {{x}} = a ]; do break; done; while :; do break; done; echo {{x}}", "bb"),
    ("echo {a,b{{x}}} {1..3} {{{x}}} }{{x}}", "bbb"),
    ("echo case in esac {{x}} ; case=1 ; echo if then {{x}}", "bb"),
    ('echo $${x#{{x}} "$${" {{x}}', "bb"),
    ("a=1 if {{x}} ; > /dev/null case {{x}} ; <<< a [[ {{x}}", "bbb"),
    ("declare a[ b ; echo {{x}} ; declare -a a[{{x}}]=1", "bn"),
    ("x=a;#it's {{x}}\necho {{x}}", "cb"),
    ('echo "a\nb # {{x}}\nc" # {{x}}\n', "dc"),
    ('echo ${x/\\//{{x}}} "${x//\\"/{{x}}}" ${x/#a/b} {{x}}', "bbb"),
    ("[ -f {{x}} ] && . {{x}} || source '{{x}}'", "bbs"),
    ("trap \"rm -f '{{x}}'\" EXIT; echo $! $? $$ $- $0 {{x}}", "db"),
    ('echo "$((1 + {{x}}))" "$(( $(echo \'{{x}}\') ))"', "ns"),
    ("awk '{ print $1 \"{{x}}\" }' <<'EOF' && echo {{x}}\n{{x}} {{.Names}} ${{ a }}\nEOF\n", "sbq"),
]


@pytest.mark.parametrize(("script", "letters"), TRICKY)
def test_every_place_is_told_right(script: str, letters: str) -> None:
    assert "".join(LETTERS[place.quoting] for place in read_script(script).places) == letters


@pytest.mark.parametrize("script", [script for script, _ in TRICKY])
def test_what_bash_accepts_it_still_accepts_when_rendered(script: str) -> None:
    assert _syntax_errors(_with_plain_words(script)) == ""
    assert _syntax_errors(render_shell(script, {"x": "1"}, token=lambda: "fresh").source) == ""


def _with_plain_words(script: str) -> str:
    for found in reversed(find_placeholders(script)):
        script = script[: found.start] + "1" + script[found.end :]
    return script


def _syntax_errors(script: str) -> str:
    command = ["bash", "-O", "extglob", "-n", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def test_places_are_found_in_the_order_of_the_script() -> None:
    script = "cat <<A <<B {{a}}\n{{b}}\nA\n{{c}}\nB\necho {{d}} `echo {{e}}` {{f}}"
    assert "".join(place.placeholder.path[0] for place in read_script(script).places) == "abcdef"


def test_a_script_without_placeholders_is_not_read_at_all() -> None:
    assert read_script("echo 'never closed").places == ()


def test_the_reader_takes_every_reserved_word_and_no_other() -> None:
    known = word_roles._BLOCKS.keys() | word_roles._PREFIXES.keys() | word_roles._BEGINS.keys() | {"[["}
    assert known == RESERVED
