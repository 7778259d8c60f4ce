"""Damage to a staged home, one thing at a time, and what `doctor --fix` makes of it."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterable
from pathlib import Path

from tests.support.framework_bundle import good_files, write_bundle

from amplihack.app.install.check_result import CheckPlace
from amplihack.app.install.checkup import mend
from amplihack.errors import AmplihackError
from amplihack.system import bundle_places, healed
from amplihack.system.home import Home
from amplihack.version import __version__


def damage(home: Path, chance: random.Random) -> str:
    """Do one thing to one file or directory under the home root, and tell what."""
    path = chance.choice(sorted(home.rglob("*")))
    match chance.randrange(6):
        case 0 if path.is_file():
            data = bytearray(path.read_bytes() or b"x")
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            path.write_bytes(bytes(data))
            what = "a bit"
        case 1 if path.is_file():
            path.write_bytes(path.read_bytes()[: chance.randrange(20)])
            what = "cut"
        case 2 if not path.is_symlink():
            path.chmod(chance.choice([0o777, 0o600, 0o700, 0o000]))
            what = "mode"
        case 3:
            remove(path)
            path.symlink_to(chance.choice(["/etc/passwd", "nowhere", str(home.parent), "."]))
            what = "link"
        case 4:
            remove(path)
            os.mkfifo(path)
            what = "pipe"
        case _:
            remove(path)
            what = "removed"
    return f"{what}: {path.relative_to(home)}"


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def damage_and_mend(folder: Path, seeds: Iterable[int]) -> dict[str, int]:
    """Damage a staged home once for each seed, and mend it. What is mended is verified byte for byte."""
    packaged = folder / "site" / "amplihack" / "_bundle" / "amplifier-bundle"
    write_bundle(packaged.parent, mark="one", version=__version__)
    user, template = folder / "user", folder / "template"
    place = CheckPlace(home=Home(user / ".amplihack", user, folder), environment={"PATH": ""})
    before = (healed.PACKAGED, healed._PACKAGE)
    outcomes = {"mended": 0, "refused": 0}
    try:
        for module in (healed, bundle_places):
            module.PACKAGED = str(packaged)  # type: ignore[attr-defined]
        healed._PACKAGE = str(packaged.parents[1])  # no checkout, which has a bundle too
        user.mkdir()
        said: list[str] = []
        assert all(check.ok for check in mend(place, said.append))
        user.rename(template)
        for seed in seeds:
            shutil.rmtree(user, ignore_errors=True)
            shutil.copytree(template, user, symlinks=True)
            what = damage(user / ".amplihack", random.Random(seed))
            outcomes[_outcome(place, user, f"seed {seed}, {what}")] += 1
    finally:
        for module in (healed, bundle_places):
            module.PACKAGED = before[0]  # type: ignore[attr-defined]
        healed._PACKAGE = before[1]
    return outcomes


def _outcome(place: CheckPlace, user: Path, what: str) -> str:
    said: list[str] = []
    try:
        left = [check for check in mend(place, said.append) if not check.ok]
    except AmplihackError as error:
        assert error.what, what
        assert error.fix, what
        return "refused"
    if left:  # what is no file in the place of a file of ours is the user's to look at
        assert all(check.fix for check in left), (what, left)
        assert all("delete it" in check.fix or "check" in check.fix for check in left), (what, left)
        return "refused"
    bundle = user / ".amplihack" / "amplifier-bundle"
    found = {str(file.relative_to(bundle)) for file in bundle.rglob("*") if file.is_file()}
    assert found == {*good_files(), "BUNDLE.json"}, what
    assert all((bundle / path).read_bytes() == data for path, data in good_files("one").items()), what
    return "mended"
