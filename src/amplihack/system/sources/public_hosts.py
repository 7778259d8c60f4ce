"""Look up hosts that must be on the public network: no private, local or special address is ever dialled."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from typing import TypeAlias

from amplihack.system.sources.errors import SourceRefused

LookUp: TypeAlias = Callable[[str, int], Sequence[str]]
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# What not every Python knows to be local or special: site-local addresses, NAT64 of one's own, and so on.
_SPECIAL = tuple(
    map(ipaddress.ip_network, ("fec0::/10", "64:ff9b:1::/48", "3fff::/20", "192.0.0.0/24", "192.88.99.0/24"))
)


def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a host. Raises socket.gaierror."""
    return [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def public_address(host: str, port: int, *, allowed: Sequence[str] = (), resolve: LookUp = look_up) -> str:
    """Return the address to dial. Raises SourceRefused if any address of the host is not public.

    The caller dials what was checked: asking the name service again could give another answer. `allowed`
    hosts, as `name` or `name:port`, may be anywhere.
    """
    addresses = resolve(host, port)
    if host in allowed or f"{host}:{port}" in allowed:
        return addresses[0]
    if bad := [each for each in addresses if not is_public(each)]:
        raise SourceRefused(
            f"{host} is not on the public network ({bad[0]})",
            uri=host,
            fix="private addresses are refused unless the settings allow the host",
        )
    if not addresses:
        raise SourceRefused(f"{host} has no address", uri=host, fix="check the address")
    return addresses[0]


def is_public(text: str) -> bool:
    """Tell whether an address is on the public network, also one that is wrapped into another."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is None and int(address) >> 32 == 0:  # ::a.b.c.d, the oldest wrapping
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(str(inner))
    if any(address.version == each.version and address in each for each in _SPECIAL):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved
