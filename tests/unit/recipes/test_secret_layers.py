"""Secrets behind encodings in any order, made by the libraries and tools that people use."""

from __future__ import annotations

import base64
import csv
import html
import io
import itertools
import json
import shlex
import shutil
import subprocess
import unicodedata
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from amplihack.recipes import secret_layers
from amplihack.recipes.secrets import Redactor

SECRETS = {
    "plain": "S3cr3tTokenAlpha99",
    "with signs": "p@ss w0rd/'x\"$y&<z>=~;%41-longer",
    "of another script": "pässwörd→日本-🔑key",
}
ENCODE: dict[str, Callable[[str], str]] = {
    "JSON": lambda text: json.dumps({"a": text}),
    "JSON as it is": lambda text: json.dumps([text], ensure_ascii=False),
    "URL": lambda text: f"x={quote(text, safe='')}&y",
    "form": lambda text: f"x={quote_plus(text)}&y",
    "HTML": lambda text: f"<b>{html.escape(text)}</b>",
    "XML": lambda text: text.replace("&", "&amp;").encode("ascii", "xmlcharrefreplace").decode(),
    "shell": lambda text: f"x={shlex.quote(text)}",
    "CSV": lambda text: _csv(text),
    "SQL": lambda text: "VALUES ('{}')".format(text.replace("'", "''")),
    "repr": repr,
    "bytes": lambda text: repr(text.encode()),
    "base64": lambda text: base64.b64encode(f"user:{text}\n".encode()).decode(),
    "wrapped base64": lambda text: base64.encodebytes(f"k: {text} and more of it\n".encode() * 3).decode(),
    "base64 of URLs": lambda text: (
        base64.urlsafe_b64encode(f'{{"k":"{text}"}}'.encode()).decode().rstrip("=")
    ),
    "hexadecimal": lambda text: f"xy{text}".encode().hex(),
}
_UPPER = {number: number - 32 for number in range(ord("a"), ord("z") + 1)}
ALONE: dict[str, Callable[[str], str]] = {
    "percent": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "octal": lambda text: "".join(f"\\{byte:03o}" for byte in text.encode()),
    "code points": lambda text: "".join(f"\\U{ord(char):08x}" for char in text),
    "entities": lambda text: "".join(f"&#{ord(char):03};" for char in text),
    "hexadecimal entities": lambda text: "".join(f"&#x{ord(char):04X};" for char in text),
    "named code points": lambda text: " ".join(f"U+{ord(char):04X}" for char in text),
    "list of bytes": lambda text: str(list(text.encode())),
    "C": lambda text: ", ".join(f"0x{byte:02X}" for byte in text.encode()),
    "dashes": lambda text: text.encode().hex("-"),
    "base32": lambda text: base64.b32encode(f"a{text}".encode()).decode().lower(),
    "base32hex": lambda text: base64.b32hexencode(f"ab{text}".encode()).decode(),
    "dots": lambda text: text.encode().hex("."),
    "bars": lambda text: "|".join(f"{byte:02x}" for byte in text.encode()),
    "list of bytes, one a line": lambda text: json.dumps(list(text.encode()), indent=4),
    "backwards in JSON in JSON": lambda text: json.dumps(json.dumps([text[::-1]])),
    "small letters of one alphabet": lambda text: text.translate(_UPPER),
    "UTF-16": lambda text: base64.b64encode(f"x{text}".encode("utf-16-be")).decode(),
}
SPREAD: dict[str, Callable[[str], str]] = {
    "blanks": " ".join,
    "lines": "\n".join,
    "UTF-16 as it is": "\0".join,
    "JSON": lambda text: json.dumps(list(text)),
    "JSON, one a line": lambda text: json.dumps(list(text), indent=2),
    "JSON in JSON": lambda text: json.dumps(json.dumps(list(text), indent=2)),
    "Python": lambda text: str(list(text)),
    "a list of base64 lines": lambda text: json.dumps(
        base64.encodebytes(f"{'x' * 50}{text}".encode()).decode().split("\n"), indent=1
    ),
    "wrapped base64 in JSON in JSON": lambda text: json.dumps(
        json.dumps(base64.encodebytes(f"{'x' * 50}{text}".encode()).decode())
    ),
    "lines that a backslash ends": lambda text: "\\\n".join((text[:7], text[7:14], text[14:])),
}
DUMPS = (
    "xxd", "xxd -c 8", "xxd -g 1", "xxd -b", "xxd -i", "xxd -u", "od", "od -c", "od -b", "od -tx1",
    "od -tx4", "od -tx8", "od -tu1", "od -Ax -tx1z", "od -An -tu1", "hexdump", "hexdump -C", "hexdump -c",
)  # fmt: skip


def _csv(text: str) -> str:
    written = io.StringIO()
    csv.writer(written).writerow([text, "1"])
    return written.getvalue()


def masked(secret: str, text: str) -> str:
    return Redactor(["t"], values={"t": secret}).redact_text(text)


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("name", [*ENCODE, *ALONE])
def test_a_secret_in_one_encoding_is_masked(secret: str, name: str) -> None:
    text = (ENCODE | ALONE)[name](secret)
    left = masked(secret, text)
    assert "***" in left
    assert len(left) < len(text) - len(secret) // 2


@pytest.mark.parametrize("secret", list(SECRETS.values())[:2], ids=list(SECRETS)[:2])
@pytest.mark.parametrize(("first", "second"), [*itertools.product(ENCODE, ENCODE)])
def test_a_secret_in_one_encoding_inside_another_is_masked(secret: str, first: str, second: str) -> None:
    if first in ("URL", "form", "HTML", "XML", "bytes", "CSV", "SQL") and "base64" in second:
        secret = SECRETS["plain"]  # what is escaped so and then encoded is not found, as the docs say
    assert "***" in masked(secret, ENCODE[second](ENCODE[first](secret)))


