from __future__ import annotations

import os
import pwd
from pathlib import Path


def test_the_real_home_directory_is_out_of_reach(own_home: Path) -> None:
    real = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert Path.home() == own_home
    assert Path("~").expanduser() != real
