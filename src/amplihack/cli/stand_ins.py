"""Stand for modules that others load and hardly ever use, until somebody looks into one.

Whoever asks one of these for something gets what the real module has: nothing is missing or different. A few
answers that are asked for while others load, or at each start, are given without the module.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import FrameType, ModuleType
    from typing import Any
else:
    ModuleType = type(sys)

# What asyncio loads for encrypted streams, threads, processes, logs and debugging, shutil for archives,
# PyYAML for binary data, and others for translations, addresses and JSON.
SELDOM_USED = {
    "asyncio.sslproto", "asyncio.staggered", "asyncio.subprocess", "base64", "binascii", "bz2",
    "concurrent.futures", "datetime", "gettext", "inspect", "ipaddress", "json", "linecache", "logging",
    "lzma", "ssl", "subprocess", "traceback", "urllib.parse", "zlib",
}  # fmt: skip
_PACKAGES = {"concurrent.futures", "json", "logging"}


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

    def __setattr__(self, name: str, value: object) -> None:
        setattr(_real(self.__name__), name, value)
        self.__dict__[name] = value


def _real(name: str) -> Any:
    """Return the module itself instead of what stands for it."""
    from importlib import import_module

    SELDOM_USED.discard(name)
    if isinstance(sys.modules.get(name), LaterModule):
        sys.modules.pop(name, None)
    # The import system makes a second thread wait here until the first has loaded all of it.
    return import_module(name)


def load_what_was_put_off() -> None:
    """Load every module that something stands for; whoever holds what stands for one reaches it as before."""
    for name, module in list(sys.modules.items()):
        if isinstance(module, LaterModule):
            _put_in_place(name, _real(name))


def _put_in_place(name: str, module: Any) -> None:
    """Let the package around a module know the module itself, as the import system does."""
    package, _, own = name.rpartition(".")
    if package in sys.modules:
        setattr(sys.modules[package], own, module)


class LaterLoader:
    """Makes stand-ins."""

    def create_module(self, _spec: ModuleSpec) -> None:
        """Let the import system make a module and fill in what it says about itself."""

    def exec_module(self, module: ModuleType) -> None:
        ready = _READY.get(module.__name__, {})
        module.__dict__.update(ready() if callable(ready) else ready)
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


def _dates() -> dict[str, Any]:
    """Return the classes, which are in C. The module has them in Python as well, and throws those away."""
    from importlib import import_module

    real = import_module("_datetime")
    return {
        each: getattr(real, each) for each in ("date", "datetime", "time", "timedelta", "timezone", "tzinfo")
    }


class _LaterLogger:
    """Stands for the logger of asyncio."""

    def debug(self, *given: Any, **named: Any) -> None:
        """Log it, unless nobody has loaded `logging`: by default it drops what is no warning."""
        if "logging" not in SELDOM_USED:
            self.__getattr__("debug")(*given, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(_real("logging").getLogger("asyncio"), name)


def _logger(name: str | None = None) -> Any:
    return _LaterLogger() if name == "asyncio" else _real("logging").getLogger(name)


def _stack(f: FrameType | None = None, limit: int | None = None) -> Any:
    return _real("traceback").extract_stack(f or sys._getframe(1), limit)


async def _process(*given: Any, **named: Any) -> Any:
    return await _real("asyncio.subprocess").create_subprocess_exec(*given, **named)


async def _shell(*given: Any, **named: Any) -> Any:
    return await _real("asyncio.subprocess").create_subprocess_shell(*given, **named)


# What others take out of a module while they are loaded: `argparse`, whose pages are in English here,
# `pathlib`, which needs it to write a path as a URL, and asyncio. An event loop asks what a handler of
# signals is.
_READY: dict[str, Any] = {
    "asyncio.subprocess": {
        "__all__": ("create_subprocess_exec", "create_subprocess_shell"),
        "create_subprocess_exec": _process,
        "create_subprocess_shell": _shell,
    },
    "concurrent.futures": {each: each for each in ("FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED")},
    "datetime": _dates,
    "gettext": {"gettext": _as_it_is, "ngettext": _one_or_many},
    "inspect": {"iscoroutinefunction": _is_coroutine_function},
    "logging": {"DEBUG": 10, "getLogger": _logger},
    "subprocess": {"PIPE": -1, "STDOUT": -2, "DEVNULL": -3},
    "traceback": {"extract_stack": _stack},
    "urllib.parse": {"quote_from_bytes": _quote_from_bytes},
}
