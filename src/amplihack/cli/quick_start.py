"""Put off what a command would load and hardly ever uses, to start sooner.

Only for a process that is ours alone: a library has no business in the imports of other people's programs.
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from amplihack.patterns import pattern

# What asyncio loads for encrypted streams and debugging, and shutil for archives: a third of the time that
# it takes to load those two. Whoever looks into one of these gets the real one.
_SELDOM_USED = {"ssl", "asyncio.sslproto", "inspect", "bz2", "lzma"}

# Modules that compile expressions nobody uses in a command, such as those of PyYAML's loaders in Python: ours
# is in C.
_LATE_EXPRESSIONS = {"logging", "string", "textwrap", "tokenize", "yaml"}

# Importing makes tens of thousands of objects that stay: looking through them for garbage finds none.
_OBJECTS_BEFORE_A_COLLECTION = 50_000
_ASKED_BY_IMPORTS = ("__path__", "__file__", "__cached__")


def quick_start() -> None:
    """Prepare this process for the imports of a command."""
    gc.set_threshold(_OBJECTS_BEFORE_A_COLLECTION)
    sys.meta_path.insert(0, QuickImports())


class LaterModule(ModuleType):
    """Stands for a module until somebody asks it for something."""

    def __getattr__(self, name: str) -> object:
        if name in _ASKED_BY_IMPORTS:
            raise AttributeError(name)
        own = self.__name__
        _SELDOM_USED.discard(own)
        if sys.modules.get(own) is self:
            sys.modules.pop(own, None)
        # The import system makes a second thread wait here until the first has loaded all of it.
        return getattr(import_module(own), name)


class QuickImports:
    """Finds the modules that are loaded in a cheaper way than usual."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in _SELDOM_USED:
            later: Any = LaterLoader()
            return ModuleSpec(name, later)
        spec = PathFinder.find_spec(name, path) if name in _LATE_EXPRESSIONS else None
        if spec is not None and spec.loader is not None:
            late: Any = LateExpressions(spec.loader)
            spec.loader = late
        return spec


class LaterLoader:
    """Makes stand-ins."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return LaterModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing yet."""


class LateExpressions:
    """Loads a module whose regular expressions are compiled on first use, as ours are."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        compile_now = re.compile
        re.compile = pattern  # type: ignore[assignment]
        try:
            self._loader.exec_module(module)
        finally:
            re.compile = compile_now
