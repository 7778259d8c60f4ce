import base64
import html
import json
import os
import quopri
import re
import subprocess
import textwrap
from dataclasses import replace
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplihack.recipes.events import (
    Event,
    GateDecided,
    GateReached,
    IterationStarted,
    LinesPrinted,
    OutputStored,
    RecipeEntered,
    Retrying,
    RunFinished,
    StepFinished,
    StepStarted,
    Warned,
)
from amplihack.recipes.model import Bash, Recipe, Stage, Step, Text
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.secret_guesses import secret_values
from amplihack.recipes.secrets import Redactor
from amplihack.recipes.values import Value

KEY = "s3cr3t/kéy+'1' \"x\""


def started(identity: str, recipe: str = "r", step_id: str = "") -> StepStarted:
    return StepStarted(identity, step_id or identity, "bash", step_id or identity, recipe, 0, 1, 1)


def step_result(identity: str = "a", output: str = "", error: str = "") -> StepResult:
    return StepResult(
        step_id=identity,
        identity=identity,
        kind="bash",
        status="failed" if error else "completed",
        output=output,
        error=error,
    )


def recipe_with(*steps: Step, secrets: frozenset[str] = frozenset(), name: str = "r") -> Recipe:
    return Recipe(name=name, stages=(Stage("", steps),), secrets=secrets)


def bash(step_id: str, output: str | None = None) -> Step:
    return Step(id=step_id, action=Bash(Text("true")), output=output)


def test_without_secrets_a_text_stays_the_very_same_object() -> None:
    text = "nothing \x1b[31mto\x1b[0m hide"
    assert Redactor().redact_text(text) is text


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        json.dumps(KEY),
        json.dumps(KEY, ensure_ascii=False),
        quote(KEY),
        quote(KEY, safe=""),
        base64.b64encode(KEY.encode()).decode(),
        base64.urlsafe_b64encode(KEY.encode()).decode(),
        KEY.replace("'", "'\\''"),
        quote(KEY, safe="").lower(),
        quote_plus(KEY),
        quote(quote(KEY)),
        html.escape(KEY),
        html.escape(html.escape(KEY)),
        KEY.replace('"', "&#34;").replace("'", "&#39;"),
        KEY.replace('"', "&quot;").replace("'", "&apos;"),
        KEY.encode("ascii", "xmlcharrefreplace").decode(),
        repr(KEY)[1:-1],
        KEY.replace("'", "''"),
        KEY.encode().hex(),
        KEY.encode().hex().upper(),
        KEY.encode().hex(" "),
        base64.b64encode(KEY.encode()).decode().rstrip("="),
        quote(base64.b64encode(KEY.encode()), safe=""),
        base64.b32encode(KEY.encode()).decode(),
        base64.b32encode(KEY.encode()).decode().rstrip("="),
        base64.b32encode(f"{KEY}\n".encode()).decode(),
        KEY.encode().hex(" ").upper(),
        KEY.encode().hex(":"),
        KEY.encode().hex(":").upper(),
        KEY.encode().hex(" ", -2),
        "".join(f"%{byte:02X}" for byte in KEY.encode()),
        "".join(f"\\x{byte:02x}" for byte in KEY.encode()),
        base64.b85encode(KEY.encode()).decode(),
        base64.a85encode(KEY.encode()).decode(),
        base64.b85encode(f"{KEY}\n".encode()).decode(),
        KEY[::-1],
        ascii(KEY)[1:-1],
        "".join(f"&#{ord(char)};" for char in KEY),
        "".join(f"&#x{ord(char):x};" for char in KEY),
        "".join(f"\\u{ord(char):04x}" for char in KEY),
        KEY.encode("utf-16-le").hex(),
        base64.b64encode(KEY.encode("utf-16-le")).decode().rstrip("="),
        base64.b64encode(base64.b64encode(KEY.encode())).decode().rstrip("="),
        quopri.encodestring(KEY.encode()).decode(),
        quopri.encodestring(KEY.encode(), quotetabs=True).decode(),
        quopri.encodestring(KEY.encode(), header=True).decode(),
        KEY.upper(),
        KEY.lower(),
    ],
)
def test_a_secret_is_masked_however_it_is_written(written: str) -> None:
    masked = Redactor(["key"], values={"key": KEY}).redact_text(f"before {written} after")
    assert masked in ("before *** after", 'before "***" after')


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("before", range(60, 76, 5))
def test_a_secret_in_a_mail_is_masked_across_its_soft_line_breaks(before: int, ends: str) -> None:
    value = "pass=wörd & more of it, as long as such a text may ever be"
    mail = quopri.encodestring(f"{'x' * before} {value} end".encode()).decode().replace("\n", ends)
    masked = Redactor(["key"], values={"key": value}).redact_text(mail)
    for piece in ("pass", "more", "long", "such", "ever"):
        assert piece not in masked


