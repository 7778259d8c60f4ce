"""Keys, the text that they edit, and how it is drawn: everything of the input that needs no terminal."""

from __future__ import annotations

import pytest

from amplihack.system.terminal.drawing import Drawn, TerminalSize, below, cells_of, draw, redrawn
from amplihack.system.terminal.edited_text import EditedText
from amplihack.system.terminal.keys import Key, KeyReader
from amplihack.system.terminal.line_editor import LineEditor


def keys(*pieces: bytes) -> list[Key]:
    reader = KeyReader()
    return [key for piece in pieces for key in reader.feed(piece)]


def typed(data: bytes, **options: object) -> tuple[str, int]:
    editor = LineEditor(**options)  # type: ignore[arg-type]
    for key in keys(data):
        if editor.press(key) is not None:
            break
    return editor.edited.text, editor.edited.cursor


# keys ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b"\r", ["enter"]),
        (b"\n", ["enter"]),
        (b"\x1b[A\x1bOB\x1b[C\x1b[D", ["up", "down", "right", "left"]),
        (b"\x1b[1;5D\x1bf\x1b[3~\x1b[H\x1b[4~", ["word-left", "word-right", "delete", "home", "end"]),
        (b"\x1b\r", ["newline"]),
        (b"\x01\x05\x0b\x15\x17\x19", ["home", "end", "kill-to-end", "kill-to-start", "kill-word", "yank"]),
        (b"\x1b[99;99Z\x00\x07", []),  # nothing that we know
    ],
)
def test_keys_have_names(data: bytes, names: list[str]) -> None:
    assert [key.name for key in keys(data)] == names
    assert [
        key.name for key in keys(*(data[at : at + 1] for at in range(len(data))))
    ] == names  # cut anywhere


def test_letters_come_whole_however_the_bytes_are_cut() -> None:
    data = "grüße 日本 🎉".encode()
    assert (
        "".join(key.text for key in keys(*(data[at : at + 1] for at in range(len(data))))) == "grüße 日本 🎉"
    )
    assert keys(data) == [Key("text", "grüße 日本 🎉")]
    assert keys(b"\xff") == [Key("text", "\ufffd")]


def test_pasted_text_is_one_key_with_its_lines() -> None:
    data = b"a\x1b[200~one\r\ntwo\rthree\x1b[A\n\x1b[201~b\r"
    expected = [Key("text", "a"), Key("paste", "one\ntwo\nthree\x1b[A\n"), Key("text", "b"), Key("enter")]
    assert keys(data) == expected
    assert keys(*(data[at : at + 1] for at in range(len(data)))) == expected


# editing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "text", "cursor"),
    [
        (b"hello", "hello", 5),
        (b"hello\x7f\x7fp", "help", 4),
        (b"\x7f\x1b[3~\x1b[D\x0b\x15\x17", "", 0),  # nothing to take away
        (b"one two\x01x", "xone two", 1),
        (b"one two\x1bbx", "one xtwo", 5),
        (b"one two three\x1b[1;5D\x1b[1;5D\x1b[1;5Cx", "one twox three", 8),
        (b"one two\x17\x17", "", 0),
        (b"one two\x17\x01\x19 ", "two one ", 4),
        (b"one two\x1bb\x0b", "one ", 4),
        (b"one two\x1bb\x15", "two", 0),
        (b"one\x1b\rtwo\x01x", "one\nxtwo", 5),  # the beginning of this line
        (b"one\x1b\rtwo\x1b[Ax", "onex\ntwo", 4),
        (b"one\x1b\rtwo\x1b[A\x1b[Bx", "one\ntwox", 8),
        (b"a\x1b[200~b\x1b[31mc\x07\td\x1b[201~", "ab[31mc\td", 9),  # nothing that controls the terminal
        (b"abc\x01\x04", "bc", 0),
    ],
)
def test_keys_edit_the_text(data: bytes, text: str, cursor: int) -> None:
    assert typed(data) == (text, cursor)


def test_enter_submits_unless_another_line_is_needed() -> None:
    editor = LineEditor(goes_on=lambda text: text.endswith("\\"))
    outcomes = [editor.press(key) for key in keys(b"one\\\rtwo\r")]
    assert outcomes == [None, None, None, "submit"]
    assert editor.edited.text == "one\\\ntwo"


def test_the_end_of_input_ends_only_an_empty_line() -> None:
    assert LineEditor().press(Key("end-of-input")) == "end"
    editor = LineEditor()
    assert [editor.press(key) for key in keys(b"a\x04\x7f\x04")] == [None, None, None, "end"]


def test_older_inputs_come_back_and_what_was_typed_too() -> None:
    history = ("first", "second\nline")
    assert typed(b"new\x1b[A", history=history)[0] == "second\nline"
    assert typed(b"new\x1b[A\x1b[A\x1b[A", history=history)[0] == "first"
    assert typed(b"new\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A", history=history)[0] == "first"
    assert typed(b"new\x1b[A\x1b[B", history=history)[0] == "new"
    assert typed(b"\x1b[B\x1b[B", history=history)[0] == ""


def test_tab_completes_as_far_as_it_is_certain() -> None:
    words = ("/help", "/tools", "/tokens")
    assert typed(b"/h\t", complete=lambda _: words)[0] == "/help"
    assert typed(b"/t\t", complete=lambda _: words)[0] == "/to"
    assert typed(b"/x\t", complete=lambda _: words)[0] == "/x"
    assert typed(b"x\t", complete=lambda _: words)[0] == "x\t"


# drawing ---------------------------------------------------------------------------------------------------

SIZE = TerminalSize(10, 5)


def drawn(text: str, cursor: int | None = None) -> Drawn:
    return draw("> ", EditedText(text, len(text) if cursor is None else cursor), SIZE)


def test_text_wraps_at_the_width_and_the_cursor_knows_where_it_is() -> None:
    assert drawn("hello") == Drawn(("> hello",), 0, 7)
    assert drawn("hello", 0) == Drawn(("> hello",), 0, 2)
    assert drawn("12345678") == Drawn(("> 12345678", ""), 1, 0)
    assert drawn("123456789") == Drawn(("> 12345678", "9"), 1, 1)
    assert drawn("a\nb") == Drawn(("> a", "… b"), 1, 3)
    assert drawn("a\nb", 1) == Drawn(("> a", "… b"), 0, 3)


def test_wide_and_combining_characters_take_the_room_that_they_take() -> None:
    assert [cells_of(char) for char in "a日🎉\u0301"] == [1, 2, 2, 0]
    assert drawn("1234567日") == Drawn(("> 1234567", "日"), 1, 2)
    assert drawn("\tx") == Drawn((">     x",), 0, 7)


def test_a_text_that_is_higher_than_the_screen_is_shown_around_the_cursor() -> None:
    text = "\n".join("abcdefghij")
    assert drawn(text).rows == ("… f", "… g", "… h", "… i", "… j")
    assert drawn(text, 0).rows[0] == "> a"
    middle = drawn(text, text.index("e"))
    assert middle.rows[middle.row] == "… e"


def test_it_is_drawn_in_its_own_place() -> None:
    before = Drawn(("> a", "… b"), 1, 3)
    assert redrawn(before, Drawn(("> x",), 0, 2)) == "\x1b[1A\r\x1b[J> x\r\x1b[2C"
    assert below(Drawn(("a", "b", "c"), 0, 1)) == "\x1b[2B\r\n"
