"""Put off what a command would load and hardly ever uses, and find the rest faster, to start sooner.

Only for a process that is ours alone: a library has no business in the imports of other people's programs.
It is loaded before anything else is, so it imports only what the interpreter has loaded anyway.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib.machinery import FrozenImporter, ModuleSpec, PathFinder, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any
else:
    ModuleType = type(sys)

# What asyncio loads for encrypted streams and debugging, shutil for archives, PyYAML for binary data, and
# others for translations, addresses and JSON. Whoever looks into one of these gets the real one.
_SELDOM_USED = {
    "asyncio.sslproto", "base64", "binascii", "bz2", "gettext", "inspect", "ipaddress", "json", "lzma", "ssl",
    "urllib.parse",
}  # fmt: skip
_PACKAGES = {"json"}

# Modules that compile expressions nobody uses in a command, such as those of PyYAML's loaders in Python: ours
# is in C.
_LATE_EXPRESSIONS = {"logging", "string", "textwrap", "tokenize", "yaml"}

# Importing makes tens of thousands of objects that stay: looking through them for garbage finds none.
# A command that runs nothing has ended before garbage could matter.
_OBJECTS_BEFORE_A_COLLECTION = 50_000
_OBJECTS_OF_A_BRIEF_COMMAND = 500_000

_LIBRARY = os.path.dirname(os.__file__)  # noqa: PTH120 - `pathlib` is among what is found faster


def quick_start(*, brief: bool = False) -> None:
    """Prepare this process for the imports of a command; `brief` tells that it runs no recipe."""
    gc.set_threshold(_OBJECTS_OF_A_BRIEF_COMMAND if brief else _OBJECTS_BEFORE_A_COLLECTION)
    sys.meta_path.insert(0, QuickImports())


class LaterModule(ModuleType):
    """Stands for a module until somebody asks it for something."""

    def __getattr__(self, name: str) -> object:
        own = self.__name__
        if name == "__path__" and own not in _PACKAGES:
            raise AttributeError(name)  # `from … import …` asks whether there are modules inside
        found: object = getattr(_real(own), name)
        if callable(found):
            self.__dict__[name] = found  # functions and classes stay what they are
        return found


def _real(name: str) -> Any:
    """Return the module itself instead of what stands for it."""
    from importlib import import_module

    _SELDOM_USED.discard(name)
    if isinstance(sys.modules.get(name), LaterModule):
        sys.modules.pop(name, None)
    # The import system makes a second thread wait here until the first has loaded all of it.
    return import_module(name)


class QuickImports:
    """Finds the modules that are loaded in a cheaper way than usual."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in _SELDOM_USED:
            later: Any = LaterLoader()
            return ModuleSpec(name, later)
        if name not in _LATE_EXPRESSIONS:
            return _source_file(name, path)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            late: Any = LateExpressions(spec.loader)
            spec.loader = late
        return spec


def _source_file(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Return where a module of the standard library or of a package in one directory is, or None.

    The usual search asks one finder after another, each directory in turn and five endings in each: half of
    what it costs to load a small module.
    """
    if path is None:
        if name not in sys.stdlib_module_names or FrozenImporter.find_spec(name):
            return None
        directory = _LIBRARY
    elif len(path) == 1 and not name.startswith("importlib."):  # those are frozen
        directory = path[0]
    else:
        return None
    base = f"{directory}/{name.rpartition('.')[2]}"
    for file, inside in ((f"{base}.py", None), (f"{base}/__init__.py", [base])):
        if os.path.isfile(file):  # noqa: PTH113 - as above
            spec = ModuleSpec(name, SourceFileLoader(name, file), origin=file, is_package=inside is not None)
            spec.submodule_search_locations = inside
            spec.has_location = True
            return spec
    return None


class LaterLoader:
    """Makes stand-ins."""

    def create_module(self, _spec: ModuleSpec) -> None:
        """Let the import system make a module and fill in what it says about itself."""

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__.update(_READY.get(module.__name__, {}))
        module.__class__ = LaterModule


def _as_it_is(message: str) -> str:
    return message


def _one_or_many(one: str, many: str, count: int) -> str:
    return one if count == 1 else many


def _quote_from_bytes(*given: Any) -> str:
    quoted: str = _real("urllib.parse").quote_from_bytes(*given)
    return quoted


def _is_coroutine_function(found: Any) -> bool:
    """Answer for a plain function at once, and ask the real module about everything else."""
    if type(found) is type(_as_it_is) and not found.__dict__:
        return bool(found.__code__.co_flags & _COROUTINE)
    answer: bool = _real("inspect").iscoroutinefunction(found)
    return answer


_COROUTINE = 0x80  # as `inspect.CO_COROUTINE`

# What others take out of a module while they are loaded: `argparse`, whose pages are in English here, and
# `pathlib`, which needs it to write a path as a URL. An event loop asks what a handler of signals is.
_READY: dict[str, dict[str, Any]] = {
    "gettext": {"gettext": _as_it_is, "ngettext": _one_or_many},
    "inspect": {"iscoroutinefunction": _is_coroutine_function},
    "urllib.parse": {"quote_from_bytes": _quote_from_bytes},
}


class LateExpressions:
    """Loads a module whose regular expressions are compiled on first use, as ours are."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        import re  # deferred, as what is loaded before the imports are quicker takes longer

        from amplihack.patterns import pattern

        compile_now = re.compile
        re.compile = pattern  # type: ignore[assignment]
        try:
            self._loader.exec_module(module)
        finally:
            re.compile = compile_now