@pytest.mark.parametrize("depth", range(1, 6))
@pytest.mark.parametrize("ascii_only", [True, False])
def test_json_inside_json_is_masked(depth: int, ascii_only: bool) -> None:
    written = KEY
    for _ in range(depth):
        written = json.dumps(written, ensure_ascii=ascii_only)
        ascii_only = False
    masked = Redactor(["key"], values={"key": KEY}).redact_text(written)
    assert masked.strip('\\"') == "***"


@pytest.mark.parametrize(
    "script",
    ['printf %q "$1"', 'LC_ALL=C; printf %q "$1"', 'echo "${1@Q}"', "v=$1; declare -p v", 'set -x; : "$1"'],
)
@pytest.mark.parametrize("key", [KEY, "~a b$c`d\\e!{f,g}", "#tab\there; (and) [more]*?", "back\\slash'quote"])
def test_what_bash_quotes_is_masked(script: str, key: str) -> None:
    env = {"LANG": "C.UTF-8", "PATH": os.environ["PATH"]}
    done = subprocess.run(["bash", "-c", script, "x", key], env=env, capture_output=True, check=True)
    masked = Redactor(["key"], values={"key": key}).redact_text((done.stdout + done.stderr).decode())
    assert re.sub(r"declare -- v=|\+ :|[$'\"\s]|\*\*\*", "", masked) == ""


LONG = "ghp_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-and-some-more"


