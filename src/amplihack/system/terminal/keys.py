"""Turn the bytes of a terminal into keys. Pasted text is one key, whatever is in it."""

from __future__ import annotations

import codecs
from typing import Final

from amplihack.patterns import pattern
from amplihack.records import Record

_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"
_SEQUENCE = pattern(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~]|[^\[O])")
_UNFINISHED = pattern(r"\x1b(?:\[[0-?]*[ -/]*|O)?")
_CONTROL: Final = {
    "\r": "enter", "\n": "enter", "\t": "tab", "\x7f": "backspace", "\x08": "backspace",
    "\x01": "home", "\x02": "left", "\x03": "interrupt", "\x04": "end-of-input", "\x05": "end",
    "\x06": "right", "\x0b": "kill-to-end", "\x0c": "clear-screen", "\x0e": "down", "\x10": "up",
    "\x15": "kill-to-start", "\x17": "kill-word", "\x19": "yank",
}  # fmt: skip
_ESCAPED: Final = {
    "\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left", "\x1b[H": "home", "\x1b[F": "end",
    "\x1bOA": "up", "\x1bOB": "down", "\x1bOC": "right", "\x1bOD": "left", "\x1bOH": "home", "\x1bOF": "end",
    "\x1b[1~": "home", "\x1b[7~": "home", "\x1b[4~": "end", "\x1b[8~": "end", "\x1b[3~": "delete",
    "\x1b[1;5C": "word-right", "\x1b[1;5D": "word-left", "\x1b[1;3C": "word-right", "\x1b[1;3D": "word-left",
    "\x1bf": "word-right", "\x1bb": "word-left", "\x1bd": "delete-word", "\x1b\x7f": "kill-word",
    "\x1b\x08": "kill-word", "\x1b\r": "newline", "\x1b\n": "newline", "\x1b[13;2u": "newline",
}  # fmt: skip


class Key(Record):
    """A key by its name; `text` and `paste` come with what they insert."""

    name: str
    text: str = ""


class KeyReader:
    """Reads keys from bytes that come in pieces, cut anywhere."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""
        self._pasting = False

    def feed(self, data: bytes) -> list[Key]:
        """Return the keys that are complete now; the rest waits for the next bytes."""
        self._rest += self._decode(data)
        keys: list[Key] = []
        while self._rest:
            key, length = self._pasted() if self._pasting else self._key()
            if length == 0:
                break
            self._rest = self._rest[length:]
            if key is not None:
                keys.append(key)
        return _joined(keys)

    def _pasted(self) -> tuple[Key | None, int]:
        text, end, _ = self._rest.partition(_PASTE_END)
        if not end:
            return None, 0
        self._pasting = False
        return Key("paste", text.replace("\r\n", "\n").replace("\r", "\n")), len(text) + len(end)

    def _key(self) -> tuple[Key | None, int]:
        char = self._rest[0]
        if char != "\x1b":
            return _plain(char), 1
        if _UNFINISHED.fullmatch(self._rest):
            return None, 0
        found = _SEQUENCE.match(self._rest)
        sequence = found[0] if found else char
        if sequence == _PASTE:
            self._pasting = True
            return None, len(sequence)
        name = _ESCAPED.get(sequence)
        return (Key(name) if name else None), len(sequence)


def _plain(char: str) -> Key | None:
    if char in _CONTROL:
        return Key(_CONTROL[char])
    return Key("text", char) if char.isprintable() or char > "\x9f" else None


def _joined(keys: list[Key]) -> list[Key]:
    """Join letters that came at once, as when somebody types ahead: they are drawn once."""
    joined: list[Key] = []
    for key in keys:
        if key.name == "text" and joined and joined[-1].name == "text":
            joined[-1] = Key("text", joined[-1].text + key.text)
        else:
            joined.append(key)
    return joined
