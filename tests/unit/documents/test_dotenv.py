"""Files of environment variables: what their lines mean, and which line is wrong."""

from __future__ import annotations

import pytest

from amplihack.documents.dotenv import read_dotenv
from amplihack.errors import DocumentError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1\nB=two words\n", {"A": "1", "B": "two words"}),
        ("\n  # note\n#A=1\nexport A=1\n", {"A": "1"}),
        ("A = 1  # behind\nB=a#b\nC=#nothing\n", {"A": "1", "B": "a#b", "C": ""}),
        ("A=\nB=''\nC=\"\"", {"A": "", "B": "", "C": ""}),
        ("A='$HOME \\n # x'  # behind\n", {"A": "$HOME \\n # x"}),
        ('A="a\\nb\\t\\"c\\" \\\\ \\$x \\z"\n', {"A": 'a\nb\t"c" \\ $x \\z'}),
        ("A=\"first\nsecond\"\nB='x\ny'\nC=3", {"A": "first\nsecond", "B": "x\ny", "C": "3"}),
        ("A=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
        ("A=1\nA=2\n", {"A": "2"}),
        ("export=1\nURL=https://u:p@h/?q=1&r='x'\n", {"export": "1", "URL": "https://u:p@h/?q=1&r='x'"}),
        ("A=grüße ✓\n", {"A": "grüße ✓"}),
        ("", {}),
    ],
)
def test_lines_are_read_as_other_tools_read_them(text: str, expected: dict[str, str]) -> None:
    assert read_dotenv(text, ".env").values == expected


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("A=1\nB\n", 2, "sets no variable"),
        ("=1\n", 1, "sets no variable"),
        ("A=1\n\n2B=1\n", 3, "cannot be a variable's name"),
        ("A-B=1\n", 1, "cannot be a variable's name"),
        ("A B=1\n", 1, "cannot be a variable's name"),
        ("A=1\nB='x\ny\n", 2, "never closed"),
        ('A="x\\"\n', 1, "never closed"),
        ('A="two\nlines" more\n', 2, "behind the closing quote"),
        ("A=a\0b\n", 1, "NUL"),
    ],
)
def test_a_wrong_line_is_named_and_not_shown(text: str, line: int, words: str) -> None:
    with pytest.raises(DocumentError, match=words) as caught:
        read_dotenv(text, ".env")
    where = caught.value.where
    assert where is not None
    assert (where.file, where.line, where.text) == (".env", line, "")
    assert caught.value.fix


def test_a_key_that_lost_its_quotes_is_not_shown() -> None:
    with pytest.raises(DocumentError) as caught:
        read_dotenv("KEY=-----BEGIN-----\nMIIE+vgIB/ANBgkq=\n", ".env")
    assert "MIIE" not in f"{caught.value.what}{caught.value.fix}"


def test_large_files_are_read_once() -> None:
    text = "".join(f'A{number}="x y"\n' for number in range(20_000))
    assert len(read_dotenv(text, ".env").values) == 20_000
    assert read_dotenv(f"A{' ' * 2_000_000}=1", ".env").values == {"A": "1"}
    with pytest.raises(DocumentError):
        read_dotenv("A" + " \t" * 1_000_000, ".env")


def test_a_name_that_gets_another_value_is_told_with_the_line_that_counts() -> None:
    found = read_dotenv("A=1\nB=2\nA='x\ny'\nB=2\nC=1\nA=3\n", ".env")
    assert found.values == {"A": "3", "B": "2", "C": "1"}
    assert found.repeated == {"A": 7}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1\nB=$A\n", [("B", "A", False, 2)]),
        ('A="http://${HOST:-x}/"  # $C\n', [("A", "HOST", True, 1)]),
        ("A='$B ${C}'\nB=\"\\$C\"\nC=\\$A\nD=a$1$$A$\n", []),
        ("A=x  # $B\n", []),
        ("A=$B\nA=2\n", []),
    ],
)
def test_what_other_tools_would_replace_is_found(
    text: str, expected: list[tuple[str, str, bool, int]]
) -> None:
    found = read_dotenv(text, ".env").references
    assert [(each.variable, each.name, each.in_braces, each.line) for each in found] == expected