@pytest.mark.parametrize("width", [8, 16, 20, 57, 64, 76])
@pytest.mark.parametrize("before", ["", "u", "user:"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\n    ", "\\n"])
def test_base64_in_lines_is_masked(width: int, before: str, line_break: str) -> None:
    encoded = base64.b64encode(f"{before}{LONG}\n".encode()).decode()
    lines = textwrap.wrap(encoded, width)
    masked = Redactor(["key"], values={"key": LONG}).redact_text(f"<{line_break.join(lines)}>")
    left = re.sub(r"\*\*\*|\s|\\n", "", masked)
    assert len(left) <= 2 + len(before) * 4 // 3 + 6, masked  # a piece of what stands beside it
    assert masked.count("\n") == line_break.count("\n") * (len(lines) - 1)


def test_each_line_of_wrapped_output_is_masked_whichever_lines_come_together() -> None:
    lines = textwrap.wrap(base64.b64encode(LONG.encode()).decode(), 20)
    redactor = Redactor(["key"], values={"key": LONG})
    together = redactor.redact_event(LinesPrinted("a", "stdout", ("from", *lines, "to")))
    assert together == LinesPrinted("a", "stdout", ("from", *["***"] * len(lines), "to"))
    for line in lines[:-1]:  # the last is short
        assert redactor.redact_event(LinesPrinted("a", "stdout", (line,))) == LinesPrinted(
            "a", "stdout", ("***",)
        )


@pytest.mark.parametrize("cut", range(12, len(LONG) - 12, 7))
def test_a_secret_that_the_end_of_a_text_cuts_is_masked(cut: int) -> None:
    redactor = Redactor(["key"], values={"key": LONG})
    assert redactor.redact_text(f"it was {LONG[:cut]}") == "it was ***"
    assert redactor.redact_text(f"it was {LONG[:cut]}…") == "it was ***…"
    assert redactor.redact_text(f"{LONG[cut:]}, it was\nall") == "***, it was\nall"


AWKWARD = "Tr0ub4dor&3 'horse'%battery\\staple"  # with signs that other forms have too, and a blank


@pytest.mark.parametrize("key", [LONG, AWKWARD])
@pytest.mark.parametrize("cut", [6, 7, 11, 12, 17])
def test_a_secret_that_was_cut_off_is_masked_at_the_sign_for_it(key: str, cut: int) -> None:
    redactor = Redactor(["key"], values={"key": key})
    assert redactor.redact_text(f"it was {key[:cut]}…") == "it was ***…"
    assert redactor.redact_text(f"it was …{key[-cut:]} then") == "it was …*** then"
    assert redactor.redact_text("nothing…") == "nothing…"


@pytest.mark.parametrize("cut", range(13, len(AWKWARD) - 12, 2))
def test_a_secret_with_any_signs_is_masked_where_a_line_ends_in_it(cut: int) -> None:
    redactor = Redactor(["key"], values={"key": AWKWARD})
    assert redactor.redact_text(f"it was {AWKWARD[:cut]}") == "it was ***"
    assert AWKWARD[cut + 1 :] not in redactor.redact_text(f"it was {AWKWARD[:cut]}\n{AWKWARD[cut:]} here")


@pytest.mark.parametrize("before", range(5))
def test_base32_of_something_longer_hides_the_secret_in_it(before: int) -> None:
    encoded = base64.b32encode(b"u" * before + LONG.encode() + b":x").decode()
    masked = Redactor(["key"], values={"key": LONG}).redact_text(encoded)
    assert len(masked.replace("***", "")) < 20


@pytest.mark.parametrize("before", range(4))
def test_base85_of_something_longer_hides_the_secret_in_it(before: int) -> None:
    for encode in (base64.b85encode, base64.a85encode):
        encoded = encode(b"u" * before + LONG.encode() + b":x").decode()
        masked = Redactor(["key"], values={"key": LONG}).redact_text(encoded)
        assert len(masked.replace("***", "")) < 20


def test_a_short_secret_is_told_once_not_to_be_found_inside_base64() -> None:
    redactor = Redactor(["pin"], values={"pin": "abc12"})
    (told,) = redactor.weak()
    assert (
        "fewer than 6 characters: it is masked, but not where it is a part of a longer text in base64" in told
    )
    assert (redactor.weak(), redactor.redact_text("abc12")) == ([], "***")
    assert Redactor(["pin"], values={"pin": "abc123"}).weak() == []


@pytest.mark.parametrize("before", range(3))
def test_base64_of_something_longer_hides_a_secret_of_six_characters(before: int) -> None:
    encoded = base64.b64encode(b"u" * (before + 9) + b"q7Zk2x" + b"vvvvvvvvv").decode()
    assert "***" in Redactor(["key"], values={"key": "q7Zk2x"}).redact_text(encoded)


PART = 262_144  # a large text is looked at in parts of this size


@pytest.mark.parametrize("line_break", ["\n", "\\n", "\n        "])
@pytest.mark.parametrize("back", [*range(0, len(LONG) + 25, 9), 41, 42, 43])
def test_a_wrapped_secret_is_masked_anywhere_in_a_very_large_text(line_break: str, back: int) -> None:
    wrapped = line_break.join((LONG[:40], LONG[40:]))
    text = f"{'x' * (PART - back - 1)} {wrapped}\n{'y' * PART}\n{wrapped} {'z' * PART}"
    masked = Redactor(["key"], values={"key": LONG}).redact_text(text)
    assert LONG[:40] not in masked
    assert LONG[40:] not in masked
    assert masked.count("***") >= 2
    assert len(masked) > 2 * PART


def test_a_very_large_text_without_a_secret_stays_the_very_same_object() -> None:
    text = f"first\n{'word ' * 200_000}\nlast\n"
    assert Redactor(["key"], values={"key": LONG}).redact_text(text) is text


@pytest.mark.parametrize("colour", ["\x1b[31m", "\x1b]8;;http://x\x1b\\", "\x1b]0;title\x07", "\x1b\\"])
@pytest.mark.parametrize("back", range(0, 40, 3))
def test_colours_are_removed_from_a_secret_anywhere_in_a_very_large_text(colour: str, back: int) -> None:
    coloured = f"{LONG[:10]}{colour}{LONG[10:20]}{colour}{LONG[20:]}"
    text = f"{'x' * (PART - back)}{coloured}{'y' * PART}{coloured}"
    masked = Redactor(["key"], values={"key": LONG}).redact_text(text)
    assert masked == f"{'x' * (PART - back)}***{'y' * PART}***"


def test_ordinary_words_that_a_secret_contains_stay() -> None:
    redactor = Redactor(["url"], values={"url": "postgres://me:sesame@db.example.org/production"})
    text = "postgres://other@example.org/production is not it\nproduction\nthe db.example.org is up"
    assert redactor.redact_text(text) == text


def test_short_secrets_are_masked_as_far_as_that_makes_sense_and_are_told() -> None:
    redactor = Redactor(
        ["pin", "flag", "word", "none"], values={"pin": 12, "flag": True, "word": "ab", "none": ""}
    )
    assert (
        redactor.redact_text("12 and 5-12 but 312, 1.12 and crab") == "*** and 5-*** but 312, 1.12 and cr***"
    )
    told = redactor.weak()
    assert [each.split("'")[1] for each in told] == ["flag", "pin", "word"]
    assert redactor.weak() == []


def test_a_very_long_secret_costs_no_gigabytes() -> None:
    long = "0123456789é" * 100_000
    redactor = Redactor(["k"], values={"k": long})
    assert redactor.redact_text(f"<{long}> {json.dumps(long)}") == '<***> "***"'


@pytest.mark.parametrize("user", ["", "u", "us", "use", "user"])
def test_base64_of_a_secret_among_other_text_is_masked(user: str) -> None:
    phrase = "correct-horse-battery"
    header = base64.b64encode(f"{user}:{phrase}:{user}".encode()).decode()
    masked = Redactor(["pw"], values={"pw": phrase}).redact_text(header)
    before, mask, after = masked.partition("***")
    assert mask
    assert len(header) - len(before) - len(after) >= len(phrase) * 8 // 6 - 2


def test_each_long_line_of_a_secret_is_one_too() -> None:
    pem = "-----BEGIN-----\nMIIEvQIBADANBg\nshort\n-----END-----\n"
    redactor = Redactor(["key"], values={"key": pem})
    assert redactor.redact_text("line: MIIEvQIBADANBg") == "line: ***"
    assert redactor.redact_text("a short text") == "a short text"


def test_the_longer_of_two_secrets_is_masked_whole_and_overlaps_leave_nothing() -> None:
    redactor = Redactor(["a", "b", "c"], values={"a": "abc", "b": "abcdef", "c": "efgh"})
    assert redactor.redact_text("x abcdefgh y abc z") == "x *** y *** z"


def test_a_secret_inside_another_shows_nothing_of_the_outer_one() -> None:
    assert Redactor(["a", "b"], values={"a": "abcdef", "b": "cd"}).redact_text("x abcdef y") == "x *** y"


def test_colours_inside_a_secret_do_not_save_it() -> None:
    redactor = Redactor(["t"], values={"t": "token-1234"})
    assert redactor.redact_text("\x1b[1mtoken\x1b[0m-1234!") == "***!"
    assert redactor.redact_text("\x1b[1mother\x1b[0m") == "\x1b[1mother\x1b[0m"


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("GITHUB_TOKEN", True),
        ("token", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("ANTHROPIC_API_KEY", True),
        ("OPENAI_APIKEY", True),
        ("PGPASSWORD", True),
        ("MYSQL_PWD", True),
        ("npm_config__auth", True),
        ("SIGNING_KEY", True),
        ("SSH_AUTH_SOCK", False),
        ("DB_PASSWORD_FILE", False),
        ("TOKEN_DIR", False),
        ("TOKEN_URL", False),
        ("TOKENIZERS_PARALLELISM", False),
        ("MAX_TOKENS", False),
        ("PWD", False),
        ("OLDPWD", False),
        ("KEYBOARD", False),
        ("XAUTHORITY", False),
        ("PATH", False),
    ],
)
def test_environment_variables_are_secret_by_their_name(name: str, secret: bool) -> None:
    assert list(secret_values({name: "0123456789"})) == (["0123456789"] if secret else [])


def test_a_short_environment_value_is_an_ordinary_word() -> None:
    assert list(secret_values({"TOKEN": "disable"})) == []


def test_the_password_in_a_url_is_secret_under_any_name() -> None:
    assert list(secret_values({"DATABASE": "postgres://me:hunter2hunter2@db/x"})) == ["hunter2hunter2"]


def test_values_are_masked_at_any_depth_and_secret_names_whatever_they_hold() -> None:
    redactor = Redactor(["pin", "flag"], values={"pin": 987654, "flag": True})
    value: Value = {"deep": [{"n": 987654, "text": "pin 987654"}], "flag": True, "other": True, "none": None}
    assert redactor.redact_value(value) == {
        "deep": [{"n": "***", "text": "pin ***"}],
        "flag": "***",
        "other": True,
        "none": None,
    }


def test_every_text_inside_a_secret_object_is_secret() -> None:
    redactor = Redactor(["login"], values={"login": {"user": "ada-l", "codes": ["c0de-1"]}})
    assert redactor.redact_text("ada-l used c0de-1") == "*** used ***"


def test_only_the_lines_that_hold_a_secret_are_masked() -> None:
    redactor = Redactor(["k"], values={"k": "hunter2"})
    lines = ("\x1b[32mgreen\x1b[0m", "the key is hun\x1b[1mter2", "", "hunter2")
    assert redactor.redact_event(LinesPrinted("a", "stdout", lines)) == LinesPrinted(
        "a", "stdout", ("\x1b[32mgreen\x1b[0m", "the key is ***", "", "***")
    )


def test_a_secret_is_learnt_when_it_is_stored() -> None:
    redactor = Redactor(["token"])
    stored = redactor.redact_event(OutputStored("get", {"token": "fresh-one", "url": "x?t=fresh-one"}))
    assert stored == OutputStored("get", {"token": "***", "url": "x?t=***"})
    assert redactor.redact_event(LinesPrinted("use", "stdout", ("using fresh-one",))) == LinesPrinted(
        "use", "stdout", ("using ***",)
    )


def test_a_step_that_writes_a_secret_shows_nothing_even_before_the_secret_is_known() -> None:
    redactor = Redactor()
    redactor.know(recipe_with(bash("get", "token"), bash("other"), secrets=frozenset({"token"})))
    redactor.redact_event(started("get"))
    redactor.redact_event(started("other"))
    for identity, text in (("get", "***"), ("get[0]", "***"), ("other", "abc")):
        printed = redactor.redact_event(LinesPrinted(identity, "stdout", ("abc", "")))
        assert printed == LinesPrinted(identity, "stdout", (text, ""))
    failed = StepFinished(step_result("get", "half-a-token", "exit 1: half-a-token"), "r", 0)
    shown = redactor.redact_event(failed)
    assert isinstance(shown, StepFinished)
    assert (shown.result.output, shown.result.error) == ("***", "exit 1: ***")


def test_a_sub_recipe_may_call_secret_what_is_already_there() -> None:
    redactor = Redactor(values={"key": "from-the-caller"})
    redactor.redact_event(OutputStored("make", {"made": "made-before"}))
    assert redactor.redact_text("from-the-caller made-before") == "from-the-caller made-before"
    redactor.know(recipe_with(secrets=frozenset({"key", "made"}), name="child"))
    assert redactor.redact_text("from-the-caller made-before") == "*** ***"


def test_every_kind_of_event_is_masked_and_names_stay() -> None:
    redactor = Redactor(["k"], values={"k": "zzz9"})
    text, masked = "has zzz9", "has ***"
    plain = step_result("zzz9-step")
    result = replace(
        plain,
        output=text,
        error=text,
        stderr=text,
        skip_reason=text,
        warnings=(text,),
        children=(replace(plain, output=text),),
    )
    shown = replace(
        plain,
        output=masked,
        error=masked,
        stderr=masked,
        skip_reason=masked,
        warnings=(masked,),
        children=(replace(plain, output=masked),),
    )
    run = RunResult(
        run_id="1",
        recipe_name="r",
        ending="failed",
        step_results=(result,),
        context={"k": "zzz9", "v": [text]},
        error=text,
        warnings=(text,),
        summary=text,
    )
    run_shown = replace(
        run,
        step_results=(shown,),
        context={"k": "***", "v": [masked]},
        error=masked,
        warnings=(masked,),
        summary=masked,
    )
    pairs: list[tuple[Event, Event]] = [
        (StepFinished(result, "r", 0), StepFinished(shown, "r", 0)),
        (RunFinished(run), RunFinished(run_shown)),
        (Retrying("a", 2, 3, 1.0, text), Retrying("a", 2, 3, 1.0, masked)),
        (GateReached("s", text), GateReached("s", masked)),
        (GateDecided("s", True, text), GateDecided("s", True, masked)),
        (Warned("a", text), Warned("a", masked)),
        (RecipeEntered("zzz9", "r", 1, 1), RecipeEntered("zzz9", "r", 1, 1)),
        (started("zzz9"), started("zzz9")),
    ]
    assert [redactor.redact_event(event) for event, _ in pairs] == [expected for _, expected in pairs]


secrets = st.text(min_size=1, max_size=30).filter(lambda text: "*" not in text and not text.isspace())


@given(secrets, secrets, st.lists(st.text(max_size=20), max_size=4))
def test_no_secret_survives_in_any_text(first: str, second: str, parts: list[str]) -> None:
    redactor = Redactor(["a", "b"], values={"a": first, "b": second})
    for text in (first.join(["", *parts, ""]), second.join(parts) + first, first + second + first):
        masked = redactor.redact_text(text)
        assert first not in masked
        assert second not in masked


def test_a_secret_that_is_no_proper_text_is_masked_too() -> None:
    assert Redactor(["k"], values={"k": "\ud800half"}).redact_text("a \ud800half") == "a ***"


def test_what_is_handed_to_a_sub_recipe_that_calls_it_secret_is_masked_from_then_on() -> None:
    redactor = Redactor()
    entered = redactor.redact_event(RecipeEntered("call", "child", 1, 1, {"key": "sesame-4711"}))
    assert isinstance(entered, RecipeEntered)
    assert entered.secrets == {}
    assert redactor.redact_text("the key is sesame-4711.") == "the key is ***."


def test_the_item_of_a_loop_is_masked_by_its_name_and_by_what_it_holds() -> None:
    redactor = Redactor({"token"}, values={"token": "s3cr3t-one"})
    shown = redactor.redact_event(
        IterationStarted("each", 0, 2, {"item": {"token": "x", "url": "u/s3cr3t-one"}})
    )
    assert isinstance(shown, IterationStarted)
    assert shown.item == {"item": {"token": "***", "url": "u/***"}}
    named = redactor.redact_event(IterationStarted("each", 1, 2, {"token": "s3cr3t-two"}))
    assert isinstance(named, IterationStarted)
    assert named.item == {"token": "***"}
    assert redactor.redact_text("it is s3cr3t-two") == "it is ***"


@pytest.mark.parametrize("secrets", [[], ["key"]])
def test_credentials_in_addresses_are_hidden_where_they_are_shown_and_kept_in_values(
    secrets: list[str],
) -> None:
    address, hidden = "https://me:hunter2-hunter2@host/x", "https://***@host/x"
    redactor = Redactor(secrets, values={"key": LONG})
    printed = redactor.redact_event(LinesPrinted("a", "stdout", ("plain", f"from {address}", "a;key=5")))
    assert printed == LinesPrinted("a", "stdout", ("plain", f"from {hidden}", "a;key=5"))
    assert redactor.redact_event(Warned("a", f"no {address}")) == Warned("a", f"no {hidden}")
    result = StepResult(
        step_id="a", identity="a", kind="bash", status="failed", output=address, error=f"fatal: {address}"
    )
    finished = redactor.redact_event(StepFinished(result, recipe="r", depth=0))
    assert isinstance(finished, StepFinished)
    assert (finished.result.output, finished.result.error) == (address, f"fatal: {hidden}")
    assert redactor.redact_shown(f"git clone {address}") == f"git clone {hidden}"
    assert redactor.redact_value({"u": address}) == {"u": address}


@pytest.mark.parametrize("words", ["error", "skip_reason", "warnings"])
def test_credentials_are_hidden_in_all_words_of_a_step_and_of_the_steps_inside_it(words: str) -> None:
    address, hidden = "https://me:hunter2-hunter2@host/x", "https://***@host/x"
    said = {words: (address,) if words == "warnings" else address}
    inner = StepResult(step_id="b", identity="a/b", kind="bash", status="failed", **said)  # type: ignore[arg-type]
    outer = StepResult(step_id="a", identity="a", kind="recipe", status="completed", children=(inner,))
    shown = Redactor([]).redact_step(outer)
    assert getattr(shown.children[0], words) == ((hidden,) if words == "warnings" else hidden)


def test_the_result_of_a_recipe_is_what_it_says_also_with_a_login_in_an_address() -> None:
    address = "postgres://app:pw@localhost/db"
    result = RunResult(run_id="r", recipe_name="n", ending="failed", summary=address, error=f"no {address}")
    for redactor in (Redactor([]), Redactor(["something-else"])):
        shown = redactor.redact_result(result)
        assert (shown.summary, "pw" in shown.error) == (address, False)


def test_a_default_that_holds_the_place_of_a_secret_hides_nothing_else() -> None:
    redactor = Redactor(["token"], values={"token": "s3cr3t-t0ken"})
    redactor.know(replace(recipe_with(secrets=frozenset({"token"})), context={"token": "x"}))
    assert redactor.redact_text("fix the box with s3cr3t-t0ken") == "fix the box with ***"
    assert redactor.weak() == []
    redactor.know(replace(recipe_with(secrets=frozenset({"token"})), context={"token": "an-0ther-one"}))
    assert redactor.redact_text("an-0ther-one") == "***"
