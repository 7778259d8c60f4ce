"""Puts off what a command would load and hardly ever uses, to start sooner.

Only for a process that is ours alone: a library has no business in the imports of other people's programs.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

from amplihack import patterns

# What asyncio loads for encrypted streams and debugging, and shutil for archives: a third of the time that
# it takes to load those two. Whoever looks into one of these gets the real one.
_SELDOM_USED = {"ssl", "asyncio.sslproto", "inspect", "bz2", "lzma"}

_ASKED_BY_IMPORTS = ("__path__", "__file__", "__cached__")


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


class LaterImports:
    """Answers imports of seldom used modules with stand-ins."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in _SELDOM_USED else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return LaterModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing yet."""


def quick_start() -> None:
    """Prepare this process for the imports of a command."""
    patterns.process_is_ours = True
    sys.meta_path.insert(0, LaterImports())
