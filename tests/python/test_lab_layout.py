"""The layout of a lab: nodes, switches, addresses, names and rates."""

from __future__ import annotations

import ipaddress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tutti.console import Refusal
from tutti_lab.layout import FRAME, OWN_NAMES, Layout, parse_rate, show_rate

GBIT = 10**9


@pytest.mark.parametrize(
    ("text", "bits", "shown"),
    [
        ("1gbit", GBIT, "1 Gbit/s"),
        ("2.5Gbit", 25 * GBIT // 10, "2.5 Gbit/s"),
        ("100mbit", GBIT // 10, "100 Mbit/s"),
        ("64kbit", 64000, "64 kbit/s"),
    ],
)
def test_rates(text, bits, shown):
    assert parse_rate(text, "--rate") == bits
    assert show_rate(bits) == shown


@pytest.mark.parametrize("text", ["", "1", "fast", "1gb", "-1gbit", "0mbit", "1kbit"])
def test_what_is_no_rate_is_refused(text):
    with pytest.raises(Refusal, match="--rate .*: expected a rate such as .*; at least 8kbit"):
        parse_rate(text, "--rate")


def test_more_nodes_than_a_byte_counts():
    layout = Layout(600, GBIT)
    layout.check()
    assert layout.address(1) == "10.77.0.1"
    assert layout.address(254) == "10.77.0.254"
    assert layout.address(256) == "10.77.1.0"
    assert layout.address(600) == "10.77.2.88"
    assert layout.host_address == "10.77.255.254"
    network = ipaddress.ip_network(layout.network)
    addresses = [layout.address(node) for node in range(1, 601)] + [layout.host_address]
    assert len(set(addresses)) == 601
    assert all(ipaddress.ip_address(address) in network for address in addresses)


def test_a_network_is_filled_to_its_last_address():
    # 256 addresses; the first and the last are the network's, one is the machine's.
    layout = Layout(253, GBIT, network="10.1.2.0/24")
    layout.check()
    assert (layout.address(253), layout.host_address) == ("10.1.2.253", "10.1.2.254")
    with pytest.raises(Refusal, match="has addresses for 253 nodes"):
        replace(layout, nodes=254).check()


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (Layout(0, GBIT), "expected at least 1"),
        (Layout(4, GBIT, switches=5), "expected 1 to 4"),
        (Layout(4, GBIT, switches=0), "expected 1 to 4"),
        (Layout(1001, GBIT), "1001 nodes at a switch: expected fewer than its 1000 ports"),
        (Layout(1200, GBIT, switches=1100), "1100 switches at the core switch: expected fewer than its 1000 ports"),
        (Layout(4, GBIT, network="10.77.0.1/16"), "host bits set"),
    ],
)
def test_what_makes_no_lab_is_refused(layout, text):
    with pytest.raises(Refusal, match=text):
        layout.check()


@given(st.integers(1, 300), st.data())
def test_switches_share_the_nodes_evenly(nodes, data):
    switches = data.draw(st.integers(2, max(2, nodes)))
    if switches > nodes:
        return
    layout = Layout(nodes, GBIT, switches)
    at = [layout.switch_of(node) for node in range(1, nodes + 1)]
    counts = [at.count(switch) for switch in range(1, switches + 1)]
    assert at == sorted(at) and sum(counts) == nodes
    assert max(counts) - min(counts) <= 1


def test_all_names_are_own_and_short_enough_for_the_kernel():
    layout = Layout(999, GBIT, 99)
    made = {
        word
        for _, steps in layout.steps()
        for command in steps
        for word in command
        if word.startswith("tutti")
    }
    # The core; switches with both ends of their uplinks; nodes with their ports.
    assert len(made) == 1 + 3 * 99 + 2 * 999
    assert all(OWN_NAMES.fullmatch(name) and len(name) <= 15 for name in made)


@pytest.mark.parametrize("name", ["eth0", "tuttilab", "tuttilab-", "tuttilab-x1", "tuttilab-n1a",
                                  "my-tuttilab-n1", "tuttilab-home"])  # fmt: skip
def test_other_peoples_names_are_not_own(name):
    assert not OWN_NAMES.fullmatch(name)


def test_links_are_shaped_at_both_ends():
    commands = Layout(2, GBIT // 10, 2, GBIT // 20).steps()
    text = [" ".join(command) for _, step in commands for command in step]
    shaped = [line for line in text if " htb rate " in line]
    for end in ("tc -n tuttilab-n2 class add dev eth0", "tc class add dev tuttilab-p2"):
        assert any(line.startswith(end) and "rate 100000000bit" in line for line in shaped)
    for end in ("u1", "d1", "u2", "d2"):
        assert any(f"dev tuttilab-{end} " in line and "50000000bit" in line for line in shaped)


def test_the_wire_time_of_a_scatter_is_that_of_the_slowest_link():
    size = 8 << 20
    # 7 of 8 nodes' blocks leave the root's node, with 4.6 % of headers.
    one = Layout(8, GBIT)
    assert one.scatter_time([4] * 8, size) == pytest.approx(size * 8 * FRAME * 7 / 8 / 1e9)
    assert one.scatter_time([1], size) == 0
    # Half of the blocks cross two switches; an uplink of a quarter is slower than the link.
    two = Layout(8, GBIT, 2, GBIT // 4)
    assert two.scatter_time([1] * 8, size) == pytest.approx(size * 8 * FRAME * 4 / 8 / (1e9 / 4))
    # Uneven: 6 of 8 ranks on the second node.
    assert one.scatter_time([2, 6], size) == pytest.approx(size * 8 * FRAME * 6 / 8 / 1e9)
