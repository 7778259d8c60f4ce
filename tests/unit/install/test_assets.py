from __future__ import annotations

import pytest

from amplihack.errors import AmplihackError, UsageError
from amplihack.install.assets import NAMED_ASSETS, asset_of


def test_the_named_assets_in_their_order() -> None:
    assert {name: (asset.path, asset.kind) for name, asset in NAMED_ASSETS.items()} == {
        "hooks-dir": ("amplifier-bundle/tools/amplihack/hooks", "directory"),
        "helper-path": ("amplifier-bundle/bin/multitask-orchestrator.sh", "file"),
        "session-tree-path": ("amplifier-bundle/tools/amplihack/session", "directory"),
        "multitask-orchestrator": ("amplifier-bundle/bin/multitask-orchestrator.sh", "file"),
    }
    assert list(NAMED_ASSETS) == ["hooks-dir", "helper-path", "session-tree-path", "multitask-orchestrator"]


@pytest.mark.parametrize(
    "path", ["amplifier-bundle/..hidden", "amplifier-bundle/a/b_c-d.e", "amplifier-bundle/x/"]
)
def test_paths_that_are_allowed(path: str) -> None:
    assert asset_of(path).path == path


@pytest.mark.parametrize(
    "text",
    [
        "", "a\0b", "/etc/passwd", "~", "~/x", ".", "..", "../x", "other/x",
        "amplifier-bundle/../x", "amplifier-bundle/./x", "amplifier-bundle/a b", "amplifier-bundle/é",
        "amplifier-bundle/a\n", "amplifier-bundle/$x",
    ],
)  # fmt: skip
def test_paths_that_are_not_allowed_are_wrong_input(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        asset_of(text)
    assert raised.value.exit_code == 2


@pytest.mark.parametrize("name", ["helper", "HELPER-PATH", "amplifier-bundle", "x"])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(AmplihackError) as raised:
        asset_of(name)
    assert raised.value.exit_code == 1
    assert raised.value.what == (
        f'ERROR: Unknown asset name "{name}". '
        "Expected one of: hooks-dir, helper-path, session-tree-path, multitask-orchestrator"
    )
