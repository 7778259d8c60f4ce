from __future__ import annotations

from pathlib import Path
from typing import Any

from amplihack.system.foundation.session_working_dir import get_working_dir, set_working_dir


class Coordinator:
    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def get_capability(self, name: str, /) -> Any:
        return self.values.get(name)

    def register_capability(self, name: str, value: Any, /) -> None:
        self.values[name] = value


def test_a_session_works_where_it_was_told_to(tmp_path: Path) -> None:
    coordinator = Coordinator()
    (tmp_path / "link").symlink_to(tmp_path)
    set_working_dir(coordinator, tmp_path / "link")
    assert coordinator.values == {"session.working_dir": str(tmp_path.resolve())}
    assert get_working_dir(coordinator, fallback="/elsewhere") == tmp_path.resolve()


def test_without_a_directory_of_its_own_it_works_in_the_fallback_or_ours() -> None:
    assert get_working_dir(Coordinator(), fallback="/elsewhere") == Path("/elsewhere")
    assert get_working_dir(Coordinator()) == Path.cwd()
