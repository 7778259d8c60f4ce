"""No value is run, whatever it holds and wherever it stands; where a script prints it, every byte arrives.

FUZZ_PAIRS says how many pairs of a place and a value to try; the suite takes a small share.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.support.shell_places import CANARY, OTHER, Pair, pairs, statements, value

from amplihack.errors import TemplateError
from amplihack.recipes.templates.shell import render_shell

SHARDS = int(os.environ.get("FUZZ_SHARDS", "8"))
PER_PROCESS = 125
VALUES = 4  # for each place: reading a script takes longer than rendering it once more
PAIRS = int(os.environ.get("FUZZ_PAIRS", "4000"))
FIRST = int(os.environ.get("FUZZ_FIRST", "0"))  # other pairs than those of another run
PROGRESS = os.environ.get("FUZZ_PROGRESS", "")


def _rendered(pair: Pair, text: str) -> str | None:
    fresh = (f"fresh_{number}" for number in itertools.count())
    try:
        return render_shell(pair.script, {"v": text, "w": OTHER}, token=lambda: next(fresh)).source
    except TemplateError:
        return None


def _run(folder: Path, text: str, sources: list[str]) -> list[bytes]:
    """Return what each source printed; all are run by one bash, each in a subshell of its own."""
    for number, source in enumerate(sources):
        (folder / f"{number}.sh").write_bytes(source.encode("utf-8", "surrogateescape"))
    each = "( . ./$i_.sh ) 2>/dev/null </dev/null; printf '\\0\\0'"
    runs = f"for i_ in {{0..{len(sources) - 1}}}; do {each}; done"
    environment = {
        b"PATH": os.environb[b"PATH"],
        b"LC_ALL": b"C.UTF-8",
        b"RECIPE_VAR_v": text.encode("utf-8", "surrogateescape"),
        b"RECIPE_VAR_w": OTHER.encode(),
    }
    finished = subprocess.run(
        ["bash", "-c", f"shopt -s extglob; {runs}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        timeout=300,
        check=False,
    )
    return finished.stdout.split(b"\0\0")[:-1]


def _culprits(folder: Path, text: str, tried: list[tuple[Pair, str]]) -> str:
    """Name the scripts that ran the value, by trying each alone."""
    found = []
    for number, (pair, source) in enumerate(tried):
        alone = folder / f"alone{number}"
        alone.mkdir()
        _run(alone, text, [source])
        if (alone / CANARY).exists():
            found.append(f"{pair.script!r}\n--- became ---\n{source}")
    return f"{text!r} was run in:\n" + "\n\n".join(found)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_value_is_run_and_what_is_printed_is_the_value(shard: int, tmp_path: Path) -> None:
    rendered = 0
    for batch in range(shard, max(PAIRS // (PER_PROCESS * VALUES), SHARDS), SHARDS):
        random_ = random.Random(FIRST + batch)
        places = list(pairs(random_, PER_PROCESS))
        for number in range(VALUES):
            rendered += _try(tmp_path / f"{batch}-{number}", value(random_), places)
        _tell(shard, batch, rendered)
    assert rendered > 0


def _try(folder: Path, text: str, places: list[Pair]) -> int:
    """Try a value in all places; return in how many it was not refused."""
    tried = [(pair, source) for pair in places if (source := _rendered(pair, text)) is not None]
    folder.mkdir()
    printed = _run(folder, text, [source for _, source in tried])
    assert not (folder / CANARY).exists(), _culprits(folder, text, tried)
    assert len(printed) == len(tried)
    for (pair, source), got in zip(tried, printed, strict=True):
        if pair.printed is not None:
            expected = pair.printed.replace("@", text).encode("utf-8", "surrogateescape")
            # A process that the script before it left behind may have printed here.
            alone = got if got == expected else _alone(folder, text, source)
            assert alone == expected, f"{text!r} in {pair.script!r}\n--- became ---\n{source}"
    shutil.rmtree(folder)
    return len(tried)


def _tell(shard: int, batch: int, rendered: int) -> None:
    """Keep count in the file that FUZZ_PROGRESS names: a million pairs take a while."""
    if PROGRESS:
        with Path(PROGRESS).open("a", encoding="utf-8") as progress:
            progress.write(f"shard {shard} batch {batch}: {rendered} not refused and run\n")


def _alone(folder: Path, text: str, source: str) -> bytes:
    own = folder / "alone"
    own.mkdir()
    (printed,) = _run(own, text, [source])
    shutil.rmtree(own)
    return printed


# A printed name leads to another variable of the script, which may hold another value.
@pytest.mark.parametrize("text", ["b", "a=b", "b+1", "b[0]", "-b"])
@pytest.mark.parametrize(
    "script",
    [
        "a=$(echo {{v}}); b={{w}}; (( a ))",
        'a="$(printf %s {{v}})"; b={{w}}; (( a ))',
        "cat <( a=$(echo {{v}}); b={{w}}; (( a ))\n)",
        "b=$(echo {{w}}); a=$(echo {{v}}); (( a ))",
        "read b <<< {{w}}; a=$(echo {{v}}); (( a ))",
        "a=$(echo {{v}}); b={{w}}; x[a]=1",
        "a=$(echo {{v}}); b={{w}}; [[ $a -gt 1 ]]",
    ],
)
def test_no_value_is_run_through_the_name_of_its_variable(script: str, text: str, tmp_path: Path) -> None:
    source = _rendered(Pair(script, None), text)
    assert source is not None
    _run(tmp_path, text, [source])
    assert not (tmp_path / CANARY).exists(), source


@pytest.mark.parametrize("statement", [*statements("built"), *statements("flows")])
def test_no_text_of_the_script_makes_the_name_of_a_variable_that_holds_a_value(
    statement: str, tmp_path: Path
) -> None:
    hostile = f"a[$(touch {CANARY})]"
    source = _rendered(Pair(statement.replace("§", "{{v}}"), None), hostile)
    _run(tmp_path, hostile, [source or ""])
    assert not (tmp_path / CANARY).exists(), source


_BY_NAME = ("PWD", "m=n; echo")  # these calculate with the name of a variable, which no guard lets pass


@pytest.mark.parametrize(
    "statement",
    [each for each in statements("flows") if "{{w}}" not in each and not any(by in each for by in _BY_NAME)],
)
def test_a_number_takes_every_way_as_if_it_were_written_there(statement: str, tmp_path: Path) -> None:
    source = _rendered(Pair(statement.replace("§", "{{v}}"), None), "7")
    assert source is not None
    assert _run(tmp_path, "7", [source]) == _run(tmp_path, "7", [statement.replace("§", "7")])
