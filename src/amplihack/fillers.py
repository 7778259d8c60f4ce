"""Give a class an `__init__` that fills its fields, without compiling one.

Such functions of one length differ in nothing but names. So there is one of each length here, compiled with
this file, and a class borrows the one of its length under the names of its own fields.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: E704
# fmt: off

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any


def _1(self, a): self.a = a
def _2(self, a, b): self.a, self.b = a, b
def _3(self, a, b, c): self.a, self.b, self.c = a, b, c
def _4(self, a, b, c, d): self.a, self.b, self.c, self.d = a, b, c, d
def _5(self, a, b, c, d, e): self.a, self.b, self.c, self.d, self.e = a, b, c, d, e
def _6(self, a, b, c, d, e, f): self.a, self.b, self.c, self.d, self.e, self.f = a, b, c, d, e, f
def _7(self, a, b, c, d, e, f, g):
    self.a, self.b, self.c, self.d, self.e, self.f, self.g = a, b, c, d, e, f, g
def _8(self, a, b, c, d, e, f, g, h):
    self.a, self.b, self.c, self.d, self.e, self.f, self.g, self.h = a, b, c, d, e, f, g, h
def _9(self, a, b, c, d, e, f, g, h, i):
    self.a, self.b, self.c, self.d, self.e, self.f, self.g, self.h, self.i = a, b, c, d, e, f, g, h, i
def _10(self, a, b, c, d, e, f, g, h, i, j):
    self.a, self.b, self.c, self.d, self.e, self.f, self.g, self.h, self.i, self.j = (
        a, b, c, d, e, f, g, h, i, j)
def _11(self, a, b, c, d, e, f, g, h, i, j, k):
    self.a, self.b, self.c, self.d, self.e, self.f, self.g, self.h, self.i, self.j, self.k = (
        a, b, c, d, e, f, g, h, i, j, k)
def _12(self, a, b, c, d, e, f, g, h, i, j, k, m):
    self.a, self.b, self.c, self.d, self.e, self.f, self.g, self.h, self.i, self.j, self.k, self.m = (
        a, b, c, d, e, f, g, h, i, j, k, m)


# fmt: on
_OF_LENGTH = (_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)


def filler(
    owner: str, names: tuple[str, ...], optional: Mapping[str, Any], *, kw_only: bool
) -> Callable[..., None] | None:
    """Return an `__init__` that fills these fields, those in `optional` with a default; None if too many."""
    if not 0 < len(names) <= len(_OF_LENGTH):
        return None
    by_place = 0 if kw_only else len(names)
    code = _OF_LENGTH[len(names) - 1].__code__.replace(
        co_name="__init__",
        co_qualname=f"{owner}.__init__",
        co_varnames=("self", *names),
        co_names=names,
        co_posonlyargcount=1,
        co_argcount=1 + by_place,
        co_kwonlyargcount=len(names) - by_place,
    )
    made = FunctionType(code, {}, None, tuple(optional.values()) if by_place else None)
    made.__kwdefaults__ = None if by_place else dict(optional)
    return made
