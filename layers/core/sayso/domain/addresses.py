"""Which network addresses a call may go to when a request can steer it (DESIGN §8).

Only public unicast addresses are allowed. An address that carries another one inside (IPv4-mapped
IPv6, NAT64, 6to4, Teredo) is judged by the inner one too. The endpoint of the Lambda runtime is
refused even where internal addresses are allowed: whoever reaches it can answer for the function.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

_NAT64: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_IPV4_COMPATIBLE: Final = IPv6Network("::/96")
_LOW_32_BITS: Final = 0xFFFF_FFFF

Address = IPv4Address | IPv6Address


def is_public(address: str) -> bool:
    """Tell whether a call may go to an address.

    Args:
        address: IPv4 or IPv6 in text form, as a resolver returns it; a zone makes it local.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return all(_is_public(one) for one in (parsed, *_inner(parsed)))


def is_runtime_api(address: str, port: int, runtime_api: str | None) -> bool:
    """Tell whether an address is the endpoint of the Lambda runtime.

    Args:
        address: IPv4 or IPv6 in text form.
        port: The port to be called.
        runtime_api: ``host:port`` from ``AWS_LAMBDA_RUNTIME_API``, None outside of Lambda.
    """
    if not runtime_api:
        return False
    host, _, own_port = runtime_api.rpartition(":")
    if own_port != str(port):
        return False
    try:
        called = ip_address(address)
        own = ip_address(host.strip("[]"))
    except ValueError:
        return address == host
    return own in (called, *_inner(called)) or (called.is_loopback and own.is_loopback)


def _is_public(address: Address) -> bool:
    """``is_global`` leaves out private, shared, loopback, link-local and reserved ranges."""
    if isinstance(address, IPv6Address) and (address.scope_id or address.is_site_local):
        return False
    return address.is_global and not (
        address.is_multicast or address.is_unspecified or address.is_reserved
    )


def _inner(address: Address) -> tuple[IPv4Address, ...]:
    """Return the IPv4 addresses that an IPv6 address stands for on the way."""
    if isinstance(address, IPv4Address):
        return ()
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in (*_NAT64, _IPV4_COMPATIBLE)):
        inner.append(IPv4Address(int(address) & _LOW_32_BITS))
    return tuple(one for one in inner if one is not None)
