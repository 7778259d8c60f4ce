from __future__ import annotations

import json
from typing import Any

import pytest

from amplihack.install.method import InstallEvidence, method_of, newest_version

PLAIN: dict[str, Any] = {
    "python": "/env/bin/python", "prefix": "/env", "location": "/env/lib", "in_venv": True, "has_pip": True,
}  # fmt: skip


@pytest.mark.parametrize(
    ("signs", "kind", "upgrade"),
    [
        ({"checkout": "/src", "has_uv_receipt": True}, "checkout", ()),
        ({"is_installed": False}, "source", ()),
        ({"has_uv_receipt": True, "uv": "/bin/uv"}, "uv tool", ("/bin/uv", "tool", "upgrade", "amplihack")),
        ({"has_uv_receipt": True}, "uv tool", ()),
        ({"in_uv_cache": True, "uv": "/bin/uv"}, "uvx", ()),
        ({"has_pipx_metadata": True, "pipx": "/bin/pipx"}, "pipx", ("/bin/pipx", "upgrade", "amplihack")),
        ({"has_pipx_metadata": True}, "pipx", ()),
        ({"has_conda_meta": True, "in_venv": False}, "conda", ()),
        ({"is_externally_managed": True, "in_venv": False}, "system", ()),
        ({"installer": "debian"}, "system", ()),
        ({"is_writable": False}, "read-only", ()),
        ({"fetched_from": "git+https://example.org/x"}, "pip", ()),
        (
            {"installer": "pip"},
            "pip",
            (
                "/env/bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--upgrade",
                "amplihack",
            ),
        ),
        (
            {"in_venv": False, "in_user_site": True},
            "pip --user",
            (
                "/env/bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--upgrade",
                "--user", "amplihack",
            ),
        ),
        (
            {"has_pip": False, "uv": "/bin/uv"},
            "pip",
            ("/bin/uv", "pip", "install", "--python", "/env/bin/python", "--upgrade", "amplihack"),
        ),
        ({"has_pip": False}, "pip", ()),
    ],
)  # fmt: skip
def test_the_first_sign_that_fits_decides_how_it_is_upgraded(
    signs: dict[str, Any], kind: str, upgrade: tuple[str, ...]
) -> None:
    found = method_of(InstallEvidence(**{**PLAIN, **signs}))
    assert (found.kind, found.upgrade) == (kind, upgrade)
    assert found.advice
    assert bool(found.newest) == bool(upgrade)


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        (json.dumps({"install": [{"metadata": {"name": "amplihack", "version": "2.0"}}]}), "2.0"),
        (json.dumps({"install": []}), "1.0"),
        ("Would install 1 package\n - amplihack==1.0\n + amplihack==2.0\n", "2.0"),
        ("Collecting amplihack\nWould install amplihack-2.0\n", "2.0"),
        ("Would make no changes", "1.0"),
        ("", "1.0"),
        ("[]", "1.0"),
    ],
)
def test_the_newest_version_is_what_the_tool_would_install(answer: str, version: str) -> None:
    assert newest_version(answer, "1.0") == version
