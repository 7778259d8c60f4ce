"""Call functions when descriptors can be read.

The event loop does that by itself, but adding and removing a descriptor costs it several times what it costs
the kernel, and every step has three of them for a moment: two pipes and the process. So where there is epoll,
the loop watches one epoll descriptor for a whole run, and that one watches the others.
"""

from __future__ import annotations

import asyncio
import select
import sys
from collections.abc import Callable


class Readiness:
    """Watches descriptors in the event loop that is running when it is made."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._calls: dict[int, Callable[[], object]] = {}
        self._closing = False
        self._epoll: select.epoll | None = None
        if sys.platform == "linux":
            self._epoll = select.epoll()
            self._loop.add_reader(self._epoll.fileno(), self._ready)

    def add(self, descriptor: int, call: Callable[[], object]) -> None:
        """Call the function whenever the descriptor can be read, or its other end is closed."""
        if self._epoll is None:
            self._loop.add_reader(descriptor, call)
        else:
            self._epoll.register(descriptor, select.EPOLLIN)
        self._calls[descriptor] = call

    def remove(self, descriptor: int) -> None:
        """Forget a descriptor, which must still be open."""
        del self._calls[descriptor]
        if self._epoll is None:
            self._loop.remove_reader(descriptor)
        else:
            self._epoll.unregister(descriptor)
        if self._closing:
            self.close()

    def close(self) -> None:
        """Give up what it holds itself, as soon as all descriptors are removed."""
        self._closing = True
        if self._epoll is not None and not self._calls:
            self._loop.remove_reader(self._epoll.fileno())
            self._epoll.close()
            self._epoll = None

    def _ready(self) -> None:
        if self._epoll is None:
            return
        for descriptor, _ in self._epoll.poll(0):
            call = self._calls.get(descriptor)
            if call is not None:  # otherwise an earlier call has removed it
                call()