@pytest.mark.parametrize(
    "names", [*itertools.permutations(("JSON", "URL", "HTML", "shell", "CSV"), 3)], ids=str
)
def test_three_layers_of_escapes(names: tuple[str, ...]) -> None:
    text = secret = SECRETS["with signs"]
    for name in names:
        text = ENCODE[name](text)
    assert "***" in masked(secret, text)
    assert secret[:5] not in masked(secret, text)


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("command", DUMPS)
def test_dumps_of_bytes(secret: str, command: str) -> None:
    if not shutil.which(command.split()[0]):
        pytest.skip("it is not here")
    data = f"some text before {secret} and after it".encode()
    done = subprocess.run(command.split(), input=data, capture_output=True, check=True)
    left = masked(secret, done.stdout.decode())
    assert left.count("***") >= 2
    assert left.count("\n") == done.stdout.count(b"\n")


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("as_list", [False, True])
@pytest.mark.parametrize("command", ["xxd", "hexdump -C", "od -tx1", "od -c"])
def test_a_dump_in_json_shows_no_piece(command: str, layers: int, *, as_list: bool) -> None:
    if not shutil.which(command.split()[0]):
        pytest.skip("it is not here")
    secret = "\n".join(("-----BEGIN K-----", "MIIEowIBAAKCAQEAz1Qk", "abCDefGH1234567890zz", "--END--"))
    text = subprocess.run(
        command.split(), input=secret.encode(), capture_output=True, check=True
    ).stdout.decode()
    text = json.dumps(text.split("\n"), indent=2) if as_list else json.dumps(text)
    for _ in range(layers - 1):
        text = json.dumps(text)
    left = masked(secret, text).replace(" ", "")
    assert not any(piece in left for piece in ("MIIEow", "AQEAz1", "CDefGH", "4d494945"))


@pytest.mark.parametrize(
    "secret", [SECRETS["plain"], "ghp_16C7e42F292c6912E7710c83", "key:with/some+signs=="]
)
@pytest.mark.parametrize("name", SPREAD)
def test_a_secret_with_something_between_its_letters_is_masked(secret: str, name: str) -> None:
    text = f"here: {SPREAD[name](secret)} and more"
    left = masked(secret, text)
    assert "***" in left
    assert left.count("\n") == text.count("\n")
    assert (left[:6], left[-9:]) == ("here: ", " and more")


def test_cat_shows_other_bytes_with_signs() -> None:
    shown = subprocess.run(["cat", "-v"], input="grün-€-key".encode(), capture_output=True, check=True)
    assert masked("grün-€-key", shown.stdout.decode()) == "***"


@pytest.mark.parametrize("secret", ["a'b\"c\\d$e`f9x", "100%25safe%zz1", "S3cr3tTokenAlpha99"])
def test_a_list_of_bytes_with_two_and_three_digits(secret: str) -> None:
    assert masked(secret, str(list(secret.encode()))) == "[***]"


def test_accents_may_be_in_one_with_their_letters_or_apart() -> None:
    spelled = [unicodedata.normalize(form, "pässwörtzé9") for form in ("NFC", "NFD")]
    for secret, text in itertools.product(spelled, spelled):
        assert masked(secret, f"a {text} b {quote(text)} c") == "a *** b *** c"


def test_each_line_of_a_secret_backwards() -> None:
    lines = ("MIIEowIBAAKCAQEAz1Qk", 'ab"CDefGH1234567890')
    text = json.dumps("\n".join(line[::-1] for line in lines))
    left = masked("\n".join(lines), text)
    assert not any(line[::-1][:6] in left for line in lines)


def test_only_the_secret_is_masked_among_escapes() -> None:
    secret = SECRETS["with signs"]
    text = json.dumps(json.dumps({"before": 1, "k": f"<{html.escape(secret)}>", "after": "a&b"}))
    left = json.loads(json.loads(masked(secret, text)))
    assert left == {"before": 1, "k": "<***>", "after": "a&b"}


def test_a_text_without_a_sign_of_a_secret_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_layers, "layers", None)  # whoever decodes something fails
    nothing = dict.fromkeys(secret_layers._ENCODINGS, (None, None))
    monkeypatch.setattr(secret_layers, "_ENCODINGS", nothing)
    text = 'a line of "output" with 100% of & \\"escapes\\" and /a/path/to/some-file-name-12345678\n' * 1_000
    assert masked(SECRETS["plain"], text) == text


def test_windows_of_a_text_are_little_more_than_the_text() -> None:
    layers = secret_layers.Layers()
    layers.add(['abc/pass"word'])
    for size in (10_000, 20_000, 40_000):
        text = 'pass \\" word ' * size
        assert sum(end - start for start, end in layers._windows(text)) < 2 * len(text)


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        (
            "S3cr3tTokenAlpha99",
            "sha256: 5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8",
        ),
        (
            "S3cr3tTokenAlpha99",
            "-----BEGIN KEY-----\n" + base64.encodebytes(bytes(range(256))).decode(),
        ),
        ("password", '{"pass": "\\"quoted\\"", "word": "%20"}'),
        ("a,b,c,d,e,f,g,h,i,j,k", "the abcdefghijklm"),
        ('["one", "two", "three"]', "[one two threefold] onetwothree"),
        ("localhost", "00000000: 6d61 6368 696e 6520 6e61 6d65  machine name"),
    ],
)
def test_what_holds_no_secret_stays(secret: str, text: str) -> None:
    assert masked(secret, text) == text
