"""Put off what a command would load and hardly ever uses, and find the rest faster, to start sooner.

Only for a process that is ours alone: a library has no business in the imports of other people's programs.
It is loaded before anything else is, so it imports only what the interpreter has loaded anyway.
"""

from __future__ import annotations

import gc
import os
import sys
from _imp import _fix_co_filename  # type: ignore[attr-defined] # known to importlib alone
from importlib._bootstrap_external import MAGIC_NUMBER  # `importlib.util` gives it, after loading others
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    ExtensionFileLoader,
    FrozenImporter,
    ModuleSpec,
    PathFinder,
    SourceFileLoader,
)
from marshal import loads
from stat import S_ISREG

from amplihack.cli.stand_ins import SELDOM_USED, LaterLoader, load_what_was_put_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType
    from typing import Any
else:
    ModuleType = type(sys)

# Modules that compile expressions nobody uses in a command, such as those of PyYAML's loaders in Python: ours
# is in C.
_LATE_EXPRESSIONS = {
    "json.decoder", "json.encoder", "json.scanner", "locale", "logging", "string", "textwrap", "tokenize",
    "yaml",
}  # fmt: skip

# Importing makes tens of thousands of objects that stay: looking through them for garbage finds none.
# A command that runs nothing has ended before garbage could matter.
_OBJECTS_BEFORE_A_COLLECTION = 50_000
_OBJECTS_OF_A_BRIEF_COMMAND = 500_000

_LIBRARY = os.path.dirname(os.__file__)  # noqa: PTH120 - `pathlib` is among what is found faster
_EXTENSION = f"{_LIBRARY}/lib-dynload/%s{EXTENSION_SUFFIXES[0]}"

# Compiled code that is as new as its source begins so, followed by the time and the size of the source.
_FRESH_BY_TIME = MAGIC_NUMBER + bytes(4)
_MOST_CODE = 131_000  # bytes that are read at once; few modules are larger, and more memory costs more
_COMPILED = f".{sys.implementation.cache_tag}.pyc"
_AS_USUAL = bool(sys.flags.optimize or sys.pycache_prefix)  # compiled code lies elsewhere then


def quick_start(*, brief: bool = False) -> None:
    """Prepare this process for the imports of a command; `brief` tells that it runs no recipe."""
    gc.set_threshold(_OBJECTS_OF_A_BRIEF_COMMAND if brief else _OBJECTS_BEFORE_A_COLLECTION)
    sys.meta_path.insert(0, QuickImports())
    from amplihack.records import drop_guard  # deferred: it is to be found quickly, with all that it loads

    drop_guard()


class QuickImports:
    """Finds the modules that are loaded in a cheaper way than usual."""

    def stop_putting_off(self) -> None:
        """Load what was put off, and find everything as usual from now on."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            gc.set_threshold(_OBJECTS_BEFORE_A_COLLECTION)
            load_what_was_put_off()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in SELDOM_USED:
            later: Any = LaterLoader()
            return ModuleSpec(name, later)
        if name not in _LATE_EXPRESSIONS:
            return _found(name, path)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            late: Any = LateExpressions(spec.loader)
            spec.loader = late
        return spec


def _found(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Return where a module of the standard library or of a package in one directory is, or None.

    The usual search asks one finder after another, each directory in turn and five endings in each: half of
    what it costs to load a small module.
    """
    if path is None:
        if name not in sys.stdlib_module_names or name in sys.builtin_module_names:
            return None
        if FrozenImporter.find_spec(name):
            return None
        return _in_python(name, _LIBRARY) or _in_c(name)
    if len(path) == 1 and not name.startswith("importlib."):  # those are frozen
        return _in_python(name, path[0])
    return None


def _in_c(name: str) -> ModuleSpec | None:
    file = _EXTENSION % name
    if not os.path.isfile(file):  # noqa: PTH113 - as above
        return None
    spec = ModuleSpec(name, ExtensionFileLoader(name, file), origin=file)
    spec.has_location = True
    return spec


def _in_python(name: str, directory: str) -> ModuleSpec | None:
    own = name.rpartition(".")[2]
    inside = f"{directory}/{own}"
    return _source_file(name, directory, own) or _source_file(name, inside, "__init__", [inside])


def _source_file(name: str, directory: str, stem: str, inside: list[str] | None = None) -> ModuleSpec | None:
    file = f"{directory}/{stem}.py"
    try:
        source = os.stat(file)  # noqa: PTH116 - as above
    except OSError:
        return None
    if not S_ISREG(source.st_mode):
        return None
    compiled = f"{directory}/__pycache__/{stem}{_COMPILED}"
    loader = SourceFileLoader(name, file) if _AS_USUAL else CompiledFile(name, file, compiled, source)
    spec = ModuleSpec(name, loader, origin=file, is_package=inside is not None)
    spec.submodule_search_locations = inside
    spec.has_location = True
    if not _AS_USUAL:
        spec.cached = compiled
    return spec


class CompiledFile(SourceFileLoader):
    """Loads compiled code, if it belongs to the source as it is now; everything else is left to Python.

    The rule is Python's own. To look at the source once and to read with one call saves a third of what a
    small module costs.
    """

    def __init__(self, name: str, file: str, compiled: str, source: os.stat_result) -> None:
        super().__init__(name, file)
        self._compiled, self._source = compiled, source

    def get_code(self, fullname: str) -> CodeType | None:
        return self._fresh_code() or super().get_code(fullname)

    def _fresh_code(self) -> CodeType | None:
        try:
            descriptor = os.open(self._compiled, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            data = os.read(descriptor, _MOST_CODE)
        except OSError:
            return None
        finally:
            os.close(descriptor)
        time, size = int(self._source.st_mtime), self._source.st_size
        if len(data) == _MOST_CODE or data[:16] != _FRESH_BY_TIME + _word(time) + _word(size):
            return None
        code: CodeType = loads(memoryview(data)[16:])  # noqa: S302 - as Python does with this file
        _fix_co_filename(code, self.path)  # of a tree that was moved; it does nothing otherwise
        return code


def _word(number: int) -> bytes:
    return (number & 0xFFFF_FFFF).to_bytes(4, "little")


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
        re.compile = pattern  # type: ignore[assignment] # has no overloads
        try:
            self._loader.exec_module(module)
        finally:
            re.compile = compile_now
