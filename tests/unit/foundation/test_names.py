"""The promise of the facade: these names, from these places, at next to no cost."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import amplifier_foundation

GOLDEN = Path(__file__).parents[2] / "golden" / "foundation_names.txt"


def modules() -> list[str]:
    found = pkgutil.walk_packages(amplifier_foundation.__path__, "amplifier_foundation.")
    return ["amplifier_foundation", *(module.name for module in found)]


def exported() -> list[str]:
    names: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for name in modules():
            module = importlib.import_module(name)
            public = [each for each in getattr(module, "__all__", ()) if not each.startswith("_")]
            assert all(hasattr(module, each) for each in public)
            names += [f"{name}.{each}" for each in public]
    return sorted(names)


def test_the_exported_names_are_the_promised_ones(request: pytest.FixtureRequest) -> None:
    text = "\n".join(exported()) + "\n"
    if request.config.getoption("--update-golden"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()


def test_type_checkers_see_the_same_names() -> None:
    stub = Path(amplifier_foundation.__file__).with_suffix(".pyi").read_text()
    declared = [
        (node.module, alias.name, alias.asname)
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted(name for _, name, _ in declared) == sorted(vars(amplifier_foundation)["__all__"])
    for module, name, alias in declared:
        assert module is not None
        assert name == alias
        assert getattr(amplifier_foundation, name) is getattr(importlib.import_module(module), name)


def test_importing_the_package_imports_nothing_slow() -> None:
    script = (
        "import sys; before = set(sys.modules)\n"
        "import amplifier_foundation\n"
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    run = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["__future__", "amplifier_foundation"]


@pytest.mark.parametrize(
    "name",
    ["ProviderPreference", "generate_sub_session_id", "sanitize_for_json", "sum_cost_usd"],
)
def test_a_name_that_needs_no_files_imports_no_yaml_and_no_kernel(name: str) -> None:
    script = f"from amplifier_foundation import {name}; import sys; print(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert not loaded & {"yaml", "pydantic", "amplifier_core", "asyncio", "subprocess", "amplihack.system"}


def test_parts_can_be_reached_without_importing_them() -> None:
    script = (
        "import amplifier_foundation as f; print(f.session.messages.count_turns([]), 'session' in dir(f))"
    )
    run = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["0", "True"]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'amplifier_foundation' has no attribute 'nothing'"):
        getattr(amplifier_foundation, "nothing")  # noqa: B009 - a type checker would refuse the plain form


def test_the_session_package_offers_its_41_names() -> None:
    session = importlib.import_module("amplifier_foundation.session")
    assert len(session.__all__) == 41


def test_the_old_home_of_the_message_functions_says_where_they_went() -> None:
    sys.modules.pop("amplifier_foundation.session.slice", None)
    with pytest.warns(DeprecationWarning, match=r"session\.messages"):
        old = importlib.import_module("amplifier_foundation.session.slice")
    new = importlib.import_module("amplifier_foundation.session.messages")
    assert old.__all__ == new.__all__
    assert old.slice_to_turn is new.slice_to_turn


def test_the_adapter_that_is_not_here_says_so_to_programs_and_to_hosts() -> None:
    with pytest.raises(ImportError, match=r"grpc_adapter\.serve: amplihack has no gRPC adapter"):
        importlib.import_module("amplifier_foundation.grpc_adapter").serve  # noqa: B018 - what a program does
    argv = [sys.executable, "-m", "amplifier_foundation.grpc_adapter", "--port", "0"]
    run = subprocess.run(argv, capture_output=True, text=True, input="{}", check=False)
    assert (run.returncode, run.stderr) == (1, "")
    assert run.stdout.startswith("ERROR:amplihack has no gRPC adapter")
    assert run.stdout.count("\n") == 1
