"""Which addresses a call may go to when a request can steer it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.domain.addresses import is_public, is_runtime_api


@pytest.mark.parametrize("address", ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111"])
def test_public_addresses_may_be_called(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.9.10",
        "::1",
        "0.0.0.0",
        "::",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "100.100.100.200",
        "169.254.169.254",
        "169.254.170.2",
        "169.254.100.1",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "2001:db8::1",
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "64:ff9b::127.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::a00:1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "",
        "localhost",
        "0x7f.1",
        "2130706433",
    ],
)
def test_internal_addresses_may_not_be_called(address: str) -> None:
    assert not is_public(address)


@given(st.ip_addresses(v=4, network="10.0.0.0/8") | st.ip_addresses(v=4, network="169.254.0.0/16"))
def test_an_internal_address_stays_internal_in_whatever_wrapping(address: object) -> None:
    number = int(address)  # type: ignore[call-overload]  # an IPv4Address is its number

    high, low = number >> 16, number & 0xFFFF
    wrappings = [
        f"::ffff:{address}",
        f"::{address}",
        f"64:ff9b::{address}",
        f"2002:{high:x}:{low:x}::1",
    ]

    assert not any(is_public(one) for one in wrappings)


@pytest.mark.parametrize(
    ("address", "port", "is_it"),
    [
        ("127.0.0.1", 9001, True),
        ("::1", 9001, True),
        ("127.9.9.9", 9001, True),
        ("::ffff:127.0.0.1", 9001, True),
        ("127.0.0.1", 9002, False),
        ("93.184.216.34", 9001, False),
        ("not an address", 9001, False),
    ],
)
def test_the_runtime_endpoint_is_recognised(address: str, port: int, *, is_it: bool) -> None:
    assert is_runtime_api(address, port, "127.0.0.1:9001") is is_it


def test_the_runtime_endpoint_may_be_a_link_local_address_or_a_name() -> None:
    assert is_runtime_api("169.254.100.1", 9001, "169.254.100.1:9001")
    assert is_runtime_api("runtime", 9001, "runtime:9001")


def test_outside_of_lambda_there_is_no_runtime_endpoint() -> None:
    assert not is_runtime_api("127.0.0.1", 9001, None)
