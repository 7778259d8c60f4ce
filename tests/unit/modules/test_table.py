"""What we ship is what the distribution says, and the kernel's validators pass on each of it."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from amplifier_core.validation import (
    ContextValidator,
    HookValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
)

from amplihack.modules.setting_names import settings_of
from amplihack.modules.settings import ModuleSettings
from amplihack.modules.table import MODULES

PROJECT = Path(__file__).parents[3] / "pyproject.toml"
VALIDATORS: dict[str, Any] = {
    "orchestrator": OrchestratorValidator,
    "context": ContextValidator,
    "provider": ProviderValidator,
    "tool": ToolValidator,
    "hook": HookValidator,
}
# What a module cannot be mounted without.
CONFIGS: dict[str, dict[str, Any]] = {
    "provider-anthropic": {"api_key": "k"},
    "provider-openai": {"api_key": "k"},
    "provider-chat-completions": {"base_url": "http://127.0.0.1:1/v1", "default_model": "m"},
}


def test_the_entry_points_are_the_table() -> None:
    declared = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["entry-points"]["amplifier.modules"]
    assert declared == {name: module.entry_point for name, module in MODULES.items()}


def test_the_kernel_finds_them_installed() -> None:
    found = {each.name: each.value for each in entry_points(group="amplifier.modules")}
    assert found.items() >= {name: module.entry_point for name, module in MODULES.items()}.items()


@pytest.mark.parametrize("name", MODULES)
def test_the_validator_of_the_kernel_passes(name: str) -> None:
    module = MODULES[name]
    validator = VALIDATORS[module.kind]()
    result = asyncio.run(validator.validate(module.package, config=CONFIGS.get(name, {})))
    assert (result.passed, [check.message for check in result.errors + result.warnings]) == (True, [])
    assert any(check.name == "protocol_compliance" and check.passed for check in result.checks)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_its_type(name: str) -> None:
    module = __import__(MODULES[name].package, fromlist=["mount"])
    assert module.__amplifier_module_type__ == MODULES[name].kind


def test_reading_the_table_imports_neither_the_kernel_nor_a_module() -> None:
    code = (
        "import sys; import amplihack.modules.table; "
        "print([m for m in sys.modules if m.startswith(('amplifier_core', 'amplihack.modules.')) "
        "and m != 'amplihack.modules.table'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_mounting_a_provider_imports_no_sdk() -> None:
    code = (
        "import asyncio, sys\n"
        "from amplifier_core import create_test_coordinator\n"
        "import amplihack.modules.providers.anthropic as a, amplihack.modules.providers.openai as o\n"
        "c = create_test_coordinator()\n"
        "asyncio.run(a.mount(c, {'api_key': 'k'})); asyncio.run(o.mount(c, {'api_key': 'k'}))\n"
        "print([name for name in ('anthropic', 'openai', 'httpx2') if name in sys.modules])\n"
        "import os; sys.stdout.flush(); os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class _Read(Exception):
    """Everything that a mount reads has been read."""


@pytest.mark.parametrize("name", MODULES)
def test_the_names_of_settings_are_those_that_the_module_reads(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    others: list[str] = []
    begin = ModuleSettings.__init__

    def noted(self: ModuleSettings, *given: Any, **more: Any) -> None:
        begin(self, *given, **more)
        others.extend((*(more.get("also") or {}), *more.get("groups", ())))

    def read(self: ModuleSettings) -> None:
        raise _Read(self._known)

    monkeypatch.setattr(ModuleSettings, "__init__", noted)
    monkeypatch.setattr(ModuleSettings, "done", read)
    package = importlib.import_module(MODULES[name].package)
    config = {"api_key": "k"} if MODULES[name].kind == "provider" else {}
    with pytest.raises(_Read) as known:
        asyncio.run(package.mount(MagicMock(), config))
    assert settings_of(name) == {*known.value.args[0], *others}


def test_a_module_of_somebody_else_has_settings_that_nobody_knows() -> None:
    assert settings_of("tool-of-somebody") == frozenset()
